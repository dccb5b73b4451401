//! Encodes texts as vectors: a small sentence encoder that is part of the program.
//!
//! The model is all-MiniLM-L6-v2 with its matrices rounded to 8 bits; `weights/README.md` says
//! where it comes from. It needs no network, no file and no thread of its own, and gives the same
//! vector for the same text on every machine. It does not interpret the vectors.
//!
//! ```
//! let encoder = lango_encoder::Encoder::shared();
//! let vectors = encoder.encode(&["a cat sits on the mat", "a kitten on a rug", "quarterly taxes"]);
//! let similarity =
//!     |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
//! assert!(similarity(&vectors[0], &vectors[1]) > similarity(&vectors[0], &vectors[2]) + 0.3);
//! ```

#![expect(
    clippy::inline_always,
    reason = "a function that is not inlined does not get the instructions that its caller found"
)]

mod attention;
mod forward;
mod kernel;
mod math;
mod tokenizer;
mod weights;

use std::sync::OnceLock;

use kernel::InstructionSet;
pub use tokenizer::TextToken;
use tokenizer::Tokenizer;
pub use weights::{EncoderLayers, WeightSections};
use weights::{HIDDEN, WordEmbeddings};

/// Names the model. Vectors of another name must not be compared with these.
pub const NAME: &str = "all-minilm-l6-v2-q8";

/// Limits the tokens of a text that are read, with the start and end markers. The model was trained
/// for texts of this length; a later part of a text does not change its vector.
pub const MAX_TOKENS: usize = 256;

/// Limits the tokens that are processed at once: enough that loading the matrices from memory does
/// not count, and few enough that their vectors take some megabytes.
const BATCH_TOKENS: usize = 512;

/// The encoder.
#[derive(Debug)]
pub struct Encoder {
    tokenizer: Tokenizer,
    words: WordEmbeddings,
    layers: EncoderLayers,
    level: InstructionSet,
}

impl Encoder {
    /// Returns the encoder that is part of the program. The first call loads it, which takes some
    /// milliseconds; the matrices are used in place.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Encoder> = OnceLock::new();
        SHARED.get_or_init(|| {
            let (words, layers) = weights::load_weights();
            Self { tokenizer: Tokenizer::load(), words, layers, level: InstructionSet::best() }
        })
    }

    /// Returns the number of dimensions of a vector.
    pub fn dimensions(&self) -> usize {
        HIDDEN
    }

    /// Returns the model's name, [`NAME`].
    pub fn name(&self) -> &'static str {
        NAME
    }

    /// Returns the vector of each text, of length 1, so that the product of two is their
    /// similarity.
    ///
    /// It runs on the caller's thread; many texts at once are faster than one after the other, and
    /// give the same vectors. A text without words has a vector too, which means nothing.
    pub fn encode(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut batch: Vec<Vec<u32>> = Vec::new();
        let mut tokens = 0;
        for text in texts {
            let ids = self.token_ids(text);
            if tokens + ids.len() > BATCH_TOKENS && !batch.is_empty() {
                self.encode_batch(&batch, &mut vectors);
                batch.clear();
                tokens = 0;
            }
            tokens += ids.len();
            batch.push(ids);
        }
        self.encode_batch(&batch, &mut vectors);
        vectors
    }

    /// Returns how many tokens a text has, with the start and end markers, however long it is. At
    /// most [`MAX_TOKENS`] means that nothing of it is left out.
    pub fn count_tokens(&self, text: &str) -> usize {
        self.tokenizer.count(text)
    }

    /// Tells whether a word, in lower case, is in the vocabulary as a whole.
    pub fn is_known_word(&self, word: &str) -> bool {
        self.tokenizer.is_word(word)
    }

    /// Returns the tokens of a text that are read, with their positions in it. The first and the
    /// last are the start and end markers.
    pub fn tokenize(&self, text: &str) -> Vec<TextToken> {
        self.tokenizer.tokenize(text, MAX_TOKENS)
    }

    /// Returns the last layer's vector of each token of [`tokens`](Self::tokenize), in the same
    /// order. They are not of length 1; their mean, scaled to that length, is what
    /// [`encode`](Self::encode) returns.
    pub fn token_vectors(&self, text: &str) -> Vec<Vec<f32>> {
        let rows = self.run_layers(&self.layers, &[self.token_ids(text)]);
        rows.chunks_exact(HIDDEN).map(<[f32]>::to_vec).collect()
    }

    /// Returns the vectors of all tokens of some texts, one text after the other, from other layers
    /// that were trained on the same vocabulary. The texts are token ids with the markers that
    /// these layers know.
    pub fn run_layers(&self, layers: &EncoderLayers, texts: &[Vec<u32>]) -> Vec<f32> {
        forward::encode_tokens(self.level, &self.words, layers, texts)
    }

    fn token_ids(&self, text: &str) -> Vec<u32> {
        self.tokenize(text).into_iter().map(|token| token.id).collect()
    }

    fn encode_batch(&self, batch: &[Vec<u32>], vectors: &mut Vec<Vec<f32>>) {
        let rows = self.run_layers(&self.layers, batch);
        let mut rows = rows.as_slice();
        for ids in batch {
            let (own, rest) = rows.split_at(ids.len() * HIDDEN);
            vectors.push(mean_pool(own));
            rows = rest;
        }
    }
}

/// Returns the mean of the tokens' vectors, scaled to length 1.
fn mean_pool(rows: &[f32]) -> Vec<f32> {
    // The length of the mean does not matter, so a sum will do.
    let mut sum = vec![0.0; HIDDEN];
    for row in rows.chunks_exact(HIDDEN) {
        math::add_to(&mut sum, row);
    }
    let length = math::sum(&sum, |number| number * number).sqrt();
    // No text of this model has a sum of zero, but a vector must never be NaN.
    let factor = if length > 0.0 { 1.0 / length } else { 0.0 };
    sum.iter().map(|number| number * factor).collect()
}
