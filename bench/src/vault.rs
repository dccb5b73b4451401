//! Measures what the search for known secrets costs, in text that has none.

use std::hint::black_box;

use anyhow::{Result, ensure};
use lango_redaction::LeakScanner;

use crate::{REPEATS, figures, finish};

/// Secrets that are known.
const SECRETS: u32 = 200;
/// Searches in one measurement, each of a megabyte.
const SEARCHES: u32 = 100;
/// The most CPU time that a megabyte may take, in milliseconds.
const LIMIT: f64 = 0.1;

pub(crate) fn measure() -> Result<()> {
    let mut table = figures::Table::default();
    let prose = include_str!("../../docs/models.md");
    let code = include_str!("../../crates/store/src/database.rs");
    // Lengths of a short password, of a usual token, and of a key in base64.
    for length in [8, 20, 40] {
        let values: Vec<(String, String)> =
            (0..SECRETS).map(|number| (format!("s{number}"), token(number, length))).collect();
        let scanner =
            LeakScanner::new(values.iter().map(|(name, value)| (name.as_str(), value.as_bytes())));
        for (what, text) in [("prose", prose), ("code", code)] {
            let megabyte: String = text.chars().cycle().take(1_000_000).collect();
            let mut taken = Vec::with_capacity(REPEATS);
            for _ in 0..REPEATS {
                let before = crate::worker::cpu();
                for _ in 0..SEARCHES {
                    let clean = scanner.scrub(black_box(&megabyte));
                    ensure!(clean.len() == megabyte.len(), "a secret was found that is not there");
                }
                let spent = crate::worker::cpu().saturating_sub(before);
                taken.push(spent.as_secs_f64() * 1000.0 / f64::from(SEARCHES));
            }
            let name = format!("{SECRETS} secrets of {length} bytes, 1 MB of {what}, CPU-ms");
            table.add(&name, Some(LIMIT), taken);
        }
    }
    finish(&table)
}

/// Returns text that looks random, the same in every run.
fn token(number: u32, length: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut state = u64::from(number) + 1;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(LETTERS[(state >> 58) as usize])
    };
    std::iter::repeat_with(next).take(length).collect()
}
