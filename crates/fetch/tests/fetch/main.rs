//! The fetcher against listeners that play right and wrong bytes, and against the test web.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "functions that tests share are not seen as tests by the lint"
)]

mod answers;
mod connect;
mod crowd;
mod limits;
mod listen;
mod lookup;
mod request;
mod support;
mod timing;
mod tls;
