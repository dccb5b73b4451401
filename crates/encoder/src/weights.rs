//! Locates the weights that are part of the program in their file.
//!
//! The sizes are constants, and the compiler checks the file's length and header against them, so
//! reading cannot fail when the program runs. Matrices stay where they are in the program's image,
//! which the system reads when they are first touched; small vectors are copied.

/// The number of entries of the vocabulary.
pub(crate) const VOCABULARY: usize = 30_522;
/// The number of token positions that the model has.
pub(crate) const POSITIONS: usize = 512;
/// The length of a token's vector between the layers.
pub(crate) const HIDDEN: usize = 384;
/// The length of a token's vector within a layer's second half.
pub(crate) const INTERMEDIATE: usize = 1536;
/// The number of layers, each with attention and two linear steps.
pub(crate) const LAYERS: usize = 6;
/// The number of attention heads in a layer.
pub(crate) const HEADS: usize = 12;
/// Keeps a normalisation from dividing by zero.
pub(crate) const EPSILON: f32 = 1e-12;
/// The number of outputs that lie side by side in a panel of a matrix.
pub(crate) const PANEL: usize = 16;

const MAGIC: [u8; 8] = *b"LANGOENC";
const VERSION: u32 = 1;
const ALIGNMENT: usize = 64;
const FILE_SIZE: usize = 23_451_712;

/// Aligns bytes to a cache line.
#[repr(C, align(64))]
struct AlignedBytes<T: ?Sized>(T);

static FILE: &AlignedBytes<[u8; FILE_SIZE]> =
    &AlignedBytes(*include_bytes!("../weights/all-minilm-l6-v2.q8"));

/// Holds the vocabulary, one token to a line, in the order of their ids.
pub(crate) static VOCABULARY_TEXT: &str = include_str!("../weights/vocabulary.txt");

/// Returns the whole file, for a check of its content.
#[cfg(test)]
pub(crate) fn file() -> &'static [u8] {
    &FILE.0
}

// The header says what the constants say.
const _: () = {
    let header: &[u8; FILE_SIZE] = include_bytes!("../weights/all-minilm-l6-v2.q8");
    let mut at = 0;
    while at < MAGIC.len() {
        assert!(header[at] == MAGIC[at], "not a file of encoder weights");
        at += 1;
    }
    let sizes = [
        VERSION as usize,
        VOCABULARY,
        POSITIONS,
        HIDDEN,
        INTERMEDIATE,
        LAYERS,
        HEADS,
        EPSILON.to_bits() as usize,
    ];
    let mut index = 0;
    while index < sizes.len() {
        let at = MAGIC.len() + 4 * index;
        let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        assert!(u32::from_le_bytes(bytes) as usize == sizes[index], "weights of another shape");
        index += 1;
    }
};

/// Represents a linear layer: a matrix of integers with a scale and a bias for each output.
#[derive(Debug)]
pub(crate) struct LinearLayer {
    /// `[outputs / 16][inputs / 2][16][2]`, each an `i8`.
    pub(crate) panels: &'static [u8],
    pub(crate) scales: Vec<f32>,
    pub(crate) biases: Vec<f32>,
    pub(crate) inputs: usize,
}

impl LinearLayer {
    pub(crate) fn outputs(&self) -> usize {
        self.scales.len()
    }
}

/// Holds the factors and summands of a normalisation.
#[derive(Debug)]
pub(crate) struct NormLayer {
    pub(crate) factors: Vec<f32>,
    pub(crate) summands: Vec<f32>,
}

#[derive(Debug)]
pub(crate) struct EncoderLayer {
    /// Query, key and value, one below the other.
    pub(crate) attention: LinearLayer,
    pub(crate) attention_output: LinearLayer,
    pub(crate) attention_norm: NormLayer,
    pub(crate) intermediate: LinearLayer,
    pub(crate) output: LinearLayer,
    pub(crate) output_norm: NormLayer,
}

/// Holds all layers of a model, in their order.
#[derive(Debug)]
pub struct EncoderLayers {
    pub(crate) layers: Vec<EncoderLayer>,
}

/// Holds the embeddings of words and positions: the same for all [`EncoderLayers`].
#[derive(Debug)]
pub(crate) struct WordEmbeddings {
    scales: &'static [u8],
    vectors: &'static [u8],
    positions: &'static [u8],
    pub(crate) embedding_norm: NormLayer,
}

/// Loads the encoder's own weights.
pub(crate) fn load_weights() -> (WordEmbeddings, EncoderLayers) {
    let mut file = WeightSections::new(&FILE.0, MAGIC.len() + 4 * 8);
    let words = WordEmbeddings {
        scales: file.next_section(4 * VOCABULARY),
        vectors: file.next_section(VOCABULARY * HIDDEN),
        positions: file.next_section(4 * POSITIONS * HIDDEN),
        embedding_norm: file.read_norm(),
    };
    (words, file.read_layers())
}

impl WordEmbeddings {
    /// Adds the embedding of a token and that of its position.
    pub(crate) fn embed(&self, id: usize, position: usize, row: &mut [f32]) {
        let scale = read_float(&self.scales[4 * id..]);
        let word = &self.vectors[id * HIDDEN..(id + 1) * HIDDEN];
        let position = &self.positions[4 * position * HIDDEN..4 * (position + 1) * HIDDEN];
        for ((sum, word), position) in row.iter_mut().zip(word).zip(position.chunks_exact(4)) {
            *sum = f32::from(word.cast_signed()) * scale + read_float(position);
        }
    }
}

/// Walks through the sections of a file of weights that is part of the program. Each begins at a
/// multiple of 64 bytes.
///
/// Its length is known when the program is compiled, so a missing section is a bug in the program,
/// which a test of the file's owner finds.
#[derive(Debug)]
pub struct WeightSections {
    file: &'static [u8],
    at: usize,
}

impl WeightSections {
    /// Starts at the first section at or after `at`.
    pub fn new(file: &'static [u8], at: usize) -> Self {
        Self { file, at }
    }

    /// Tells whether all sections have been read.
    pub fn is_at_end(&self) -> bool {
        self.at == self.file.len()
    }

    /// Returns the next section.
    pub fn next_section(&mut self, length: usize) -> &'static [u8] {
        let start = self.at.next_multiple_of(ALIGNMENT);
        self.at = start + length;
        &self.file[start..self.at]
    }

    /// Returns the next section, as numbers.
    pub fn next_floats(&mut self, count: usize) -> Vec<f32> {
        self.next_section(4 * count).chunks_exact(4).map(read_float).collect()
    }

    /// Returns the sections of all layers.
    pub fn read_layers(&mut self) -> EncoderLayers {
        let layer = |file: &mut Self| EncoderLayer {
            attention: file.read_linear(HIDDEN, 3 * HIDDEN),
            attention_output: file.read_linear(HIDDEN, HIDDEN),
            attention_norm: file.read_norm(),
            intermediate: file.read_linear(HIDDEN, INTERMEDIATE),
            output: file.read_linear(INTERMEDIATE, HIDDEN),
            output_norm: file.read_norm(),
        };
        EncoderLayers { layers: (0..LAYERS).map(|_| layer(self)).collect() }
    }

    fn read_norm(&mut self) -> NormLayer {
        NormLayer { factors: self.next_floats(HIDDEN), summands: self.next_floats(HIDDEN) }
    }

    fn read_linear(&mut self, inputs: usize, outputs: usize) -> LinearLayer {
        let (scales, biases) = (self.next_floats(outputs), self.next_floats(outputs));
        LinearLayer { panels: self.next_section(inputs * outputs), scales, biases, inputs }
    }
}

fn read_float(bytes: &[u8]) -> f32 {
    bytes.first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// `cargo xtask encoder-weights` prints these; weights/README.md has the same.
    #[test]
    fn the_shipped_files_are_the_documented_ones() {
        let readme = include_str!("../weights/README.md");
        for (name, bytes) in
            [("all-minilm-l6-v2.q8", file()), ("vocabulary.txt", VOCABULARY_TEXT.as_bytes())]
        {
            let digest: String = lango_text::hex(Sha256::digest(bytes));
            assert!(readme.contains(&format!("{digest}  {name}")), "{name} is {digest}");
        }
    }

    #[test]
    fn the_sections_fill_the_file() {
        let (_, layers) = load_weights();
        assert_eq!(layers.layers.len(), LAYERS);
        let mut file = WeightSections::new(&FILE.0, FILE.0.len() - 4 * HIDDEN);
        // The last section ends where the file does.
        assert_eq!(file.next_floats(HIDDEN), layers.layers[LAYERS - 1].output_norm.summands);
        assert!(file.is_at_end());
    }
}
