//! The command line as its users meet it: the real binary in folders of its own.

#![expect(
    clippy::unwrap_used,
    reason = "a test stops at what it did not foresee"
)]

mod bench;
mod house;
mod kill;
mod past;
mod redirect;
mod review;
mod run;
mod trying;
