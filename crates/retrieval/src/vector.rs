//! Stores vectors with eight bits for each dimension and a scale.
//!
//! A search looks at every vector of its scopes. That is exact, needs no index that could fall
//! behind, and costs some 20 ms for a hundred thousand passages (`cargo xtask bench retrieval`).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lango_store::StoreError;

/// The number of bytes before the components: the scale as `f32`, little-endian.
const SCALE_BYTES: usize = 4;

/// The range of a stored component.
const STORED_RANGE: f32 = 127.0;

/// The range of a query's component. Products of both, summed over thousands of dimensions, fit
/// into 32 bits.
const QUERY_RANGE: f32 = 2047.0;

/// Returns a vector in the format of the database.
pub(crate) fn to_bytes(vector: &[f32]) -> Vec<u8> {
    let scale = quantization_step(vector, STORED_RANGE);
    let mut bytes = Vec::with_capacity(SCALE_BYTES + vector.len());
    bytes.extend_from_slice(&scale.to_le_bytes());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within ±127")]
    bytes.extend(vector.iter().map(|value| (value / scale).round() as i8 as u8));
    bytes
}

/// Returns the step between two neighbouring values, such that the largest component has `range`.
fn quantization_step(vector: &[f32], range: f32) -> f32 {
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if largest > 0.0 { largest / range } else { 1.0 }
}

/// Holds a query that stored vectors are compared with.
#[derive(Debug, Clone)]
pub(crate) struct QueryVector {
    components: Vec<i16>,
    scale: f32,
}

impl QueryVector {
    pub(crate) fn new(vector: &[f32]) -> Self {
        let scale = quantization_step(vector, QUERY_RANGE);
        #[expect(clippy::cast_possible_truncation, reason = "within ±2047")]
        let components = vector.iter().map(|value| (value / scale).round() as i16).collect();
        Self { components, scale }
    }

    /// Returns the cosine of the angle to a stored vector, both being of length one.
    fn similarity(&self, arch: pulp::Arch, bytes: &[u8]) -> Result<f32, StoreError> {
        let (scale, components) = bytes
            .split_first_chunk::<SCALE_BYTES>()
            .filter(|(_, components)| components.len() == self.components.len())
            .ok_or_else(|| StoreError::Query { reason: "a vector of another length".into() })?;
        let product = arch.dispatch(|| dot_product(components, &self.components));
        #[expect(clippy::cast_precision_loss, reason = "a similarity needs few digits")]
        let product = product as f32;
        Ok(product * f32::from_le_bytes(*scale) * self.scale)
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "or it is not compiled for the instructions at hand")]
#[expect(clippy::cast_possible_wrap, reason = "the bytes are signed numbers")]
fn dot_product(stored: &[u8], query: &[i16]) -> i32 {
    let pairs = stored.iter().zip(query);
    pairs.map(|(stored, query)| i32::from(*stored as i8) * i32::from(*query)).sum()
}

/// Collects the nearest vectors.
#[derive(Clone)]
pub(crate) struct NearestVectors {
    query: QueryVector,
    arch: pulp::Arch,
    capacity: usize,
    /// The farthest of the collected ones on top.
    candidates: BinaryHeap<NearCandidate>,
}

#[derive(Debug, Clone, Copy)]
struct NearCandidate {
    similarity: f32,
    passage: i64,
}

impl NearestVectors {
    pub(crate) fn new(query: QueryVector, capacity: usize) -> Self {
        Self {
            query,
            arch: pulp::Arch::new(),
            capacity,
            candidates: BinaryHeap::with_capacity(capacity + 1),
        }
    }

    /// Looks at one more.
    pub(crate) fn add_candidate(&mut self, passage: i64, vector: &[u8]) -> Result<(), StoreError> {
        let similarity = self.query.similarity(self.arch, vector)?;
        if self.candidates.len() == self.capacity
            && self.candidates.peek().is_some_and(|worst| similarity <= worst.similarity)
        {
            return Ok(());
        }
        self.candidates.push(NearCandidate { similarity, passage });
        if self.candidates.len() > self.capacity {
            self.candidates.pop();
        }
        Ok(())
    }

    /// Returns the nearest first, each with its similarity.
    pub(crate) fn into_ranked(self) -> Vec<(i64, f32)> {
        let sorted = self.candidates.into_sorted_vec();
        sorted.into_iter().map(|candidate| (candidate.passage, candidate.similarity)).collect()
    }
}

impl PartialEq for NearCandidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for NearCandidate {}

impl PartialOrd for NearCandidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Orders candidates: a farther one is greater; among equals, a newer one.
impl Ord for NearCandidate {
    fn cmp(&self, other: &Self) -> Ordering {
        other.similarity.total_cmp(&self.similarity).then(self.passage.cmp(&other.passage))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit(vector: &[f32]) -> Vec<f32> {
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter().map(|value| value / length).collect()
    }

    proptest! {
        #[test]
        fn similarities_are_those_of_the_real_vectors(
            one in prop::collection::vec(-1.0_f32..1.0, 384),
            other in prop::collection::vec(-1.0_f32..1.0, 384),
        ) {
            let (one, other) = (unit(&one), unit(&other));
            let exact: f32 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
            let found = QueryVector::new(&one).similarity(pulp::Arch::new(), &to_bytes(&other)).unwrap();
            prop_assert!((exact - found).abs() < 0.005, "{exact} {found}");
        }
    }

    #[test]
    fn the_nearest_come_first_and_no_more_than_asked_for() {
        let mut nearest = NearestVectors::new(QueryVector::new(&[1.0, 0.0]), 2);
        for (passage, vector) in
            [(1, [0.0, 1.0]), (2, [1.0, 0.0]), (3, [0.6, 0.8]), (4, [-1.0, 0.0])]
        {
            nearest.add_candidate(passage, &to_bytes(&vector)).unwrap();
        }
        let ranked = nearest.into_ranked();
        assert_eq!(ranked.iter().map(|(passage, _)| *passage).collect::<Vec<_>>(), [2, 3]);
        assert!((ranked[1].1 - 0.6).abs() < 0.01, "{ranked:?}");
    }

    #[test]
    fn a_vector_of_another_model_is_an_error() {
        let mut nearest = NearestVectors::new(QueryVector::new(&[1.0, 0.0]), 2);
        assert!(nearest.add_candidate(1, &to_bytes(&[1.0, 0.0, 0.0])).is_err());
        assert!(nearest.add_candidate(1, &[0]).is_err());
    }
}
