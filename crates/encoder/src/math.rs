//! Computes the steps between matrix products: normalisation, activation, exponentials.
//!
//! Everything is written for sixteen numbers at a time in a fixed order, so that it uses the
//! instructions that its caller was compiled for and still gives the same bits with all of them.

use crate::kernel::round_to_nearest;
use crate::weights::{EPSILON, NormLayer};

/// The number of values that are processed side by side.
pub(crate) const LANES: usize = 16;

/// Returns e to the power of a number that is not above 88; below -87 the result is practically
/// zero.
#[inline(always)]
pub(crate) fn exponential(number: f32) -> f32 {
    // e^x = 2^n · e^r, with n whole and r small; ln 2 in two parts, so that r keeps its digits.
    let number = if number > -87.0 { number } else { -87.0 };
    let power = round_to_nearest(number * std::f32::consts::LOG2_E);
    let exact = to_float(power);
    let rest = number - exact * 0.693_359_4 - exact * -2.121_944_4e-4;
    let series = 1.0 / 720.0;
    let series = series * rest + 1.0 / 120.0;
    let series = series * rest + 1.0 / 24.0;
    let series = series * rest + 1.0 / 6.0;
    let series = series * rest + 0.5;
    let series = series * rest + 1.0;
    let series = series * rest + 1.0;
    series * f32::from_bits(((power + 127) << 23).cast_unsigned())
}

#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "a power of two that a float has, so below 128")]
fn to_float(power: i32) -> f32 {
    power as f32
}

/// The activation function of the model, half of `x · (1 + erf(x / √2))`.
///
/// The error function is the approximation 7.1.26 of Abramowitz and Stegun, right to 1.5 · 10⁻⁷.
#[inline(always)]
pub(crate) fn activation(number: f32) -> f32 {
    let argument = number.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let part = 1.0 / (1.0 + 0.327_591_1 * argument);
    let series = 1.061_405_4 * part - 1.453_152;
    let series = series * part + 1.421_413_7;
    let series = series * part - 0.284_496_74;
    let series = series * part + 0.254_829_6;
    let tail = series * part * exponential(-argument * argument);
    let error = if number < 0.0 { tail - 1.0 } else { 1.0 - tail };
    0.5 * number * (1.0 + error)
}

/// Replaces each number by its activation.
#[inline(always)]
pub(crate) fn activate(numbers: &mut [f32]) {
    for chunk in numbers.as_chunks_mut::<LANES>().0 {
        for number in chunk {
            *number = activation(*number);
        }
    }
}

/// Normalises rows to mean 0 and variance 1, then applies the learned factors and summands.
#[inline(always)]
pub(crate) fn normalise(rows: &mut [f32], norm: &NormLayer) {
    let columns = norm.factors.len();
    for row in rows.chunks_exact_mut(columns) {
        let count = to_float(i32::try_from(columns).unwrap_or(i32::MAX));
        let mean = sum(row, |number| number) / count;
        let variance = sum(row, |number| (number - mean) * (number - mean)) / count;
        let factor = 1.0 / (variance + EPSILON).sqrt();
        let learned = norm.factors.iter().zip(&norm.summands);
        for (number, (learned_factor, summand)) in row.iter_mut().zip(learned) {
            *number = (*number - mean) * factor * learned_factor + summand;
        }
    }
}

/// Adds one list of numbers to another.
#[inline(always)]
pub(crate) fn add_to(to: &mut [f32], numbers: &[f32]) {
    for (to, number) in to.iter_mut().zip(numbers) {
        *to += number;
    }
}

/// Returns the sum of a function over whole groups of lanes.
#[inline(always)]
pub(crate) fn sum(numbers: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0_f32; LANES];
    for chunk in numbers.as_chunks::<LANES>().0 {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane += of(*number);
        }
    }
    lanes.iter().sum()
}

/// Replaces scores by shares that sum up to one. The length is a multiple of the lanes.
#[inline(always)]
pub(crate) fn softmax(scores: &mut [f32]) {
    let mut lanes = [f32::MIN; LANES];
    for chunk in scores.as_chunks::<LANES>().0 {
        for (lane, score) in lanes.iter_mut().zip(chunk) {
            *lane = if *score > *lane { *score } else { *lane };
        }
    }
    let largest = lanes.iter().fold(f32::MIN, |largest, lane| largest.max(*lane));
    for chunk in scores.as_chunks_mut::<LANES>().0 {
        for score in chunk {
            *score = exponential(*score - largest);
        }
    }
    let factor = 1.0 / sum(scores, |score| score);
    for score in scores {
        *score *= factor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_right_to_a_millionth() {
        for step in -870_i16..=880 {
            let number = f32::from(step) / 10.0;
            let (found, right) = (f64::from(exponential(number)), f64::from(number).exp());
            assert!((found / right - 1.0).abs() < 1e-6, "{number}: {found} {right}");
        }
        assert!(exponential(-1e30) < 1e-37);
    }

    #[test]
    fn activations_are_those_of_the_error_function() {
        // x · Φ(x), from a table of the normal distribution.
        for (number, right) in [
            (0.0, 0.0),
            (1.0, 0.841_344_7),
            (-1.0, -0.158_655_25),
            (2.0, 1.954_499_7),
            (-3.0, -0.004_049_694),
            (0.5, 0.345_731_23),
            (12.0, 12.0),
            (-12.0, 0.0),
        ] {
            assert!((activation(number) - right).abs() < 1e-6, "{number}: {}", activation(number));
        }
    }

    #[test]
    fn shares_sum_up_to_one_and_keep_their_order() {
        let mut scores = [-1e30_f32; 32];
        scores[..3].copy_from_slice(&[1.0, 3.0, 2.0]);
        softmax(&mut scores);
        let right = [0.090_030_57, 0.665_240_94, 0.244_728_47];
        assert!(scores.iter().zip(right).all(|(share, right)| (share - right).abs() < 1e-6));
        assert!(scores[3..].iter().all(|share| *share < 1e-30));
    }

    #[test]
    fn a_normalised_row_has_mean_zero_and_variance_one() {
        let mut row: Vec<f32> = (0..32_u8).map(|number| f32::from(number) * 3.0 + 5.0).collect();
        normalise(&mut row, &NormLayer { factors: vec![2.0; 32], summands: vec![1.0; 32] });
        assert!((sum(&row, |number| number) / 32.0 - 1.0).abs() < 1e-5);
        assert!((sum(&row, |number| (number - 1.0) * (number - 1.0)) / 32.0 - 4.0).abs() < 1e-4);
    }
}
