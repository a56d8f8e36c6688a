//! Group commit: appends of many tasks share one durable commit.
//!
//! While one commit is on its way to the disk, the next appends gather; they then go together.
//! Each is numbered, guarded, folded and answered as if it were alone, in the order of arrival.

use reigi_core::digest::Digest;
use reigi_core::event::Seq;
use reigi_core::journal::{Draft, Header, SegmentId};
use reigi_core::state::RowChange;
use reigi_core::time::Timestamp;
use tokio::sync::{mpsc, oneshot};

use crate::{Append, Error, NewBody, Store};

/// Appends that one commit takes, at most; as many may wait before their tasks have to.
const GROUP_MAX: usize = 4_096;

/// What one task wants appended together.
#[derive(Clone, Debug, Default)]
pub struct Submission {
    /// Entries, in order.
    pub drafts: Vec<Draft>,
    /// Bodies that the entries name.
    pub bodies: Vec<OwnedBody>,
    /// The `rules_epoch` that must be in force, if the entries are decisions.
    pub guard: Option<u64>,
    /// The `rules_epoch` that the entries bring; it is never lowered.
    pub raise_epoch: Option<u64>,
}

/// A body on its way to the store: a [`NewBody`] that owns its bytes.
#[derive(Clone, Debug)]
pub struct OwnedBody {
    /// SHA-256 of `bytes`.
    pub digest: Digest,
    /// The body.
    pub bytes: Vec<u8>,
    /// Whose version it is.
    pub owner: String,
    /// Wall time.
    pub at: Timestamp,
}

type Fold = Box<dyn FnOnce(&[Header]) -> Vec<RowChange> + Send>;

struct Job {
    submission: Submission,
    fold: Fold,
    answer: oneshot::Sender<Result<Vec<Header>, Error>>,
}

impl Job {
    fn answer(self, result: Result<Vec<Header>, Error>) {
        // Nobody waits any more where the task was cancelled; its entries stand all the same.
        let _ = self.answer.send(result);
    }
}

/// The way into one segment for many tasks. Clones share it; it ends with the last of them.
#[derive(Clone, Debug)]
pub struct Committer {
    queue: mpsc::Sender<Job>,
}

impl Committer {
    /// Starts the task that commits to `segment`. Call it within a Tokio runtime.
    #[must_use]
    pub fn start(store: Store, segment: SegmentId) -> Self {
        let (queue, mut waiting) = mpsc::channel(GROUP_MAX);
        tokio::spawn(async move {
            let mut group = Vec::new();
            while waiting.recv_many(&mut group, GROUP_MAX).await > 0 {
                commit(&store, segment, std::mem::take(&mut group)).await;
            }
        });
        Self { queue }
    }

    /// Appends like [`Store::append_with`]; durable when this returns. Once it waits for its
    /// commit it is appended even if this future is dropped.
    ///
    /// # Errors
    /// As [`Store::append_with`]. [`Error::Stale`] and what the store refuses are this append's
    /// alone; any other error is that of the whole group.
    pub async fn append<F>(&self, submission: Submission, fold: F) -> Result<Vec<Header>, Error>
    where
        F: FnOnce(&[Header]) -> Vec<RowChange> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job = Job {
            submission,
            fold: Box::new(fold),
            answer,
        };
        // Without its task, which only a panicking fold can end, nothing is appended.
        if self.queue.send(job).await.is_err() {
            return Err(Error::Poisoned);
        }
        answered.await.unwrap_or(Err(Error::Poisoned))
    }
}

/// Commits a group, answers each. If the store refuses one of them, each goes alone, so that only
/// that one hears of it.
async fn commit(store: &Store, segment: SegmentId, group: Vec<Job>) {
    match commit_together(store, segment, group).await {
        Ok(()) => {}
        Err((group, error)) if error.is_refusal() && group.len() > 1 => {
            for job in group {
                if let Err((alone, error)) = commit_together(store, segment, vec![job]).await {
                    refuse(alone, &error);
                }
            }
        }
        Err((group, error)) => refuse(group, &error),
    }
}

fn refuse(group: Vec<Job>, error: &Error) {
    for job in group {
        job.answer(Err(error.clone()));
    }
}

/// Commits a group in one transaction and answers it; or gives it back, unfolded, with the error
/// that kept it from being written.
async fn commit_together(
    store: &Store,
    segment: SegmentId,
    group: Vec<Job>,
) -> Result<(), (Vec<Job>, Error)> {
    let mut tx = match store.begin().await {
        Ok(tx) => tx,
        Err(error) => return Err((group, error)),
    };
    let epoch = match store.read_epoch(&mut tx).await {
        Ok(epoch) => epoch,
        Err(error) => return Err((group, error)),
    };
    let stale = stale(&group, epoch);
    let bodies: Vec<Vec<NewBody<'_>>> = group.iter().map(bodies).collect();
    let appends: Vec<Append<'_>> = group
        .iter()
        .zip(&bodies)
        .zip(&stale)
        .filter(|(_, stale)| stale.is_none())
        .map(|((job, bodies), _)| Append {
            segment,
            drafts: &job.submission.drafts,
            bodies,
            guard: None,
            raise_epoch: job.submission.raise_epoch,
        })
        .collect();
    let headers = match store.write(&mut tx, segment, &appends).await {
        Ok(headers) => headers,
        Err(error) => return Err((group, error)),
    };

    let last = headers.last().map_or(Seq(0), |header| header.seq);
    let mut headers = headers.into_iter();
    let (mut changes, mut answers) = (Vec::new(), Vec::with_capacity(group.len()));
    for (job, stale) in group.into_iter().zip(stale) {
        let Job {
            submission,
            fold,
            answer,
        } = job;
        let result = match stale {
            Some(now) => Err(Error::Stale { now }),
            None => {
                let own: Vec<Header> = headers.by_ref().take(submission.drafts.len()).collect();
                changes.extend(fold(&own));
                Ok(own)
            }
        };
        answers.push((answer, result));
    }
    let done = store.finish(tx, &changes, last).await;
    for (answer, result) in answers {
        let _ = answer.send(done.clone().and(result));
    }
    Ok(())
}

/// For each job the epoch that makes it stale, if one does: that of the database, as raised by
/// the jobs before it.
fn stale(group: &[Job], mut epoch: u64) -> Vec<Option<u64>> {
    group
        .iter()
        .map(|Job { submission, .. }| {
            if submission.guard.is_some_and(|guard| guard != epoch) {
                return Some(epoch);
            }
            epoch = epoch.max(submission.raise_epoch.unwrap_or(0));
            None
        })
        .collect()
}

fn bodies(job: &Job) -> Vec<NewBody<'_>> {
    let bodies = job.submission.bodies.iter();
    bodies
        .map(|body| NewBody {
            digest: body.digest,
            bytes: &body.bytes,
            owner: &body.owner,
            at: body.at,
        })
        .collect()
}
