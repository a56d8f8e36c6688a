//! One judgement, one request: a permit has no copy.
use reigi_core::gate::Permit;

fn copy(permit: &Permit) -> Permit {
    permit.clone()
}

fn main() {}
