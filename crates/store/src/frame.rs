//! One stored version: a zstd frame, full or against an earlier full body of the same owner.
//!
//! The earlier body is the frame's raw-content dictionary, so a page that barely changed costs
//! hundreds of bytes, and reading a version needs one other body at most.

use std::io::{self, Read as _};

use zstd::bulk;

/// zstd's level 3: a trial of 15,000 noisy bodies gained little above it.
const LEVEL: i32 = 3;

/// A full frame.
pub(crate) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    bulk::compress(bytes, LEVEL)
}

/// A frame against `base`.
pub(crate) fn pack_against(bytes: &[u8], base: &[u8]) -> io::Result<Vec<u8>> {
    let mut packer = bulk::Compressor::with_dictionary(LEVEL, base)?;
    // The window must reach back over the whole base.
    packer.window_log(window_log(base.len() + bytes.len()))?;
    packer.compress(bytes)
}

/// Reads a frame of `size` bytes, full or against `base`.
pub(crate) fn unpack(frame: &[u8], base: Option<&[u8]>, size: usize) -> io::Result<Vec<u8>> {
    let mut reader = zstd::stream::read::Decoder::with_dictionary(frame, base.unwrap_or_default())?;
    reader.window_log_max(WINDOW_LOG_MAX)?;
    let mut bytes = Vec::with_capacity(size.min(1 << 26));
    let limit = u64::try_from(size).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

const WINDOW_LOG_MAX: u32 = 27;

fn window_log(bytes: usize) -> u32 {
    (usize::BITS - bytes.leading_zeros()).clamp(17, WINDOW_LOG_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_change_costs_little_and_reads_back() {
        let base: Vec<u8> = (0..40_000u32)
            .flat_map(|i| (i.wrapping_mul(2_654_435_761)).to_le_bytes())
            .collect();
        let mut next = base.clone();
        next[70_000] ^= 1;
        let frame = pack_against(&next, &base).unwrap();
        assert!(frame.len() < 1_000, "{} bytes", frame.len());
        assert_eq!(unpack(&frame, Some(&base), next.len()).unwrap(), next);
        let full = pack(&base).unwrap();
        assert_eq!(unpack(&full, None, base.len()).unwrap(), base);
    }
}
