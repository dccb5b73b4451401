//! Computes products in plain code, which the compiler turns into the baseline instructions of the
//! target.

use pulp::NullaryFnOnce;

use super::{Kernel, MatrixSweep, RoundedRows, STEP_BYTES, TileSums};
use crate::weights::{LinearLayer, PANEL};

/// Uses no instructions beyond those that the program was compiled for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

impl Kernel for Portable {
    type Lanes = [f32; PANEL];

    #[inline(always)]
    fn splat(self, number: f32) -> Self::Lanes {
        [number; PANEL]
    }

    #[inline(always)]
    fn load(self, numbers: &[f32; PANEL]) -> Self::Lanes {
        *numbers
    }

    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "more digits are kept than the weights have")]
    fn convert(self, sums: &[i32; PANEL]) -> Self::Lanes {
        sums.map(|sum| sum as f32)
    }

    #[inline(always)]
    fn store(self, lanes: Self::Lanes, to: &mut [f32; PANEL]) {
        *to = lanes;
    }

    #[inline(always)]
    fn times(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        std::array::from_fn(|lane| a[lane] * b[lane])
    }

    #[inline(always)]
    fn plus(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        std::array::from_fn(|lane| a[lane] + b[lane])
    }

    fn vectorize<Run: NullaryFnOnce>(self, run: Run) -> Run::Output {
        run.call()
    }

    fn multiply(self, input: &RoundedRows, linear: &LinearLayer, output: &mut [f32]) {
        self.vectorize(MatrixSweep::<Self, 1> { kernel: self, input, linear, output });
    }

    #[inline(always)]
    fn tile<const ROWS: usize, const PANELS: usize>(
        self,
        rows: &[[i32; ROWS]],
        panels: [&[[u8; STEP_BYTES]]; PANELS],
    ) -> TileSums<ROWS, PANELS> {
        let mut sums = [[[0; PANEL]; PANELS]; ROWS];
        for (panel, steps) in panels.into_iter().enumerate() {
            for (step, activations) in steps.iter().zip(rows) {
                let (mut firsts, mut seconds) = ([0_i16; PANEL], [0_i16; PANEL]);
                for (lane, [first, second]) in step.as_chunks().0.iter().enumerate() {
                    firsts[lane] = i16::from(first.cast_signed());
                    seconds[lane] = i16::from(second.cast_signed());
                }
                for (pair, sums) in activations.iter().zip(&mut sums) {
                    let (low, high) = split_pair(*pair);
                    let sums = &mut sums[panel];
                    for lane in 0..PANEL {
                        sums[lane] += i32::from(firsts[lane]) * i32::from(low)
                            + i32::from(seconds[lane]) * i32::from(high);
                    }
                }
            }
        }
        sums
    }
}

/// Returns the two activations of a pair.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
fn split_pair(pair: i32) -> (i16, i16) {
    (pair as i16, (pair >> 16) as i16)
}
