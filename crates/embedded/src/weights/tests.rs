use sha2::{Digest as _, Sha256};

use super::*;

#[test]
fn the_sections_fill_the_file() {
    let mut file = WeightSections::new(&FILE.0, HEADER);
    let weights = EmbeddedWeights::read(&mut file);
    assert!(file.is_at_end());
    for card in &weights.cards {
        assert!((dot_product(card, card) - 1.0).abs() < 1e-3);
    }
    assert_eq!(weights.cards.len(), CARDS);
    let scalars = [weights.sharpness, weights.tool_weight, weights.agent_weight];
    assert!(scalars.iter().all(|scalar| scalar.is_finite() && *scalar > 0.0), "{scalars:?}");
}

#[test]
fn the_shipped_files_are_the_documented_ones() {
    let readme = include_str!("../../weights/README.md");
    let tools = include_bytes!("../../weights/tools.json");
    for (name, bytes) in [("model.q8", FILE.0.as_slice()), ("tools.json", tools.as_slice())] {
        let digest: String = lango_text::hex(Sha256::digest(bytes));
        assert!(readme.contains(&format!("{digest}  {name}")), "{name} is {digest}");
    }
}
