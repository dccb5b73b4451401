//! Random numbers that a seed repeats.

/// A small generator (xorshift).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Starts a series.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// Returns a number of milliseconds in a range.
    pub(crate) fn milliseconds(&mut self, range: std::ops::Range<u64>) -> std::time::Duration {
        let length = range.end - range.start;
        std::time::Duration::from_millis(range.start + self.below(length))
    }
}
