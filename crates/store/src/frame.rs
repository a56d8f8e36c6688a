//! Frames: zstd, alone or as the difference to an earlier version of the same page.

use std::io::{Read as _, Write as _};

/// zstd's default: more costs time and saves little on pages.
const LEVEL: i32 = 3;
/// zstd's own bounds of a window, as powers of two: 1 KiB and 128 MiB.
const WINDOW_LOGS: (u32, u32) = (10, 27);

/// Compresses `body`, against `base` where there is one. The base is a raw prefix: its bytes,
/// which the web chose, are never read as a dictionary's tables.
pub(crate) fn encode(body: &[u8], base: Option<&[u8]>) -> std::io::Result<Vec<u8>> {
    let prefix = base.unwrap_or_default();
    let mut encoder = zstd::Encoder::with_ref_prefix(Vec::new(), LEVEL, prefix)?;
    if base.is_some() {
        encoder.window_log(window_log(body, prefix))?;
        encoder.long_distance_matching(true)?;
    }
    encoder.set_pledged_src_size(u64::try_from(body.len()).ok())?;
    encoder.write_all(body)?;
    encoder.finish()
}

/// Undoes [`encode`] with the same base; never gives more than `len` + 1 bytes.
pub(crate) fn decode(frame: &[u8], base: Option<&[u8]>, len: u64) -> std::io::Result<Vec<u8>> {
    let prefix = base.unwrap_or_default();
    let mut decoder = zstd::Decoder::with_ref_prefix(frame, prefix)?;
    decoder.window_log_max(WINDOW_LOGS.1)?;
    let mut body = Vec::new();
    decoder.take(len.saturating_add(1)).read_to_end(&mut body)?;
    Ok(body)
}

/// A window that reaches from the end of the body to the start of the base.
fn window_log(body: &[u8], base: &[u8]) -> u32 {
    let reach = body.len().saturating_add(base.len());
    reach
        .next_power_of_two()
        .trailing_zeros()
        .clamp(WINDOW_LOGS.0, WINDOW_LOGS.1)
}
