//! A small town of sites that change.
use crate::site::Site;
/// The sites.
#[must_use]
pub fn sites() -> Vec<Site> {
    Vec::new()
}
