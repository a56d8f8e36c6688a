//! An approval cannot be written down: it can only be had of a change that a person confirmed.
use reigi_core::promise::review::Approved;
use reigi_core::time::Timestamp;

fn forge(at: Timestamp) -> Approved {
    Approved {
        change: 1,
        url: String::from("https://school.example.jp/price"),
        confirmed: at,
        by: String::from("nobody"),
        summary_ja: String::new(),
        summary_en: String::new(),
    }
}

fn main() {}
