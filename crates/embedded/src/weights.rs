//! Loads the trained layers and heads that are part of the program. `weights/README.md` describes
//! the layout of the file, and how it was made.

use lango_encoder::{EncoderLayers, WeightSections};

/// The length of a token's vector.
pub(crate) const HIDDEN: usize = 384;
/// Lists the classes of the first head: small talk, seven agents, and what no agent does.
pub(crate) const AGENTS: [&str; 12] = [
    "none",
    "operator",
    "navigator",
    "vault",
    "librarian",
    "automator",
    "planner",
    "chronicler",
    "help",
    "write",
    "ask",
    "stray",
];
/// The number of cards whose vectors are in the file: the known tools, and what is no tool.
pub(crate) const CARDS: usize = 89;

const MAGIC: [u8; 8] = *b"LANGOBOX";
const HEADER: usize = 8 + 6 * 4;
const FILE_SIZE: usize = 12_160_768;

/// Aligns bytes to a cache line.
#[repr(C, align(64))]
struct AlignedBytes<T: ?Sized>(T);

static FILE: &AlignedBytes<[u8; FILE_SIZE]> = &AlignedBytes(*include_bytes!("../weights/model.q8"));

// The header says what the constants say.
const _: () = {
    let header: &[u8; FILE_SIZE] = include_bytes!("../weights/model.q8");
    let mut at = 0;
    while at < MAGIC.len() {
        assert!(header[at] == MAGIC[at], "not a file of these weights");
        at += 1;
    }
    let sizes = [1, HIDDEN, 1536, 6, AGENTS.len(), CARDS];
    let mut index = 0;
    while index < sizes.len() {
        let at = MAGIC.len() + 4 * index;
        let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        assert!(u32::from_le_bytes(bytes) as usize == sizes[index], "weights of another shape");
        index += 1;
    }
};

/// Returns the size of the file in bytes.
pub(crate) fn file_size() -> usize {
    FILE.0.len()
}

/// Represents a small linear layer, in full precision.
#[derive(Debug)]
pub(crate) struct LinearHead {
    rows: Vec<f32>,
    biases: Vec<f32>,
}

impl LinearHead {
    fn read(file: &mut WeightSections, outputs: usize) -> Self {
        Self { rows: file.next_floats(outputs * HIDDEN), biases: file.next_floats(outputs) }
    }

    pub(crate) fn apply(&self, input: &[f32]) -> Vec<f32> {
        let rows = self.rows.chunks_exact(HIDDEN).zip(&self.biases);
        rows.map(|(row, bias)| bias + dot_product(row, input)).collect()
    }
}

/// Returns the dot product. It is computed in eight lanes, so that the compiler can vectorise it.
pub(crate) fn dot_product(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    lanes.iter().sum()
}

/// Holds everything in the file.
#[derive(Debug)]
pub(crate) struct EmbeddedWeights {
    pub(crate) layers: EncoderLayers,
    /// The classifier of agents.
    pub(crate) agent: LinearHead,
    /// A request as tools are compared with it.
    pub(crate) ask: LinearHead,
    /// A card as requests are compared with it.
    pub(crate) offer: LinearHead,
    /// The start and the end of an answer.
    pub(crate) span: LinearHead,
    /// The factor of a comparison.
    pub(crate) sharpness: f32,
    /// The weight of tools and of agents in a decision.
    pub(crate) tool_weight: f32,
    pub(crate) agent_weight: f32,
    /// The cards' vectors, of length 1.
    pub(crate) cards: Vec<Vec<f32>>,
}

impl EmbeddedWeights {
    pub(crate) fn load() -> Self {
        Self::read(&mut WeightSections::new(&FILE.0, HEADER))
    }

    fn read(file: &mut WeightSections) -> Self {
        let layers = file.read_layers();
        let agent = LinearHead::read(file, AGENTS.len());
        let (ask, offer) = (LinearHead::read(file, HIDDEN), LinearHead::read(file, HIDDEN));
        let span = LinearHead::read(file, 2);
        let scalars = file.next_floats(3);
        let cards =
            file.next_floats(CARDS * HIDDEN).chunks_exact(HIDDEN).map(<[f32]>::to_vec).collect();
        Self {
            layers,
            agent,
            ask,
            offer,
            span,
            sharpness: scalars[0],
            tool_weight: scalars[1],
            agent_weight: scalars[2],
            cards,
        }
    }
}

#[cfg(test)]
mod tests;
