//! Removing content codings, bounded: gzip, br, zstd, deflate (zlib or raw).

use async_compression::tokio::bufread::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use async_compression::zstd::DParameter;
use tokio::io::{AsyncRead, AsyncReadExt};

/// A decoded body.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) bytes: Vec<u8>,
    pub(crate) faults: Vec<String>,
}

/// Why a body cannot be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// It would be larger than allowed.
    TooLarge,
    /// The coding is unknown or its stream is broken.
    Coding(String),
}

/// Content codings one answer may nest.
const CODINGS_MAX: usize = 3;
/// Largest zstd window, as a power of two: 8 MiB, what RFC 9659 allows on the web.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// Bytes that are decoded before other tasks get their turn: about half a millisecond.
const TURN: u64 = 256 * 1024;

/// The codings of a Content-Encoding field, in the order in which they were applied.
pub(crate) fn codings<'a>(fields: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    fields
        .flat_map(|value| value.split(|b| *b == b','))
        .map(|coding| String::from_utf8_lossy(coding.trim_ascii()).to_ascii_lowercase())
        .filter(|coding| !coding.is_empty() && coding != "identity")
        .collect()
}

/// Removes `codings`, last applied first; no step may give more than `limit` bytes.
pub(crate) async fn decode(
    raw: Vec<u8>,
    codings: &[String],
    limit: u64,
) -> Result<Decoded, Broken> {
    let mut decoded = Decoded {
        bytes: raw,
        faults: Vec::new(),
    };
    if codings.len() > CODINGS_MAX {
        return Err(Broken::Coding("too many content codings".to_owned()));
    }
    for coding in codings.iter().rev() {
        if decoded.bytes.is_empty() {
            // Some servers label an empty body, too.
            continue;
        }
        let (bytes, rest) = remove(&decoded.bytes, coding, limit).await?;
        if rest > 0 {
            decoded
                .faults
                .push(format!("trailing bytes after {coding}"));
        }
        decoded.bytes = bytes;
    }
    Ok(decoded)
}

/// Decodes one stream; what follows its end is ignored and counted (G05).
async fn remove(bytes: &[u8], coding: &str, limit: u64) -> Result<(Vec<u8>, usize), Broken> {
    let broken = |_| Broken::Coding(format!("broken {coding}"));
    match coding {
        "gzip" | "x-gzip" => {
            let mut decoder = GzipDecoder::new(bytes);
            let out = bounded(&mut decoder, limit).await?.map_err(broken)?;
            Ok((out, decoder.into_inner().len()))
        }
        "br" => {
            let mut decoder = BrotliDecoder::new(bytes);
            let out = bounded(&mut decoder, limit).await?.map_err(broken)?;
            Ok((out, decoder.into_inner().len()))
        }
        "zstd" => {
            let window = [DParameter::window_log_max(ZSTD_WINDOW_LOG_MAX)];
            let mut decoder = ZstdDecoder::with_params(bytes, &window);
            let out = bounded(&mut decoder, limit).await?.map_err(broken)?;
            Ok((out, decoder.into_inner().len()))
        }
        "deflate" => {
            // RFC 9110 section 8.4.1.2 means zlib; some servers send the bare stream.
            let mut zlib = ZlibDecoder::new(bytes);
            if let Ok(out) = bounded(&mut zlib, limit).await? {
                return Ok((out, zlib.into_inner().len()));
            }
            let mut plain = DeflateDecoder::new(bytes);
            let out = bounded(&mut plain, limit).await?.map_err(broken)?;
            Ok((out, plain.into_inner().len()))
        }
        other => Err(Broken::Coding(format!("unknown content coding {other:?}"))),
    }
}

/// All that the decoder gives, if that is no more than `limit` bytes.
async fn bounded(
    decoder: &mut (impl AsyncRead + Unpin),
    limit: u64,
) -> Result<std::io::Result<Vec<u8>>, Broken> {
    let mut out = Vec::new();
    loop {
        let had = out.len();
        if let Err(error) = (&mut *decoder).take(TURN).read_to_end(&mut out).await {
            return Ok(Err(error));
        }
        if u64::try_from(out.len()).unwrap_or(u64::MAX) > limit {
            return Err(Broken::TooLarge);
        }
        if out.len() == had {
            return Ok(Ok(out));
        }
        tokio::task::yield_now().await;
    }
}
