//! Attention: each token of a text looks at all tokens of the same text.

#![expect(clippy::inline_always, reason = "these functions take their caller's instructions")]

use crate::math::{LANES, softmax};
use crate::weights::{HEADS, HIDDEN};

/// Numbers of a token in one head.
const HEAD: usize = HIDDEN / HEADS;
/// Rows that share a look at the keys.
const BLOCK: usize = 4;
/// A score that gets no share.
const NOTHING: f32 = -1e30;
/// One over the square root of a head's size, 32.
const SCALE: f32 = 0.176_776_69;

/// Room for one head of one text, kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Attention {
    /// Keys, sixteen tokens side by side: `[tokens / 16][HEAD][16]`.
    keys: Vec<f32>,
    values: Vec<[f32; HEAD]>,
    /// Scores of a few tokens with all others.
    scores: [Vec<f32>; BLOCK],
}

impl Attention {
    /// From the rows of query, key and value of one text to what its tokens saw.
    #[inline(always)]
    pub(crate) fn attend(&mut self, rows: &[f32], output: &mut [f32]) {
        let tokens = rows.len() / (3 * HIDDEN);
        let padded = tokens.next_multiple_of(LANES);
        for scores in &mut self.scores {
            scores.resize(padded, 0.0);
        }
        for head in 0..HEADS {
            self.gather(rows, head, padded);
            let mut token = 0;
            while token < tokens {
                let count = BLOCK.min(tokens - token);
                self.block(rows, head, token, count, output);
                token += count;
            }
        }
    }

    #[inline(always)]
    fn gather(&mut self, rows: &[f32], head: usize, padded: usize) {
        self.keys.clear();
        self.keys.resize(padded * HEAD, 0.0);
        self.values.clear();
        for (token, row) in rows.chunks_exact(3 * HIDDEN).enumerate() {
            let key = &row[HIDDEN + head * HEAD..][..HEAD];
            let block = &mut self.keys[token / LANES * LANES * HEAD..][..LANES * HEAD];
            for (number, lanes) in key.iter().zip(block.chunks_exact_mut(LANES)) {
                lanes[token % LANES] = *number;
            }
            self.values.extend(row[2 * HIDDEN + head * HEAD..].first_chunk::<HEAD>());
        }
    }

    /// What up to four tokens see. Fewer are filled up with the last one.
    #[inline(always)]
    fn block(&mut self, rows: &[f32], head: usize, token: usize, count: usize, output: &mut [f32]) {
        let tokens = self.values.len();
        let mut queries = [[0_f32; HEAD]; BLOCK];
        for (index, query) in queries.iter_mut().enumerate() {
            let row = &rows[(token + index.min(count - 1)) * 3 * HIDDEN + head * HEAD..][..HEAD];
            for (to, number) in query.iter_mut().zip(row) {
                *to = number * SCALE;
            }
        }
        for (group, keys) in self.keys.chunks_exact(LANES * HEAD).enumerate() {
            let mut sums = [[0_f32; LANES]; BLOCK];
            for (number, keys) in keys.as_chunks::<LANES>().0.iter().enumerate() {
                for (sums, query) in sums.iter_mut().zip(&queries) {
                    for (sum, key) in sums.iter_mut().zip(keys) {
                        *sum += query[number] * key;
                    }
                }
            }
            for (scores, sums) in self.scores.iter_mut().zip(&sums) {
                scores[group * LANES..(group + 1) * LANES].copy_from_slice(sums);
            }
        }
        for scores in &mut self.scores {
            scores[tokens..].fill(NOTHING);
            softmax(scores);
        }
        let mut seen = [[0_f32; HEAD]; BLOCK];
        for (other, value) in self.values.iter().enumerate() {
            for (seen, scores) in seen.iter_mut().zip(&self.scores) {
                let share = scores[other];
                for (seen, number) in seen.iter_mut().zip(value) {
                    *seen += share * number;
                }
            }
        }
        for (index, seen) in seen.iter().take(count).enumerate() {
            output[(token + index) * HIDDEN + head * HEAD..][..HEAD].copy_from_slice(seen);
        }
    }
}
