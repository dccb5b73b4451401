//! Writes the vectors of the questions in `docs/help.md`, which the program compares questions with:
//! `cargo run -p lango-embedded --example write_help_vectors`.

fn main() -> std::io::Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/weights/help.q8");
    std::fs::write(path, lango_embedded::encode_help_page())
}
