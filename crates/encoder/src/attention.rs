//! Computes the attention: each token of a text attends to all tokens of the same text.

use std::ops::Range;

use crate::kernel::Kernel;
use crate::math::{LANES, softmax};
use crate::weights::{HEADS, HIDDEN};

/// The length of a token's vector in one head.
const HEAD_SIZE: usize = HIDDEN / HEADS;
/// The number of rows that share one pass over the keys.
const BLOCK_ROWS: usize = 4;
/// Represents a score whose share is zero.
const ZERO_SHARE_SCORE: f32 = -1e30;
/// Is one over the square root of a head's size, 32.
const SCALE: f32 = 0.176_776_69;

/// Holds the buffers for one head of one text, reused from one to the next.
#[derive(Debug, Default)]
pub(crate) struct AttentionBuffers {
    /// Keys, sixteen tokens side by side: `[tokens / 16][HEAD_SIZE][16]`.
    keys: Vec<f32>,
    values: Vec<[f32; HEAD_SIZE]>,
    /// Scores of a few tokens with all others.
    scores: [Vec<f32>; BLOCK_ROWS],
}

impl AttentionBuffers {
    /// Computes the attention output from the rows of query, key and value of one text.
    #[inline(always)]
    pub(crate) fn attend<K: Kernel>(&mut self, kernel: K, rows: &[f32], output: &mut [f32]) {
        let tokens = rows.len() / (3 * HIDDEN);
        let padded = tokens.next_multiple_of(LANES);
        for scores in &mut self.scores {
            scores.resize(padded, 0.0);
        }
        for head in 0..HEADS {
            self.gather_head(rows, head, padded);
            let mut token = 0;
            while token < tokens {
                let count = BLOCK_ROWS.min(tokens - token);
                self.compute_block(kernel, rows, head, token..token + count, output);
                token += count;
            }
        }
    }

    #[inline(always)]
    fn gather_head(&mut self, rows: &[f32], head: usize, padded: usize) {
        self.keys.clear();
        self.keys.resize(padded * HEAD_SIZE, 0.0);
        self.values.clear();
        for (token, row) in rows.chunks_exact(3 * HIDDEN).enumerate() {
            let key = &row[HIDDEN + head * HEAD_SIZE..][..HEAD_SIZE];
            let block = &mut self.keys[token / LANES * LANES * HEAD_SIZE..][..LANES * HEAD_SIZE];
            for (number, lanes) in key.iter().zip(block.chunks_exact_mut(LANES)) {
                lanes[token % LANES] = *number;
            }
            self.values.extend(row[2 * HIDDEN + head * HEAD_SIZE..].first_chunk::<HEAD_SIZE>());
        }
    }

    /// Computes the output of up to four tokens. A shorter block is filled up with the last one.
    #[inline(always)]
    fn compute_block<K: Kernel>(
        &mut self,
        kernel: K,
        rows: &[f32],
        head: usize,
        block: Range<usize>,
        output: &mut [f32],
    ) {
        let tokens = self.values.len();
        let mut queries = [[0_f32; HEAD_SIZE]; BLOCK_ROWS];
        for (index, query) in queries.iter_mut().enumerate() {
            let token = (block.start + index).min(block.end - 1);
            let row = &rows[token * 3 * HIDDEN + head * HEAD_SIZE..][..HEAD_SIZE];
            for (to, number) in query.iter_mut().zip(row) {
                *to = number * SCALE;
            }
        }
        for (group, keys) in self.keys.chunks_exact(LANES * HEAD_SIZE).enumerate() {
            let mut sums = [kernel.splat(0.0); BLOCK_ROWS];
            for (number, keys) in keys.as_chunks::<LANES>().0.iter().enumerate() {
                let keys = kernel.load(keys);
                for index in 0..BLOCK_ROWS {
                    let query = kernel.splat(queries[index][number % HEAD_SIZE]);
                    sums[index] = kernel.plus(sums[index], kernel.times(query, keys));
                }
            }
            for (scores, sums) in self.scores.iter_mut().zip(sums) {
                if let Some(scores) = scores.as_chunks_mut::<LANES>().0.get_mut(group) {
                    kernel.store(sums, scores);
                }
            }
        }
        for scores in &mut self.scores {
            scores[tokens..].fill(ZERO_SHARE_SCORE);
            softmax(scores);
        }
        self.sum_values(kernel, head, block, output);
    }

    /// Sums the values of all tokens, each with its share.
    #[inline(always)]
    fn sum_values<K: Kernel>(
        &self,
        kernel: K,
        head: usize,
        block: Range<usize>,
        output: &mut [f32],
    ) {
        let mut seen = [[kernel.splat(0.0); HEAD_SIZE / LANES]; BLOCK_ROWS];
        let tokens = self.values.len();
        let [first, second, third, fourth] = &self.scores;
        let scores = [&first[..tokens], &second[..tokens], &third[..tokens], &fourth[..tokens]];
        for (other, value) in self.values.iter().enumerate() {
            let (parts, _) = value.as_chunks::<LANES>();
            for index in 0..BLOCK_ROWS {
                let share = kernel.splat(scores[index][other]);
                for part in 0..HEAD_SIZE / LANES {
                    let product = kernel.times(share, kernel.load(&parts[part]));
                    seen[index][part] = kernel.plus(seen[index][part], product);
                }
            }
        }
        for (token, seen) in block.zip(seen) {
            let to = &mut output[token * HIDDEN + head * HEAD_SIZE..][..HEAD_SIZE];
            for (lanes, to) in seen.into_iter().zip(to.as_chunks_mut().0) {
                kernel.store(lanes, to);
            }
        }
    }
}
