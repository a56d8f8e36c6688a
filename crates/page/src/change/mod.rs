//! What changed between two readings of one page.
