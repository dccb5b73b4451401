//! Multiplies integer matrices, with the widest instructions that the machine has.
//!
//! A weight is an `i8` and an activation an `i16`, and their products are summed exactly, so every
//! machine gets the same sums, and with them the same vectors, to the bit: what one machine indexed
//! is found by another. For the same reason the floating-point steps around the products have a
//! fixed order, and never fuse a product with a sum.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::ops::Range;

use pulp::NullaryFnOnce;

use crate::weights::{LinearLayer, PANEL};

/// The number of rows that are multiplied at once. With four panels their sums fill 24 of the 32
/// registers of AVX-512, and with one panel 12 of the 16 of AVX2.
const BLOCK_ROWS: usize = 6;
/// The number of bytes of a panel for two inputs.
const STEP_BYTES: usize = 2 * PANEL;
/// The largest integer that an activation becomes. With 1536 inputs and weights of at most 127 a
/// sum is below 1.6 · 10⁹ and fits an `i32`.
const MAX_ACTIVATION: f32 = 8191.0;
/// Rounds a small number when added to it, and leaves the integer in the lowest bits.
const ROUNDER: f32 = 12_582_912.0;

/// Sums of one tile: for each row and panel, sixteen outputs.
type TileSums<const ROWS: usize, const PANELS: usize> = [[[i32; PANEL]; PANELS]; ROWS];

/// Represents a set of instructions that products are computed with.
pub(crate) trait Kernel: Copy {
    /// Is sixteen numbers side by side.
    type Lanes: Copy;

    /// Returns the same number in all lanes.
    fn splat(self, number: f32) -> Self::Lanes;

    /// Loads numbers from memory.
    fn load(self, numbers: &[f32; PANEL]) -> Self::Lanes;

    /// Sums as numbers, rounded to what a float can hold.
    fn convert(self, sums: &[i32; PANEL]) -> Self::Lanes;

    /// Stores numbers in memory.
    fn store(self, lanes: Self::Lanes, to: &mut [f32; PANEL]);

    /// Returns the product, rounded.
    fn times(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;

    /// Returns the sum, rounded.
    fn plus(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;

    /// Runs something with all instructions of the set. What is run must be inlined to be faster.
    fn vectorize<Run: NullaryFnOnce>(self, run: Run) -> Run::Output;

    /// Multiplies all rows with all outputs of a matrix, as many panels at once as suit.
    fn multiply(self, input: &RoundedRows, linear: &LinearLayer, output: &mut [f32]);

    /// Computes the sums of a few rows with a few panels.
    fn tile<const ROWS: usize, const PANELS: usize>(
        self,
        rows: &[[i32; ROWS]],
        panels: [&[[u8; STEP_BYTES]]; PANELS],
    ) -> TileSums<ROWS, PANELS>;
}

/// Lists the instruction sets, up to the widest of this machine.
#[derive(Debug, Clone, Copy)]
pub(crate) enum InstructionSet {
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
    Portable(portable::Portable),
}

impl InstructionSet {
    /// Returns every level that this machine has, the fastest first.
    pub(crate) fn available() -> Vec<Self> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            levels.extend(x86::Avx512::try_new().map(Self::Avx512));
            levels.extend(pulp::x86::V3::try_new().map(Self::Avx2));
        }
        levels.push(Self::Portable(portable::Portable));
        levels
    }

    pub(crate) fn best() -> Self {
        Self::available().first().copied().unwrap_or(Self::Portable(portable::Portable))
    }
}

/// Holds rows of activations as integers, each row with its own scale.
#[derive(Debug, Default)]
pub(crate) struct RoundedRows {
    /// Two activations in each, the earlier one in the lower half. The rows lie in blocks of six,
    /// the last of them with what is left, and a block has the first pair of each of its rows, then
    /// the second of each: a product reads it from the front to the back.
    pairs: Vec<i32>,
    scales: Vec<f32>,
    /// Pairs in a row.
    width: usize,
    /// The row that is being rounded.
    row: Vec<i32>,
}

impl RoundedRows {
    /// Rounds rows of `columns` numbers, replacing the previous ones.
    #[inline(always)]
    pub(crate) fn set(&mut self, rows: &[f32], columns: usize) {
        self.width = columns / 2;
        self.pairs.resize(rows.len() / 2, 0);
        self.scales.resize(rows.len() / columns, 0.0);
        self.row.resize(self.width, 0);
        let blocks = self.pairs.chunks_mut(BLOCK_ROWS * self.width);
        let scales = self.scales.chunks_mut(BLOCK_ROWS);
        for ((rows, pairs), scales) in rows.chunks(BLOCK_ROWS * columns).zip(blocks).zip(scales) {
            let count = scales.len();
            for (index, (row, scale)) in rows.chunks_exact(columns).zip(scales).enumerate() {
                *scale = round_row(row, &mut self.row);
                for (to, pair) in pairs[index..].iter_mut().step_by(count).zip(&self.row) {
                    *to = *pair;
                }
            }
        }
    }

    /// Returns the block that begins with a row.
    #[inline(always)]
    fn block<const ROWS: usize>(&self, first: usize) -> &[[i32; ROWS]] {
        self.pairs[first * self.width..(first + ROWS) * self.width].as_chunks().0
    }
}

/// Rounds a row to pairs of integers, and returns what they have to be multiplied with.
#[inline(always)]
fn round_row(row: &[f32], pairs: &mut [i32]) -> f32 {
    let mut lanes = [0_f32; PANEL];
    for chunk in row.as_chunks::<PANEL>().0 {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane = if number.abs() > *lane { number.abs() } else { *lane };
        }
    }
    let largest = lanes.iter().fold(0_f32, |largest, lane| largest.max(*lane));
    let factor = if largest > 0.0 { MAX_ACTIVATION / largest } else { 0.0 };
    for (pair, numbers) in pairs.iter_mut().zip(row.as_chunks::<2>().0) {
        let [low, high] = numbers.map(|number| round_to_nearest(number * factor));
        *pair = (low & 0xFFFF) | (high << 16);
    }
    largest / MAX_ACTIVATION
}

/// Returns the nearest integer, in a way that every machine computes alike and many at once.
#[inline(always)]
pub(crate) fn round_to_nearest(number: f32) -> i32 {
    (number + ROUNDER).to_bits().cast_signed() - ROUNDER.to_bits().cast_signed()
}

/// Goes through a matrix, `PANELS` panels at a time, and for each through all rows: the panels stay
/// in the nearest cache meanwhile.
struct MatrixSweep<'a, K, const PANELS: usize> {
    kernel: K,
    input: &'a RoundedRows,
    linear: &'a LinearLayer,
    output: &'a mut [f32],
}

impl<K: Kernel, const PANELS: usize> NullaryFnOnce for MatrixSweep<'_, K, PANELS> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { kernel, input, linear, output } = self;
        let panels = linear.outputs() / PANEL;
        let grouped = panels / PANELS * PANELS;
        sweep_part::<K, PANELS>(kernel, input, linear, 0..grouped, output);
        sweep_part::<K, 1>(kernel, input, linear, grouped..panels, output);
    }
}

#[inline(always)]
fn sweep_part<K: Kernel, const PANELS: usize>(
    kernel: K,
    input: &RoundedRows,
    linear: &LinearLayer,
    range: Range<usize>,
    output: &mut [f32],
) {
    let pairs = linear.inputs / 2;
    let (steps, _) = linear.panels.as_chunks::<STEP_BYTES>();
    for first in range.step_by(PANELS) {
        let panels = std::array::from_fn(|panel| {
            let start = (first + panel) * pairs;
            &steps[start..start + pairs]
        });
        let task = PanelTask::<K, PANELS> { kernel, input, linear, panels, first: first * PANEL };
        let rows = input.scales.len();
        let mut row = 0;
        while row < rows {
            row += task.rows(row, rows - row, output);
        }
    }
}

/// Multiplies a few panels with all rows.
struct PanelTask<'a, K, const PANELS: usize> {
    kernel: K,
    input: &'a RoundedRows,
    linear: &'a LinearLayer,
    panels: [&'a [[u8; STEP_BYTES]]; PANELS],
    /// The first output of the panels.
    first: usize,
}

impl<K: Kernel, const PANELS: usize> PanelTask<'_, K, PANELS> {
    /// Multiplies the block that begins with a row, and returns how many rows it has.
    #[inline(always)]
    fn rows(&self, row: usize, left: usize, output: &mut [f32]) -> usize {
        match left {
            BLOCK_ROWS.. => self.exactly::<BLOCK_ROWS>(row, output),
            5 => self.exactly::<5>(row, output),
            4 => self.exactly::<4>(row, output),
            3 => self.exactly::<3>(row, output),
            2 => self.exactly::<2>(row, output),
            _ => self.exactly::<1>(row, output),
        }
    }

    #[inline(always)]
    fn exactly<const ROWS: usize>(&self, row: usize, output: &mut [f32]) -> usize {
        let sums = self.kernel.tile::<ROWS, PANELS>(self.input.block(row), self.panels);
        let outputs = self.linear.outputs();
        let range = self.first..self.first + PANELS * PANEL;
        let scales = self.linear.scales[range.clone()].as_chunks::<PANEL>().0;
        let biases = self.linear.biases[range.clone()].as_chunks::<PANEL>().0;
        for (index, sums) in sums.iter().enumerate() {
            let kernel = self.kernel;
            let row_scale = kernel.splat(self.input.scales[row + index]);
            let start = (row + index) * outputs;
            let (to, _) = output[start + range.start..start + range.end].as_chunks_mut::<PANEL>();
            for (((to, sums), scales), biases) in to.iter_mut().zip(sums).zip(scales).zip(biases) {
                let scale = kernel.times(row_scale, kernel.load(scales));
                let product = kernel.times(kernel.convert(sums), scale);
                kernel.store(kernel.plus(product, kernel.load(biases)), to);
            }
        }
        ROWS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns numbers without a pattern, from -1 to 1.
    fn numbers(count: usize, mut seed: u32) -> Vec<f32> {
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from(i16::try_from(seed >> 17).unwrap()) / 16384.0 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    fn multiply(level: InstructionSet, input: &RoundedRows, linear: &LinearLayer) -> Vec<f32> {
        let mut output = vec![0.0; input.scales.len() * linear.outputs()];
        match level {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512(kernel) => kernel.multiply(input, linear, &mut output),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2(kernel) => kernel.multiply(input, linear, &mut output),
            InstructionSet::Portable(kernel) => kernel.multiply(input, linear, &mut output),
        }
        output
    }

    #[test]
    fn every_level_gets_the_product_and_the_same_bits() {
        let (_, weights) = crate::weights::load_weights();
        for linear in [&weights.layers[0].attention, &weights.layers[5].output] {
            // All remainders of a tile's rows.
            for rows in 1..=17 {
                let activations = numbers(rows * linear.inputs, 7);
                let mut input = RoundedRows::default();
                input.set(&activations, linear.inputs);
                let expected =
                    multiply(InstructionSet::Portable(portable::Portable), &input, linear);
                for level in InstructionSet::available() {
                    let found = multiply(level, &input, linear);
                    let same = found.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits());
                    assert!(same, "{level:?} differs with {rows} rows");
                }
                check_first_column(&activations, linear, &expected);
            }
        }
    }

    /// Checks the first output of each row against a plain multiplication.
    fn check_first_column(activations: &[f32], linear: &LinearLayer, output: &[f32]) {
        let rows = activations.chunks_exact(linear.inputs);
        for (row, found) in rows.zip(output.chunks_exact(linear.outputs())) {
            let weight = |input: usize| {
                let byte = linear.panels[input / 2 * STEP_BYTES + input % 2];
                f64::from(byte.cast_signed()) * f64::from(linear.scales[0])
            };
            let sum: f64 = row
                .iter()
                .enumerate()
                .map(|(input, number)| f64::from(*number) * weight(input))
                .sum();
            let expected = sum + f64::from(linear.biases[0]);
            assert!((expected - f64::from(found[0])).abs() < 2e-3, "{expected} {}", found[0]);
        }
    }

    #[test]
    fn the_largest_sums_there_can_be_fit() {
        let panels: &'static [u8] = vec![0x81; 80 * 1536].leak();
        let linear =
            LinearLayer { panels, scales: vec![1.0; 80], biases: vec![0.0; 80], inputs: 1536 };
        let mut input = RoundedRows::default();
        input.set(&[3.0; 1536], 1536);
        for level in InstructionSet::available() {
            let found = multiply(level, &input, &linear);
            assert!(found.iter().all(|sum| (sum + 127.0 * 3.0 * 1536.0).abs() < 1.0), "{found:?}");
        }
    }

    #[test]
    fn a_row_of_zeros_stays_one() {
        let mut input = RoundedRows::default();
        input.set(&[0.0; 32], 32);
        assert_eq!(input.scales, [0.0]);
        assert_eq!(input.pairs, [0; 16]);
    }

    #[test]
    fn halves_are_rounded_to_the_even_number() {
        assert_eq!(
            [0.4, 0.5, 1.5, -1.5, -2.6, 8191.0].map(round_to_nearest),
            [0, 0, 2, -2, -3, 8191]
        );
    }
}
