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

#[cfg(test)]
mod tests {
    use async_compression::tokio::bufread::{
        BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder,
    };
    use async_compression::{Level, zstd::CParameter};
    use proptest::prelude::*;

    use super::*;

    const LIMIT: u64 = 1 << 20;

    async fn all(mut encoder: impl AsyncRead + Unpin) -> Vec<u8> {
        let mut out = Vec::new();
        encoder.read_to_end(&mut out).await.unwrap();
        out
    }

    /// `plain` under a coding as named in Content-Encoding; `raw` is deflate without zlib.
    async fn encoded(coding: &str, plain: &[u8]) -> Vec<u8> {
        match coding {
            "gzip" | "x-gzip" => all(GzipEncoder::new(plain)).await,
            "br" => all(BrotliEncoder::new(plain)).await,
            "zstd" => all(ZstdEncoder::new(plain)).await,
            "deflate" => all(ZlibEncoder::new(plain)).await,
            "raw" => all(DeflateEncoder::new(plain)).await,
            _ => panic!("{coding}"),
        }
    }

    const CODINGS: [&str; 6] = ["gzip", "x-gzip", "br", "zstd", "deflate", "raw"];

    async fn removed(coding: &str, bytes: Vec<u8>, limit: u64) -> Result<Decoded, Broken> {
        let coding = if coding == "raw" { "deflate" } else { coding };
        decode(bytes, &[coding.to_owned()], limit).await
    }

    fn text() -> Vec<u8> {
        (0..3000)
            .flat_map(|n| format!("{n} 円\n").into_bytes())
            .collect()
    }

    #[tokio::test]
    async fn each_coding_comes_off() {
        for coding in CODINGS {
            let decoded = removed(coding, encoded(coding, &text()).await, LIMIT)
                .await
                .unwrap();
            assert_eq!(decoded.bytes, text(), "{coding}");
            assert!(decoded.faults.is_empty(), "{coding}: {:?}", decoded.faults);
        }
    }

    #[tokio::test]
    async fn the_last_coding_comes_off_first() {
        let twice = encoded("br", &encoded("gzip", &text()).await).await;
        let named = codings([&b"gzip, Identity"[..], b"BR"].into_iter());
        let decoded = decode(twice, &named, LIMIT).await.unwrap();
        assert_eq!(decoded.bytes, text());
        let four = vec!["gzip".to_owned(); 4];
        let broken = decode(text(), &four, LIMIT).await.unwrap_err();
        assert_eq!(
            broken,
            Broken::Coding("too many content codings".to_owned())
        );
    }

    /// scrapy/scrapy#7841: what follows the first stream is ignored and named.
    #[tokio::test]
    async fn bytes_after_the_first_stream_are_ignored() {
        for coding in CODINGS {
            let one = encoded(coding, &vec![b'a'; 100_000]).await;
            for after in [b"garbage".to_vec(), one.clone(), vec![0; 512]] {
                let bytes = [one.clone(), after].concat();
                let decoded = removed(coding, bytes, LIMIT).await.unwrap();
                assert_eq!(decoded.bytes, vec![b'a'; 100_000], "{coding}");
                let phrase = decoded.faults.join(", ");
                assert!(
                    phrase.starts_with("trailing bytes after "),
                    "{coding}: {phrase:?}"
                );
            }
        }
    }

    /// Half a page must not pass for a whole one.
    #[tokio::test]
    async fn a_stream_that_was_cut_is_broken() {
        for coding in CODINGS {
            let whole = encoded(coding, &text()).await;
            for length in 1..whole.len() {
                let cut = removed(coding, whole[..length].to_vec(), LIMIT).await;
                assert!(
                    matches!(cut, Err(Broken::Coding(_))),
                    "{coding} cut to {length} of {}: {cut:?}",
                    whole.len()
                );
            }
        }
    }

    #[tokio::test]
    async fn no_more_than_the_limit_comes_out() {
        for coding in CODINGS {
            let bytes = encoded(coding, &[7; 5000]).await;
            let exact = removed(coding, bytes.clone(), 5000).await;
            assert_eq!(exact.unwrap().bytes.len(), 5000, "{coding}");
            let over = removed(coding, bytes, 4999).await;
            assert_eq!(over.unwrap_err(), Broken::TooLarge, "{coding}");
        }
        let bomb = encoded("gzip", &encoded("gzip", &vec![0; 64 << 20]).await).await;
        let twice = ["gzip".to_owned(), "gzip".to_owned()];
        assert_eq!(
            decode(bomb, &twice, LIMIT).await.unwrap_err(),
            Broken::TooLarge
        );
    }

    #[tokio::test]
    async fn a_zstd_window_may_be_8_mib_and_no_larger() {
        for (log, fits) in [(23, true), (24, false)] {
            let window = [CParameter::window_log(log)];
            let text = text();
            let encoder = ZstdEncoder::with_quality_and_params(&text[..], Level::Default, &window);
            let decoded = removed("zstd", all(encoder).await, LIMIT).await;
            assert_eq!(decoded.is_ok(), fits, "2^{log}: {decoded:?}");
        }
    }

    proptest! {
        /// Whatever the bytes: an end, and never more than the limit.
        #[test]
        fn any_bytes_end(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            at in any::<prop::sample::Index>(),
            flip in 1_u8..,
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                for coding in CODINGS {
                    let mut near = encoded(coding, &text()[..1000]).await;
                    let at = at.index(near.len());
                    near[at] ^= flip;
                    for bytes in [bytes.clone(), near] {
                        if let Ok(decoded) = removed(coding, bytes, 100_000).await {
                            assert!(decoded.bytes.len() <= 100_000);
                        }
                    }
                }
            });
        }
    }
}
