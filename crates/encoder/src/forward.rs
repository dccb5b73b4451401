//! Runs the layers: from token ids to the last layer's vectors.
//!
//! Several texts are worked on as one list of rows, one for each token, without any padding: linear
//! steps do not care where a text ends, and attention looks at one text at a time.

use pulp::NullaryFnOnce;

use crate::attention::AttentionBuffers;
use crate::kernel::{InstructionSet, Kernel, RoundedRows};
use crate::math;
use crate::weights::{
    EncoderLayer, EncoderLayers, HIDDEN, INTERMEDIATE, LinearLayer, NormLayer, WordEmbeddings,
};

/// Returns the vectors of all tokens of some texts, one text after the other.
pub(crate) fn encode_tokens(
    level: InstructionSet,
    words: &WordEmbeddings,
    layers: &EncoderLayers,
    texts: &[Vec<u32>],
) -> Vec<f32> {
    match level {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512(kernel) => run_layers(kernel, words, layers, texts),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2(kernel) => run_layers(kernel, words, layers, texts),
        InstructionSet::Portable(kernel) => run_layers(kernel, words, layers, texts),
    }
}

fn run_layers<K: Kernel>(
    kernel: K,
    words: &WordEmbeddings,
    layers: &EncoderLayers,
    texts: &[Vec<u32>],
) -> Vec<f32> {
    let tokens = texts.iter().map(Vec::len).sum::<usize>();
    let mut rows = vec![0.0; tokens * HIDDEN];
    let positions = texts.iter().flat_map(|ids| ids.iter().enumerate());
    for (row, (position, id)) in rows.chunks_exact_mut(HIDDEN).zip(positions) {
        words.embed(*id as usize, position, row);
    }
    kernel.vectorize(Normalise { rows: &mut rows, norm: &words.embedding_norm });
    let mut pass = LayerPass {
        kernel,
        rounded: RoundedRows::default(),
        attention: AttentionBuffers::default(),
        wide: vec![0.0; tokens * INTERMEDIATE],
        narrow: vec![0.0; tokens * HIDDEN],
        texts,
    };
    for layer in &layers.layers {
        pass.apply_layer(layer, &mut rows);
    }
    rows
}

/// Holds the state of one pass through the layers.
struct LayerPass<'a, K> {
    kernel: K,
    rounded: RoundedRows,
    attention: AttentionBuffers,
    /// Rows of a linear step that makes more numbers of each row than it had.
    wide: Vec<f32>,
    narrow: Vec<f32>,
    texts: &'a [Vec<u32>],
}

impl<K: Kernel> LayerPass<'_, K> {
    fn apply_layer(&mut self, layer: &EncoderLayer, rows: &mut [f32]) {
        let Self { kernel, rounded, attention, wide, narrow, texts } = self;
        let kernel = *kernel;
        let attention_rows = &mut wide[..3 * rows.len()];
        apply_linear(kernel, rounded, rows, &layer.attention, attention_rows);
        let seen = narrow.as_mut_slice();
        kernel.vectorize(Attend { kernel, attention, texts, rows: attention_rows, output: seen });
        // The attention's rows are no longer needed; the output replaces them.
        let output = &mut wide[..rows.len()];
        apply_linear(kernel, rounded, narrow, &layer.attention_output, output);
        kernel.vectorize(AddAndNormalise { rows, more: output, norm: &layer.attention_norm });
        apply_linear(kernel, rounded, rows, &layer.intermediate, wide);
        kernel.vectorize(Activate { rows: wide });
        apply_linear(kernel, rounded, wide, &layer.output, narrow);
        kernel.vectorize(AddAndNormalise { rows, more: narrow, norm: &layer.output_norm });
    }
}

fn apply_linear<K: Kernel>(
    kernel: K,
    rounded: &mut RoundedRows,
    rows: &[f32],
    linear: &LinearLayer,
    output: &mut [f32],
) {
    kernel.vectorize(Round { rounded, rows, columns: linear.inputs });
    kernel.multiply(rounded, linear, output);
}

struct Round<'a> {
    rounded: &'a mut RoundedRows,
    rows: &'a [f32],
    columns: usize,
}

impl NullaryFnOnce for Round<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.rounded.set(self.rows, self.columns);
    }
}

struct Attend<'a, K> {
    kernel: K,
    attention: &'a mut AttentionBuffers,
    texts: &'a [Vec<u32>],
    rows: &'a [f32],
    output: &'a mut [f32],
}

impl<K: Kernel> NullaryFnOnce for Attend<'_, K> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let mut token = 0;
        for text in self.texts {
            let end = token + text.len();
            let rows = &self.rows[3 * HIDDEN * token..3 * HIDDEN * end];
            self.attention.attend(
                self.kernel,
                rows,
                &mut self.output[HIDDEN * token..HIDDEN * end],
            );
            token = end;
        }
    }
}

struct Activate<'a> {
    rows: &'a mut [f32],
}

impl NullaryFnOnce for Activate<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        math::activate(self.rows);
    }
}

struct Normalise<'a> {
    rows: &'a mut [f32],
    norm: &'a NormLayer,
}

impl NullaryFnOnce for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        math::normalise(self.rows, self.norm);
    }
}

struct AddAndNormalise<'a> {
    rows: &'a mut [f32],
    more: &'a [f32],
    norm: &'a NormLayer,
}

impl NullaryFnOnce for AddAndNormalise<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        math::add_to(self.rows, self.more);
        math::normalise(self.rows, self.norm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::load_weights;

    #[test]
    fn every_level_gets_the_same_bits() {
        let (words, layers) = load_weights();
        let long: Vec<u32> = (0..70).map(|index| 101 + 37 * index).collect();
        let texts = [vec![101, 7592, 2088, 102], long, vec![101, 102]];
        let bits = |level| {
            let vectors = encode_tokens(level, &words, &layers, &texts);
            vectors.into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        let levels = InstructionSet::available();
        let expected = bits(levels[levels.len() - 1]);
        assert_eq!(expected.len(), 76 * HIDDEN);
        for level in levels {
            assert!(bits(level) == expected, "{level:?} differs");
        }
    }

    #[test]
    fn a_text_does_not_see_its_neighbours() {
        let (words, layers) = load_weights();
        let (one, other) = (vec![101, 7592, 102], vec![101, 2088, 3000, 102]);
        let alone =
            encode_tokens(InstructionSet::best(), &words, &layers, std::slice::from_ref(&other));
        let together = encode_tokens(InstructionSet::best(), &words, &layers, &[one, other]);
        assert_eq!(together[3 * HIDDEN..], alone);
    }
}
