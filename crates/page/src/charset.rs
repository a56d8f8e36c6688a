//! Which charset the bytes are in, and how we know.

use encoding_rs::{Encoding, UTF_8};
use serde::Serialize;

/// The charset that a page was decoded with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Charset {
    /// Lower-case name by the WHATWG Encoding Standard, such as `utf-8` or `shift_jis`
    /// (which means windows-31j there).
    pub name: String,
    pub from: CharsetFrom,
    /// Byte sequences impossible in the charset were met, and became U+FFFD.
    pub malformed: bool,
}

/// What decided the charset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CharsetFrom {
    /// A byte order mark.
    Bom,
    /// The `charset` parameter of Content-Type.
    Http,
    /// A `<meta>` within the first 1024 bytes.
    Meta,
    /// The XML declaration.
    Xml,
    /// Nothing was declared, and the bytes are valid UTF-8.
    Utf8,
    /// Nothing was declared: statistics of the bytes.
    Detected,
    /// What was declared cannot be: the bytes themselves say another charset.
    Bytes,
}

pub(crate) fn decode(body: &[u8], _content_type: Option<&str>) -> (String, Charset) {
    let (encoding, from) =
        Encoding::for_bom(body).map_or((UTF_8, CharsetFrom::Utf8), |(e, _)| (e, CharsetFrom::Bom));
    let (text, _, malformed) = encoding.decode(body);
    let name = encoding.name().to_ascii_lowercase();
    (
        text.into_owned(),
        Charset {
            name,
            from,
            malformed,
        },
    )
}
