#!/usr/bin/env bash
# Installs what the tests need and runs them all: format, lints, tests, docs.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo >/dev/null || { echo "cargo is missing: install Rust 1.95 or newer" >&2; exit 3; }
if ! command -v cc >/dev/null; then
    apt-get update -qq && apt-get install -y -qq gcc libc6-dev
fi
echo "== format"; cargo fmt --all --check
echo "== lints"
cargo clippy --workspace --locked -- -D warnings
# A test may stop at what it did not foresee.
cargo clippy --workspace --all-targets --locked -- -D warnings \
    -A clippy::unwrap_used -A clippy::expect_used -A clippy::indexing_slicing
echo "== tests";  cargo test --workspace --locked --no-fail-fast
echo "== docs";   RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --no-deps --locked --quiet
echo "all checks passed"
