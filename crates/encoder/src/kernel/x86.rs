//! Computes products with AVX2, and with AVX-512 where it has integer dot products (VNNI).
//!
//! The program detects at run time whether the machine and its system have the instructions.

use std::arch::x86_64::{__m256, __m256i, __m512, __m512i};

use pulp::x86::V3;
use pulp::{NullaryFnOnce, cast};

use super::{Kernel, MatrixSweep, RoundedRows, STEP_BYTES, TileSums};
use crate::weights::{LinearLayer, PANEL};

pulp::simd_type!({
    /// Uses AVX-512 with the extensions of recent machines. A product with `madd` that is added to
    /// a sum becomes one instruction with VNNI.
    pub(crate) struct Avx512 {
        avx: f!("avx"),
        avx2: f!("avx2"),
        fma: f!("fma"),
        bmi1: f!("bmi1"),
        bmi2: f!("bmi2"),
        avx512f: f!("avx512f"),
        avx512bw: f!("avx512bw"),
        avx512dq: f!("avx512dq"),
        avx512vl: f!("avx512vl"),
        avx512vnni: f!("avx512vnni"),
    }
});

impl Kernel for Avx512 {
    type Lanes = __m512;

    #[inline(always)]
    fn splat(self, number: f32) -> Self::Lanes {
        self.avx512f._mm512_set1_ps(number)
    }

    #[inline(always)]
    fn load(self, numbers: &[f32; PANEL]) -> Self::Lanes {
        cast(*numbers)
    }

    #[inline(always)]
    fn convert(self, sums: &[i32; PANEL]) -> Self::Lanes {
        self.avx512f._mm512_cvtepi32_ps(cast(*sums))
    }

    #[inline(always)]
    fn store(self, lanes: Self::Lanes, to: &mut [f32; PANEL]) {
        *to = cast(lanes);
    }

    #[inline(always)]
    fn times(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        self.avx512f._mm512_mul_ps(a, b)
    }

    #[inline(always)]
    fn plus(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        self.avx512f._mm512_add_ps(a, b)
    }

    #[inline(always)]
    fn vectorize<Run: NullaryFnOnce>(self, run: Run) -> Run::Output {
        self.vectorize(run)
    }

    fn multiply(self, input: &RoundedRows, linear: &LinearLayer, output: &mut [f32]) {
        self.vectorize(MatrixSweep::<Self, 4> { kernel: self, input, linear, output });
    }

    #[inline(always)]
    fn tile<const ROWS: usize, const PANELS: usize>(
        self,
        rows: &[[i32; ROWS]],
        panels: [&[[u8; STEP_BYTES]]; PANELS],
    ) -> TileSums<ROWS, PANELS> {
        let zero: __m512i = cast([0_i32; PANEL]);
        let mut sums = [[zero; PANELS]; ROWS];
        let pairs = panels[0].len();
        let panels = panels.map(|panel| &panel[..pairs]);
        for (pair, activations) in rows.iter().enumerate().take(pairs) {
            let mut weights = [zero; PANELS];
            for panel in 0..PANELS {
                weights[panel] = self.avx512bw._mm512_cvtepi8_epi16(cast(panels[panel][pair]));
            }
            for row in 0..ROWS {
                let activation = self.avx512f._mm512_set1_epi32(activations[row]);
                for panel in 0..PANELS {
                    let products = self.avx512bw._mm512_madd_epi16(weights[panel], activation);
                    sums[row][panel] = self.avx512f._mm512_add_epi32(sums[row][panel], products);
                }
            }
        }
        let mut found = [[[0; PANEL]; PANELS]; ROWS];
        for row in 0..ROWS {
            for panel in 0..PANELS {
                found[row][panel] = cast(sums[row][panel]);
            }
        }
        found
    }
}

impl Kernel for V3 {
    type Lanes = [__m256; 2];

    #[inline(always)]
    fn splat(self, number: f32) -> Self::Lanes {
        [self.avx._mm256_set1_ps(number); 2]
    }

    #[inline(always)]
    fn load(self, numbers: &[f32; PANEL]) -> Self::Lanes {
        cast(*numbers)
    }

    #[inline(always)]
    fn convert(self, sums: &[i32; PANEL]) -> Self::Lanes {
        let [low, high]: [__m256i; 2] = cast(*sums);
        [self.avx._mm256_cvtepi32_ps(low), self.avx._mm256_cvtepi32_ps(high)]
    }

    #[inline(always)]
    fn store(self, lanes: Self::Lanes, to: &mut [f32; PANEL]) {
        *to = cast(lanes);
    }

    #[inline(always)]
    fn times(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        [self.avx._mm256_mul_ps(a[0], b[0]), self.avx._mm256_mul_ps(a[1], b[1])]
    }

    #[inline(always)]
    fn plus(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        [self.avx._mm256_add_ps(a[0], b[0]), self.avx._mm256_add_ps(a[1], b[1])]
    }

    #[inline(always)]
    fn vectorize<Run: NullaryFnOnce>(self, run: Run) -> Run::Output {
        self.vectorize(run)
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
        let zero: __m256i = cast([0_i32; PANEL / 2]);
        let mut sums = [[[zero; 2]; PANELS]; ROWS];
        let pairs = panels[0].len();
        let panels = panels.map(|panel| &panel[..pairs]);
        for (pair, activations) in rows.iter().enumerate().take(pairs) {
            let mut weights = [[zero; 2]; PANELS];
            for panel in 0..PANELS {
                let [low, high]: [[u8; STEP_BYTES / 2]; 2] = cast(panels[panel][pair]);
                weights[panel][0] = self.avx2._mm256_cvtepi8_epi16(cast(low));
                weights[panel][1] = self.avx2._mm256_cvtepi8_epi16(cast(high));
            }
            for row in 0..ROWS {
                let activation = self.avx._mm256_set1_epi32(activations[row]);
                for panel in 0..PANELS {
                    for half in 0..2 {
                        let products =
                            self.avx2._mm256_madd_epi16(weights[panel][half], activation);
                        sums[row][panel][half] =
                            self.avx2._mm256_add_epi32(sums[row][panel][half], products);
                    }
                }
            }
        }
        let mut found = [[[0; PANEL]; PANELS]; ROWS];
        for row in 0..ROWS {
            for panel in 0..PANELS {
                found[row][panel] = cast(sums[row][panel]);
            }
        }
        found
    }
}
