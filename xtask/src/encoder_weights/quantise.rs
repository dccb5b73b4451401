//! The file that the encoder carries: what is in it, in which order, and how matrices are rounded.
//!
//! `crates/encoder/weights/README.md` describes the layout for readers, and
//! `crates/encoder/src/weights.rs` reads it.

use anyhow::{Result, ensure};

use super::tensors::Tensors;

const MAGIC: &[u8; 8] = b"LANGOENC";
const VERSION: u32 = 1;
const VOCABULARY: usize = 30_522;
const POSITIONS: usize = 512;
const HIDDEN: usize = 384;
const INTERMEDIATE: usize = 1536;
const LAYERS: usize = 6;
const HEADS: usize = 12;
const EPSILON: f32 = 1e-12;
/// Sections begin at multiples of this, so that no row of a panel lies across two cache lines.
const ALIGNMENT: usize = 64;
/// Outputs that lie side by side in a panel.
const PANEL: usize = 16;
/// The largest whole number that a weight becomes.
const LARGEST: f32 = 127.0;

/// The whole file.
pub(crate) fn file(tensors: &Tensors<'_>) -> Result<Vec<u8>> {
    let mut file = MAGIC.to_vec();
    let sizes = [VOCABULARY, POSITIONS, HIDDEN, INTERMEDIATE, LAYERS, HEADS];
    file.extend(VERSION.to_le_bytes());
    for size in sizes {
        file.extend(u32::try_from(size)?.to_le_bytes());
    }
    file.extend(EPSILON.to_le_bytes());

    let words = tensors.get("embeddings.word_embeddings.weight", &[VOCABULARY, HIDDEN])?;
    let (scales, words) = rounded(&words, HIDDEN);
    floats(&mut file, &scales);
    section(&mut file, words.iter().map(|weight| weight.cast_unsigned()));
    floats(&mut file, &places(tensors)?);
    norm(&mut file, tensors, "embeddings.LayerNorm")?;
    for layer in 0..LAYERS {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let attention =
            ["query", "key", "value"].map(|part| name(&format!("attention.self.{part}")));
        linear(&mut file, tensors, &attention, HIDDEN, HIDDEN)?;
        linear(&mut file, tensors, &[name("attention.output.dense")], HIDDEN, HIDDEN)?;
        norm(&mut file, tensors, &name("attention.output.LayerNorm"))?;
        linear(&mut file, tensors, &[name("intermediate.dense")], HIDDEN, INTERMEDIATE)?;
        linear(&mut file, tensors, &[name("output.dense")], INTERMEDIATE, HIDDEN)?;
        norm(&mut file, tensors, &name("output.LayerNorm"))?;
    }
    Ok(file)
}

/// Returns what is added for the place of a token. The model also adds a vector for the first or
/// second of two texts; there is only ever one here, so it is in the sum already.
fn places(tensors: &Tensors<'_>) -> Result<Vec<f32>> {
    let mut places = tensors.get("embeddings.position_embeddings.weight", &[POSITIONS, HIDDEN])?;
    let kinds = tensors.get("embeddings.token_type_embeddings.weight", &[2, HIDDEN])?;
    for row in places.chunks_exact_mut(HIDDEN) {
        for (place, kind) in row.iter_mut().zip(&kinds) {
            *place += kind;
        }
    }
    Ok(places)
}

fn norm(file: &mut Vec<u8>, tensors: &Tensors<'_>, name: &str) -> Result<()> {
    for part in ["weight", "bias"] {
        floats(file, &tensors.get(&format!("{name}.{part}"), &[HIDDEN])?);
    }
    Ok(())
}

/// Layers that see the same input, one below the other: scales, biases, panels.
fn linear(
    file: &mut Vec<u8>,
    tensors: &Tensors<'_>,
    names: &[String],
    inputs: usize,
    outputs: usize,
) -> Result<()> {
    let (mut weights, mut biases) = (Vec::new(), Vec::new());
    for name in names {
        weights.extend(tensors.get(&format!("{name}.weight"), &[outputs, inputs])?);
        biases.extend(tensors.get(&format!("{name}.bias"), &[outputs])?);
    }
    let (scales, rounded) = rounded(&weights, inputs);
    floats(file, &scales);
    floats(file, &biases);
    section(file, panels(&rounded, inputs)?.into_iter().map(i8::cast_unsigned));
    Ok(())
}

/// Each row as whole numbers and what they are to be multiplied with.
#[expect(clippy::cast_possible_truncation, reason = "at most 127, by the scale")]
fn rounded(weights: &[f32], columns: usize) -> (Vec<f32>, Vec<i8>) {
    let (mut scales, mut whole) = (Vec::new(), Vec::new());
    for row in weights.chunks_exact(columns) {
        let largest = row.iter().fold(0_f32, |largest, weight| largest.max(weight.abs()));
        // A row of zeros stays one.
        let scale = if largest > 0.0 { largest / LARGEST } else { 1.0 };
        scales.push(scale);
        whole.extend(
            row.iter()
                .map(|weight| (weight / scale).round_ties_even().clamp(-LARGEST, LARGEST) as i8),
        );
    }
    (scales, whole)
}

/// Rows in the order in which the encoder multiplies: sixteen outputs side by side, two inputs each.
fn panels(weights: &[i8], inputs: usize) -> Result<Vec<i8>> {
    let outputs = weights.len() / inputs;
    ensure!(outputs.is_multiple_of(PANEL) && inputs.is_multiple_of(2), "no whole panels");
    let mut packed = Vec::with_capacity(weights.len());
    for panel in weights.chunks_exact(PANEL * inputs) {
        for pair in 0..inputs / 2 {
            for output in panel.chunks_exact(inputs) {
                packed.extend_from_slice(&output[2 * pair..2 * pair + 2]);
            }
        }
    }
    Ok(packed)
}

fn floats(file: &mut Vec<u8>, numbers: &[f32]) {
    section(file, numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn section(file: &mut Vec<u8>, bytes: impl Iterator<Item = u8>) {
    file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
    file.extend(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_rounded_to_its_own_scale() {
        let (scales, whole) = rounded(&[1.0, -2.0, 0.5, 0.0, 0.0, 0.0], 3);
        assert_eq!(scales, [2.0 / 127.0, 1.0]);
        assert_eq!(whole, [64, -127, 32, 0, 0, 0]);
    }

    #[test]
    fn a_panel_has_two_inputs_of_sixteen_outputs_side_by_side() {
        let weights: Vec<i8> = (0..32_i8).flat_map(|output| [output, -output, 1, 2]).collect();
        let packed = panels(&weights, 4).unwrap();
        assert_eq!(packed.len(), weights.len());
        assert_eq!(packed[..6], [0, 0, 1, -1, 2, -2]);
        assert_eq!(packed[32..36], [1, 2, 1, 2]);
        assert_eq!(packed[64..66], [16, -16]);
        assert!(panels(&weights[..60], 4).is_err());
    }

    #[test]
    fn a_section_begins_at_a_multiple_of_sixty_four() {
        let mut file = vec![7; 3];
        floats(&mut file, &[1.0]);
        assert_eq!(file.len(), 68);
        assert_eq!(file[3..64], [0; 61]);
    }
}
