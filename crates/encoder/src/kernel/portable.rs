//! Products in plain code, which the compiler turns into what every machine of a kind has.

use pulp::NullaryFnOnce;

use super::{Kernel, Rounded, STEP, Sums, Sweep};
use crate::weights::{Linear, PANEL};

/// No instructions beyond those that the program was compiled for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

impl Kernel for Portable {
    const ROWS: usize = 4;

    fn vectorize<Run: NullaryFnOnce>(self, run: Run) -> Run::Output {
        run.call()
    }

    fn multiply(self, input: &Rounded, linear: &Linear, output: &mut [f32]) {
        self.vectorize(Sweep::<Self, 1> { kernel: self, input, linear, output });
    }

    #[inline(always)]
    fn tile<const ROWS: usize, const PANELS: usize>(
        self,
        rows: [&[i32]; ROWS],
        panels: [&[[u8; STEP]]; PANELS],
    ) -> Sums<ROWS, PANELS> {
        let mut sums = [[[0; PANEL]; PANELS]; ROWS];
        for (panel, steps) in panels.into_iter().enumerate() {
            for (pair, step) in steps.iter().enumerate() {
                let (mut firsts, mut seconds) = ([0_i16; PANEL], [0_i16; PANEL]);
                for (lane, [first, second]) in step.as_chunks().0.iter().enumerate() {
                    firsts[lane] = i16::from(first.cast_signed());
                    seconds[lane] = i16::from(second.cast_signed());
                }
                for (row, sums) in rows.iter().zip(&mut sums) {
                    let (low, high) = halves(row[pair]);
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

/// The two activations of a pair.
#[inline(always)]
#[expect(clippy::inline_always, reason = "two instructions")]
#[expect(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
fn halves(pair: i32) -> (i16, i16) {
    (pair as i16, (pair >> 16) as i16)
}
