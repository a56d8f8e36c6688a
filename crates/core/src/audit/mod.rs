//! The audit: proves each promise from journal and evidence alone.

pub mod versions;
