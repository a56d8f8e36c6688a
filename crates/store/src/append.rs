//! The one way into the journal: entries, rows and bodies in one durable transaction.

use reigi_core::digest::Digest;
use reigi_core::event::{Event, LaneId, SegmentOpened, Seq};
use reigi_core::journal::{Draft, Head, Header, SegmentId};
use reigi_core::state::{Row, RowChange};
use reigi_core::time::Timestamp;

use crate::columns::big;
use crate::{Error, Store, sql};

/// What is to be appended together.
#[derive(Clone, Copy, Debug)]
pub struct Append<'a> {
    /// Segment of this writer.
    pub segment: SegmentId,
    /// Entries, in order.
    pub drafts: &'a [Draft],
    /// Bodies that the entries name.
    pub bodies: &'a [NewBody<'a>],
    /// The `rules_epoch` that must be in force, if the entries are decisions.
    pub guard: Option<u64>,
    /// The `rules_epoch` that the entries bring; it is never lowered.
    pub raise_epoch: Option<u64>,
}

/// A body to store.
#[derive(Clone, Copy, Debug)]
pub struct NewBody<'a> {
    /// SHA-256 of `bytes`.
    pub digest: Digest,
    /// The body.
    pub bytes: &'a [u8],
    /// Whose version it is: versions of one owner are stored as differences.
    pub owner: &'a str,
    /// Wall time.
    pub at: Timestamp,
}

impl Store {
    /// Opens a segment: its first entry is what `opened` makes of the heads of all others.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn begin_segment(
        &self,
        opened: impl FnOnce(Vec<Head>) -> SegmentOpened,
        at: Timestamp,
    ) -> Result<SegmentId, Error> {
        let mut tx = self.begin().await?;
        let heads = self.read_heads(&mut tx).await?;
        let segment = heads.last().map_or(0, |head| head.segment) + 1;
        let draft = Draft {
            event: Event::SegmentOpened(opened(heads)),
            at,
            bot: 0,
            lane: LaneId::HOUSE,
            lane_seq: 0,
        };
        self.put_entries(&mut tx, segment, [&draft]).await?;
        self.sweep(&mut tx).await?;
        tx.commit().await.map_err(|e| self.sql(e))?;
        Ok(segment)
    }

    /// Appends entries with their bodies, and the row changes that `fold` makes of their headers:
    /// all durable when this returns, or nothing.
    ///
    /// `fold` runs inside the transaction, after everything that can be refused was written. If
    /// anything fails from there on, its caller's memory is ahead of the disk: the handle is
    /// poisoned.
    ///
    /// # Errors
    /// [`Error::Stale`] before anything is written if `guard` is not the epoch in force;
    /// [`Error::LaneTaken`] and [`Error::Misnamed`] leave nothing behind either, and the handle
    /// goes on; [`Error::Poisoned`] after an earlier failure; otherwise what the database says.
    pub async fn append_with<F>(&self, append: Append<'_>, fold: F) -> Result<Vec<Header>, Error>
    where
        F: FnOnce(&[Header]) -> Vec<RowChange>,
    {
        let mut tx = self.begin().await?;
        let now = self.read_epoch(&mut tx).await?;
        if append.guard.is_some_and(|guard| guard != now) {
            return Err(Error::Stale { now });
        }
        let headers = self.write(&mut tx, append.segment, &[append]).await?;
        let changes = fold(&headers);
        let last = headers.last().map_or(Seq(0), |header| header.seq);
        self.finish(tx, &changes, last).await?;
        Ok(headers)
    }

    /// Appends one entry that is decided on the rows of the house and of `lane` as they are inside
    /// the transaction: whatever another process appends meanwhile, it is decided on the truth.
    ///
    /// `decide` gives the entry and the fold that makes row changes of its header. What it refuses
    /// leaves nothing behind.
    ///
    /// # Errors
    /// What `decide` says, or as [`Store::append_with`].
    pub async fn append_decided<D, F, E>(
        &self,
        segment: SegmentId,
        lane: LaneId,
        decide: D,
    ) -> Result<Header, E>
    where
        D: FnOnce(Vec<Row>) -> Result<(Draft, F), E>,
        F: FnOnce(&Header) -> Vec<RowChange>,
        E: From<Error>,
    {
        let mut tx = self.begin().await?;
        let (draft, fold) = decide(self.rows_within(&mut tx, lane).await?)?;
        let append = Append {
            segment,
            drafts: std::slice::from_ref(&draft),
            bodies: &[],
            guard: None,
            raise_epoch: draft.event.epoch_raised(),
        };
        let mut headers = self.write(&mut tx, segment, &[append]).await?;
        let header = headers.pop().ok_or(Error::Poisoned)?;
        self.finish(tx, &fold(&header), header.seq).await?;
        Ok(header)
    }

    /// Deletes the payload of an entry, with its salt; the header stays in the chain.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn erase_payload(&self, seq: Seq) -> Result<(), Error> {
        sqlx::query(sql::ERASE)
            .bind(big(seq.0))
            .execute(&self.inner.writer)
            .await
            .map_err(|e| self.sql(e))?;
        self.checkpoint().await
    }
}
