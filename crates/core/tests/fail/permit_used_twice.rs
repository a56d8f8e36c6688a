//! One judgement, one request: sending takes the permit away.
use reigi_core::gate::Permit;

fn send(_permit: Permit) {}

fn send_twice(permit: Permit) {
    send(permit);
    send(permit);
}

fn main() {}
