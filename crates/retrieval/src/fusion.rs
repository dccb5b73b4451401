//! Fuses two rankings into one.
//!
//! Rankings are fused by reciprocal rank: a high rank counts much, and a high rank in both counts
//! most. Ranks by themselves are not enough, though. A question in other words than the text gets a
//! ranking by words too, of texts that happen to share one of them, and it would push the right
//! ones down. So a rank by words counts as far as the passage has the words of the query. Measured
//! in `bench/README.md`; plain reciprocal ranks were worse than vectors only.

use std::collections::HashMap;

/// Flattens the weight of ranks: with a large number the first ranks differ little.
const FLATTENING: f64 = 20.0;

/// The weight of a rank by words, compared with one by meaning, if the passage has all words.
const WORDS_WEIGHT: f64 = 1.5;

/// Represents a passage that was found by its words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordHit {
    pub(crate) passage: i64,
    /// The score by the rarity and the frequency of its words.
    pub(crate) score: f64,
    /// The share of the query's words that it has, from 0 to 1.
    pub(crate) coverage: f64,
}

/// Fuses a ranking by meaning and one by words, each with the best first.
pub(crate) fn fuse_rankings(meaning: &[(i64, f32)], words: &[WordHit]) -> Vec<(i64, f64)> {
    let mut scores: HashMap<i64, f64> = HashMap::with_capacity(meaning.len() + words.len());
    for (rank, (passage, _)) in (1_u32..).zip(meaning) {
        *scores.entry(*passage).or_default() += 1.0 / (FLATTENING + f64::from(rank));
    }
    for (rank, hit) in (1_u32..).zip(words) {
        let weight = WORDS_WEIGHT * hit.coverage * hit.coverage;
        *scores.entry(hit.passage).or_default() += weight / (FLATTENING + f64::from(rank));
    }
    let mut fused: Vec<(i64, f64)> = scores.into_iter().collect();
    fused.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(meaning: &[i64], words: &[(i64, f64)]) -> Vec<i64> {
        let meaning: Vec<(i64, f32)> = meaning.iter().map(|passage| (*passage, 0.5)).collect();
        let words: Vec<WordHit> = words
            .iter()
            .map(|(passage, coverage)| WordHit {
                passage: *passage,
                score: 1.0,
                coverage: *coverage,
            })
            .collect();
        fuse_rankings(&meaning, &words).into_iter().map(|(passage, _)| passage).collect()
    }

    #[test]
    fn what_both_rankings_have_comes_first() {
        assert_eq!(order(&[1, 2, 3], &[(4, 1.0), (2, 1.0), (5, 1.0)])[0], 2);
    }

    #[test]
    fn a_single_shared_word_does_not_push_the_right_text_down() {
        assert_eq!(order(&[1, 2], &[(8, 0.2), (9, 0.2)]), [1, 2, 8, 9]);
        assert_eq!(order(&[1, 2], &[(9, 1.0)])[0], 9, "but all of the words do");
    }

    #[test]
    fn one_ranking_stays_as_it_is() {
        assert_eq!(order(&[3, 1, 2], &[]), [3, 1, 2]);
        assert!(fuse_rankings(&[], &[]).is_empty());
    }
}
