//! A web on loopback with many virtual hosts, faults and its own access log.
//!
//! Tests, benches and the demo point a crawler at it (through a hosts file) and then ask the log,
//! not the crawler, what happened. It depends on none of the other crates and not on an HTTP
//! library: it writes bytes to sockets, so that it can write wrong ones.
//!
//! - [`site`]: hosts, pages and their versions over site time
//! - [`answer`]: one answer, its coding, validators and framing
//! - [`fault`]: what goes wrong on the way; [`content`] and [`cases`]: pages that are odd in themselves
//! - [`serve`]: the listener; [`log`]: what it saw; [`check`]: what that says about a crawler
//! - [`bulk`]: many hosts made from their names; [`demo`]: a small town of sites that change
//!
//! ```
//! use reigi_testweb::{Answer, Options, Site, TestWeb};
//!
//! # async fn example() -> std::io::Result<()> {
//! let site = Site::new("a.test").page("/", Answer::html("<p>hello</p>"));
//! let web = TestWeb::start(vec![site], Options::default()).await?;
//! let hosts_file = web.hosts_file(); // "a.test 127.0.0.1:40123\n"
//! // … run a crawler with that hosts file …
//! let seen = web.log().requests();
//! web.shutdown().await
//! # }
//! ```

pub mod answer;
pub mod bulk;
pub mod cases;
pub mod check;
pub mod content;
pub mod demo;
pub mod fault;
pub mod log;
pub mod message;
mod play;
pub mod request;
mod routes;
pub mod serve;
pub mod site;

pub use answer::{Answer, Encoding, Validator};
pub use bulk::Bulk;
pub use fault::Fault;
pub use message::Framing;
pub use serve::{Options, Running, TestWeb};
pub use site::{Ask, Door, Page, Site, Source, day};
