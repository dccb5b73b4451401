//! Finds known values in text.
//!
//! Almost no text has a value in it, so the search is made for that case. Every form has a minimum
//! length, so a form that stands in a text covers one of a row of sampled positions completely. Only
//! these are looked at. A coarse filter, which costs one look-up of one bit, says of nearly all of them
//! that no form is there; a finer one of nearly all others.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::LeakStream;
use crate::forms::{Form, list_forms};

/// Sets how many bytes a sample has.
const SAMPLE_BYTES: usize = 4;

/// The distances of samples that a search is compiled for: a loop over a known distance takes half the
/// time. Each one is the number of the filters' entries for a form.
const STRIDES: [usize; 8] = [32, 24, 16, 12, 8, 7, 6, 5];

/// Sets how many samples one step of a search looks at.
const SAMPLES_OF_A_STEP: usize = 8;

/// Sets the words of the coarse filter: it is about as large as the small cache of a processor, and its
/// size is known, so that no index has to be checked.
const COARSE_WORDS: usize = 1 << 13;

/// Sets how many bits of the fine filter there are at least for each sample that it holds.
const FINE_BITS_PER_SAMPLE: usize = 64;

/// A form of a value, and which value that is.
struct Pattern {
    bytes: Form,
    name: Arc<str>,
}

/// Finds known values and their encodings, and replaces them by their names.
///
/// It knows these forms: the value, its lines, reversed, JSON-escaped, URL-encoded, hexadecimal in
/// both cases, and base64 in both alphabets at every alignment. Values of fewer than
/// [`MIN_SECRET_BYTES`](crate::MIN_SECRET_BYTES) bytes are not looked for.
#[derive(Default)]
pub struct LeakScanner {
    /// Sorted by their bytes.
    patterns: Vec<Pattern>,
    /// The distance of the positions that are looked at.
    stride: usize,
    /// Has one bit for a sample, in [`COARSE_WORDS`] words; empty if no value is known.
    coarse: Vec<u64>,
    /// Has two bits for a sample.
    fine: Vec<u64>,
    /// The forms that have a sample, and where they have it.
    samples: HashMap<u32, Vec<(u32, u32)>>,
    longest: usize,
}

impl LeakScanner {
    /// Creates a scanner for these values with their names.
    pub fn new<'a>(values: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut patterns: Vec<Pattern> = Vec::new();
        for (name, value) in values {
            let name: Arc<str> = name.into();
            let forms = list_forms(value).into_iter();
            patterns.extend(forms.map(|bytes| Pattern { bytes, name: Arc::clone(&name) }));
        }
        patterns.sort_by(|one, other| one.bytes.cmp(&other.bytes));
        patterns.dedup_by(|one, other| one.bytes == other.bytes);
        let Some(shortest) = patterns.iter().map(|pattern| pattern.bytes.len()).min() else {
            return Self::default();
        };
        let farthest = shortest + 1 - SAMPLE_BYTES;
        let stride = STRIDES.into_iter().find(|stride| *stride <= farthest).unwrap_or(1);
        let longest = patterns.iter().map(|pattern| pattern.bytes.len()).max().unwrap_or(0);
        let words = (patterns.len() * stride * FINE_BITS_PER_SAMPLE / 64).next_power_of_two();
        let (coarse, fine) = (vec![0; COARSE_WORDS], vec![0; words]);
        let mut scanner = Self { coarse, fine, samples: HashMap::new(), patterns, stride, longest };
        scanner.index_samples();
        scanner
    }

    fn index_samples(&mut self) {
        for (index, pattern) in (0..).zip(&self.patterns) {
            for (offset, sample) in (0..).zip(pattern.bytes.windows(SAMPLE_BYTES)).take(self.stride)
            {
                let sample = read_sample(sample);
                let word = locate_coarse(sample);
                self.coarse[word] |= 1 << (sample & 63);
                let (word, mask) = locate(sample, self.fine.len());
                self.fine[word] |= mask;
                self.samples.entry(sample).or_default().push((index, offset));
            }
        }
    }

    /// Tells whether it knows no value.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns the text with every known value replaced by `[secret:NAME]`.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let matches = self.find(text.as_bytes());
        if matches.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut clean = String::with_capacity(text.len());
        let mut position = 0;
        for (range, name) in matches {
            clean.push_str(&text[position..range.start]);
            clean.push_str("[secret:");
            clean.push_str(name);
            clean.push(']');
            position = range.end;
        }
        clean.push_str(&text[position..]);
        Cow::Owned(clean)
    }

    /// Tells whether a known value stands in these bytes.
    pub fn contains_secret(&self, bytes: &[u8]) -> bool {
        !self.find(bytes).is_empty()
    }

    /// Returns a scanner of text that arrives in pieces.
    pub fn stream(self: &Arc<Self>) -> LeakStream {
        LeakStream::new(Arc::clone(self))
    }

    /// Returns where values stand, in order and without overlap. Values that overlap are one place,
    /// with the name of the longest.
    fn find(&self, text: &[u8]) -> Vec<(Range<usize>, &str)> {
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        if self.patterns.is_empty() {
            return found;
        }
        match self.stride {
            32 => self.look_at_samples::<32>(text, &mut found),
            24 => self.look_at_samples::<24>(text, &mut found),
            16 => self.look_at_samples::<16>(text, &mut found),
            12 => self.look_at_samples::<12>(text, &mut found),
            8 => self.look_at_samples::<8>(text, &mut found),
            7 => self.look_at_samples::<7>(text, &mut found),
            6 => self.look_at_samples::<6>(text, &mut found),
            5 => self.look_at_samples::<5>(text, &mut found),
            _ => self.look_at_samples::<1>(text, &mut found),
        }
        merge_overlaps(found)
    }

    /// Looks at the samples of a text that are `STRIDE` bytes apart, several in one step.
    fn look_at_samples<'a, const STRIDE: usize>(
        &'a self,
        text: &[u8],
        found: &mut Vec<(Range<usize>, &'a str)>,
    ) {
        let Some(coarse) = self.coarse.first_chunk::<COARSE_WORDS>() else { return };
        let mut look = |position: usize, sample: u32| {
            if coarse[locate_coarse(sample)] >> (sample & 63) & 1 != 0 {
                self.confirm(text, position, sample, found);
            }
        };
        let mut position = 0;
        let step = STRIDE * SAMPLES_OF_A_STEP;
        while let Some(window) = text.get(position..position + step + SAMPLE_BYTES) {
            for number in 0..SAMPLES_OF_A_STEP {
                look(position + number * STRIDE, read_sample(&window[number * STRIDE..]));
            }
            position += step;
        }
        while let Some(sample) = text.get(position..position + SAMPLE_BYTES) {
            look(position, read_sample(sample));
            position += STRIDE;
        }
    }

    /// Compares the forms that have this sample with the text around it, unless the fine filter says
    /// that there is none.
    #[cold]
    #[inline(never)]
    fn confirm<'a>(
        &'a self,
        text: &[u8],
        position: usize,
        sample: u32,
        found: &mut Vec<(Range<usize>, &'a str)>,
    ) {
        let (word, mask) = locate(sample, self.fine.len());
        if self.fine[word] & mask != mask {
            return;
        }
        for &(index, offset) in self.samples.get(&sample).into_iter().flatten() {
            let pattern = &self.patterns[index as usize];
            let Some(start) = position.checked_sub(offset as usize) else { continue };
            if text[start..].starts_with(&pattern.bytes) {
                found.push((start..start + pattern.bytes.len(), &pattern.name));
            }
        }
    }

    /// Returns up to where no text that follows can make a value of what is there: neither inside of
    /// a value, nor behind the beginning of one.
    pub(crate) fn find_safe_end(&self, text: &str) -> usize {
        let longest = self.longest.saturating_sub(1).min(text.len());
        let is_open = |length: &usize| {
            let end = &text.as_bytes()[text.len() - length..];
            let next = self.patterns.partition_point(|pattern| pattern.bytes.as_slice() < end);
            self.patterns.get(next).is_some_and(|pattern| pattern.bytes.starts_with(end))
        };
        let end = text.len() - (1..=longest).rev().find(is_open).unwrap_or(0);
        let around = |(range, _): &(Range<usize>, &str)| range.start < end && end < range.end;
        self.find(text.as_bytes())
            .iter()
            .find(|found| around(found))
            .map_or(end, |(range, _)| range.start)
    }
}

impl fmt::Debug for LeakScanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LeakScanner({} forms)", self.patterns.len())
    }
}

/// Returns the bytes at the beginning as a number.
fn read_sample(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |sample| u32::from_le_bytes(*sample))
}

/// Returns the word of the coarse filter for a sample, whose bit is chosen by its first byte.
fn locate_coarse(sample: u32) -> usize {
    const SHIFT: u32 = u32::BITS - COARSE_WORDS.trailing_zeros();
    (sample.wrapping_mul(0x9E37_79B1) >> SHIFT) as usize
}

/// Returns the word of the fine filter for a sample, and the two bits of it that are set.
fn locate(sample: u32, words: usize) -> (usize, u64) {
    let hash = u64::from(sample).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let word = (hash >> 32) as usize & (words - 1);
    let mask = 1 << (hash >> 26 & 63) | 1 << (hash >> 20 & 63);
    (word, mask)
}

fn merge_overlaps(mut found: Vec<(Range<usize>, &str)>) -> Vec<(Range<usize>, &str)> {
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut merged: Vec<(Range<usize>, &str, usize)> = Vec::new();
    for (range, name) in found {
        match merged.last_mut() {
            Some((last, longest_name, longest)) if range.start < last.end => {
                if range.len() > *longest {
                    (*longest_name, *longest) = (name, range.len());
                }
                last.end = last.end.max(range.end);
            }
            _ => {
                let length = range.len();
                merged.push((range, name, length));
            }
        }
    }
    merged.into_iter().map(|(range, name, _)| (range, name)).collect()
}
