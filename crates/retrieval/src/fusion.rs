//! Several rankings made into one.

use std::collections::HashMap;
use std::hash::Hash;

/// How much a rank's weight flattens out: with a large number the first ranks differ little.
const FLATTENING: f64 = 60.0;

/// Fuses rankings by reciprocal rank. Ties keep the order of the rankings.
pub(crate) fn fuse<T: Copy + Eq + Hash>(rankings: &[&[T]]) -> Vec<(T, f64)> {
    let mut order = Vec::new();
    let mut scores: HashMap<T, f64> = HashMap::new();
    for ranking in rankings {
        let mut weight = FLATTENING;
        for item in *ranking {
            weight += 1.0;
            let score = scores.entry(*item).or_insert_with(|| {
                order.push(*item);
                0.0
            });
            *score += 1.0 / weight;
        }
    }
    let mut fused: Vec<(T, f64)> = order
        .into_iter()
        .map(|item| (item, scores.get(&item).copied().unwrap_or_default()))
        .collect();
    fused.sort_by(|one, other| other.1.total_cmp(&one.1));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_rankings_have_comes_first() {
        let fused = fuse(&[&[1, 2, 3], &[4, 2, 5]]);
        let order: Vec<i32> = fused.iter().map(|(item, _)| *item).collect();
        assert_eq!(order, [2, 1, 4, 3, 5]);
    }

    #[test]
    fn one_ranking_stays_as_it_is() {
        let fused = fuse(&[&[3, 1, 2]]);
        assert_eq!(fused.iter().map(|(item, _)| *item).collect::<Vec<_>>(), [3, 1, 2]);
        assert!(fuse::<i32>(&[]).is_empty());
    }
}
