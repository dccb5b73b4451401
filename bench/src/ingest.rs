//! Measures what reading many files costs: memory above all, because it must not grow with their
//! number.
//!
//! The binary itself ingests directories of Markdown files, with the model that is part of it, and the
//! kernel says how much memory it had at most.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::{figures, finish};

/// Words of one file, under two headings.
const WORDS: usize = 60;

pub(crate) fn measure() -> Result<()> {
    let binary = std::env::current_exe()?.with_file_name("lango");
    let mut table = figures::Table::default();
    for files in [1_000, 10_000] {
        let directory = tempfile::tempdir()?;
        write_files(directory.path(), files)?;
        let (peak, spent) = ingest(&binary, directory.path(), files)?;
        let limit = (files == 10_000).then_some(300.0);
        table.add(&format!("{files} Markdown files, most memory, MB"), limit, vec![peak]);
        #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
        let each = spent / files as f64;
        table.add(&format!("{files} Markdown files, CPU-ms for each"), None, vec![each]);
    }
    finish(&table)
}

fn write_files(directory: &Path, files: usize) -> Result<()> {
    let mut chance = crate::retrieval::Chance::new(3);
    for number in 0..files {
        let folder = directory.join(format!("notes/{}", number / 100));
        fs::create_dir_all(&folder)?;
        let (first, second) = (chance.words(WORDS / 2), chance.words(WORDS / 2));
        let text = format!("# Note {number}\n\n{first}.\n\n## More\n\n{second}.\n");
        fs::write(folder.join(format!("{number}.md")), text)?;
    }
    Ok(())
}

/// The most memory in megabytes, and the CPU time in milliseconds.
fn ingest(binary: &Path, directory: &Path, files: usize) -> Result<(f64, f64)> {
    let before = crate::sandbox::cpu()?;
    let mut child = Command::new(binary)
        .args(["ingest", "notes", "--quiet", "--json"])
        .current_dir(directory)
        .env_clear()
        .env("LANGO_HOME", directory.join("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0_f64;
    // The kernel forgets the figure with the process, so it is read until the end.
    let ended = loop {
        if let Ok(text) = fs::read_to_string(&status) {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
            peak = peak.max(kilobytes.unwrap_or(0.0) / 1024.0);
        }
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().context("no output")?, &mut said)?;
    ensure!(ended.success(), "the ingest failed: {said}");
    let report: serde_json::Value = serde_json::from_str(&said)?;
    ensure!(report["added"] == files, "not all files were read: {said}");
    Ok((peak, crate::sandbox::cpu()? - before))
}
