//! Permits and their ends: every permit ends exactly once, in its own lane.

use std::collections::HashMap;

use super::versions::Versions;
use crate::event::{Admitted, Event, LaneId, Seq};
use crate::journal::Header;
use crate::promise::{NAMED_MAX, Note};

/// Permits whose end has not come yet.
#[derive(Default)]
pub(super) struct Permits {
    open: HashMap<Seq, (Header, Admitted)>,
    last: HashMap<LaneId, Seq>,
    loose: Vec<Note>,
}

impl Permits {
    /// The permit that this entry ends.
    pub(super) fn ended_by(
        &mut self,
        header: &Header,
        event: &Event,
        versions: &Versions<'_>,
    ) -> Option<(&Header, &Admitted)> {
        let permit = end_of(event)?;
        let known = self.open.get(&permit);
        let fault = match known {
            Some((admitted, _)) if admitted.lane != header.lane => {
                Some("ends a permit of another lane")
            }
            None if !versions.is_erased(permit) => {
                Some("ends a permit that was never given, or has ended before")
            }
            _ => None,
        };
        if let Some(what) = fault
            && self.loose.len() < NAMED_MAX
        {
            self.loose.push(Note {
                seq: header.seq,
                what: what.to_owned(),
            });
        }
        known.map(|(header, admitted)| (header, admitted))
    }

    /// Keeps a permit, or lets the one go that this entry ends.
    pub(super) fn pass(&mut self, header: &Header, event: Event) {
        if let Some(permit) = end_of(&event) {
            self.open.remove(&permit);
        }
        if let Event::Admitted(admitted) = event {
            self.last.insert(header.lane, header.seq);
            self.open.insert(header.seq, (header.clone(), admitted));
        }
    }

    /// An entry without its payload: by its kind it may have ended the lane's open permit.
    pub(super) fn pass_unread(&mut self, header: &Header) {
        let is_end = matches!(header.kind.as_str(), "answered" | "not-sent" | "lost");
        if is_end && let Some(permit) = self.last.get(&header.lane) {
            self.open.remove(permit);
        }
    }

    /// What was found. The last permit of a lane may be open still: its request is under way.
    pub(super) fn finish(mut self) -> Vec<Note> {
        let mut open: Vec<Seq> = self
            .open
            .iter()
            .filter(|(seq, (header, _))| self.last.get(&header.lane) != Some(*seq))
            .map(|(seq, _)| *seq)
            .collect();
        open.sort_unstable();
        self.loose
            .extend(open.into_iter().take(NAMED_MAX).map(|seq| Note {
                seq,
                what: "a permit without an end, though its lane went on".to_owned(),
            }));
        self.loose
    }
}

fn end_of(event: &Event) -> Option<Seq> {
    match event {
        Event::Answered(answered) => Some(answered.admitted),
        Event::NotSent(not_sent) => Some(not_sent.admitted),
        Event::Lost(lost) => Some(lost.admitted),
        _ => None,
    }
}
