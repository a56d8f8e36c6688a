//! A change is no approval: whoever publishes must ask whether it was confirmed.
use reigi_core::promise::review::Approved;
use reigi_core::state::Change;

fn publish(_approved: Approved) {}

fn publish_unasked(change: &Change) {
    publish(Approved::of(change));
}

fn main() {}
