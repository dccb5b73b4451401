//! Two rankings made into one.

use std::collections::HashMap;

/// How much a rank's weight flattens out.
const FLATTENING: f64 = 60.0;

/// Fuses rankings.
pub(crate) fn fuse(meaning: &[(i64, f32)], words: &[(i64, f64)]) -> Vec<(i64, f64)> {
    let mut scores: HashMap<i64, f64> = HashMap::new();
    for (rank, (passage, _)) in (1_u32..).zip(meaning) {
        *scores.entry(*passage).or_default() += 1.0 / (FLATTENING + f64::from(rank));
    }
    for (rank, (passage, _)) in (1_u32..).zip(words) {
        *scores.entry(*passage).or_default() += 1.0 / (FLATTENING + f64::from(rank));
    }
    let mut fused: Vec<(i64, f64)> = scores.into_iter().collect();
    fused.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    fused
}
