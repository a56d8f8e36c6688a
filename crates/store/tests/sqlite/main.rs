//! What only this backend promises: crashes, disks, damage.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

#[path = "../conformance/common.rs"]
#[expect(dead_code, reason = "the conformance tests use the rest")]
mod common;
mod crash;
mod disk;
