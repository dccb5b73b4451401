//! Documents: ingested, listed, shown, taken out, and whole whatever happens.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::Lango;
use crate::invocation::{CommandOutput, until};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/librarian/tests/fixtures").join(name)
}

fn json(finished: &CommandOutput) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("no JSON: {finished:?}"))
}

/// Every document with its passages.
async fn kept(lango: &Lango) -> BTreeMap<String, Value> {
    let listed = lango.command(&["documents", "list", "--json", "--limit", "100000"]).run().await;
    let mut kept = BTreeMap::new();
    for document in json(&listed)["documents"].as_array().unwrap() {
        let source = document["source"].as_str().unwrap();
        let shown = json(&lango.command(&["documents", "show", source, "--json"]).run().await);
        let passages = shown["text"].as_array().unwrap().len() as u64;
        assert_eq!(document["passages"], passages, "half a document: {source}");
        kept.insert(source.to_owned(), shown["text"].clone());
    }
    kept
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_is_ingested_listed_shown_and_taken_out() {
    let lango = Lango::silent().await;
    let docs = lango.workspace().join("docs");
    fs::create_dir(&docs).unwrap();
    fs::write(docs.join("lamp.md"), "# Lamps\n\nLit at sunset.\n\n## Oil\n\nWhale oil.\n").unwrap();
    fs::copy(fixture("lighthouse.pdf"), docs.join("book.pdf")).unwrap();
    fs::copy(fixture("harbour.docx"), docs.join("harbour.docx")).unwrap();
    let first = lango.command(&["ingest", "docs"]).run().await;
    assert_eq!(first.code, 0, "{first:?}");
    assert!(
        first
            .stdout
            .starts_with("3 documents in documents: 3 new, 0 changed, 0 unchanged, 0 removed;"),
        "{first:?}"
    );
    let again = json(&lango.command(&["ingest", "docs", "--json"]).run().await);
    assert_eq!((&again["unchanged"], &again["added"]), (&3.into(), &0.into()));
    assert_eq!(again["embedded"], true);
    let listed = lango.command(&["documents", "list"]).run().await;
    assert!(listed.stdout.contains("The lighthouse handbook"), "{listed:?}");
    assert!(listed.stdout.contains("documents: 3 documents, "), "{listed:?}");
    let shown = lango.command(&["documents", "show", "docs/lamp.md"]).run().await;
    assert!(shown.stdout.contains("[lines 5-7] Lamps > Oil\nWhale oil.\n"), "{shown:?}");
    let removed = lango.command(&["documents", "remove", "docs"]).run().await;
    assert_eq!((removed.code, removed.stdout.as_str()), (0, "Removed 3 documents.\n"));
    let nothing = lango.command(&["documents", "list"]).run().await;
    assert!(nothing.stdout.contains("lango ingest PATH"), "{nothing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_listed_and_the_rest_is_there() {
    let lango = Lango::silent().await;
    let docs = lango.workspace().join("docs");
    fs::create_dir(&docs).unwrap();
    fs::copy(fixture("corrupt.pdf"), docs.join("corrupt.pdf")).unwrap();
    fs::write(docs.join("binary.md"), b"# A\n\0\0\0").unwrap();
    fs::write(docs.join("cyrillic.txt"), b"\xf3\xdf\xe5\xfb\xfc \xe5\xf9\xa3 \xfd\xf4\xe9\xc8")
        .unwrap();
    fs::File::create(docs.join("huge.txt")).unwrap().set_len(1 << 30).unwrap();
    std::os::unix::fs::symlink(&docs, docs.join("loop")).unwrap();
    fs::write(docs.join("good.md"), "good").unwrap();
    let ran = lango.command(&["ingest", "docs"]).run().await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("1 document in documents: 1 new"), "{ran:?}");
    for (name, why) in [
        ("corrupt.pdf", "it is damaged"),
        ("binary.md", "it is binary, not text"),
        ("cyrillic.txt", "its encoding is not known: save it as UTF-8"),
        ("huge.txt", "it is too large: 1073741824 bytes"),
        ("loop", "it is a link, which is not followed"),
    ] {
        assert!(ran.stdout.contains(&format!("docs/{name}: {why}")), "{name}: {ran:?}");
    }
    let none = lango.command(&["ingest", "docs/binary.md", "--json"]).run().await;
    assert_eq!(
        (none.code, &json(&none)["skipped"][0]["reason"]),
        (1, &"it is binary, not text".into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_told_with_what_to_type() {
    let lango = Lango::silent().await;
    for (arguments, says) in [
        (&["ingest", "dosc"][..], "lango documents remove dosc"),
        (&["ingest", "ftp://example.org/"], "only http: and https:"),
        (&["ingest", "README.md", "--collection", "a/b"], "is not a valid collection name"),
        (&["documents", "show", "none.md"], "lango documents list"),
        (&["documents", "remove", "none.md"], "lango documents list"),
        (&["ingest"], "--help"),
    ] {
        let ran = lango.command(arguments).run().await;
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(says), "{arguments:?}: {ran:?}");
    }
    let wordy = lango.command(&["ingest", "README.md", "--dry-run"]);
    let wordy = wordy.set("LANGO_EMBEDDING_PROVIDER", "none").run().await;
    assert!(wordy.stdout.contains("found by their words alone"), "{wordy:?}");
    let page = lango.command(&["ingest", "http://127.0.0.1:9/secret"]).run().await;
    assert!(page.code == 1 && page.stdout.contains("egress.allow"), "{page:?}");
    let pretended = lango.command(&["ingest", "README.md", "--dry-run"]).run().await;
    assert!(
        pretended.code == 0 && pretended.stdout.contains("nothing was written"),
        "{pretended:?}"
    );
    assert!(kept(&lango).await.is_empty());
}

/// Files of several passages each.
fn fill(directory: &Path, files: usize) {
    fs::create_dir_all(directory).unwrap();
    for file in 0..files {
        let sections: String = (0..8)
            .map(|part| {
                let text = format!("Sentence {part} of file {file} about the sea. ").repeat(12);
                format!("## Part {part}\n\n{text}\n\n")
            })
            .collect();
        fs::write(directory.join(format!("{file:03}.md")), format!("# File {file}\n\n{sections}"))
            .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ingest_that_is_interrupted_says_so_and_goes_on() {
    let lango = Lango::silent().await;
    fill(&lango.workspace().join("docs"), 400);
    let quickly = |arguments| lango.command(arguments).set("LANGO_EMBEDDING_PROVIDER", "none");
    let running = quickly(&["ingest", "docs", "--json"]).start();
    let database = lango.home().join("lango.db-wal");
    until("the ingest has begun", || {
        fs::metadata(&database).is_ok_and(|file| file.len() > 400_000)
    })
    .await;
    running.signal(Signal::INT);
    let ended = running.finish().await;
    let report = json(&ended);
    // It may have been faster than the signal.
    if report["cancelled"] == true {
        assert_eq!(ended.code, 130, "{ended:?}");
    }
    let done = report["added"].as_u64().unwrap();
    let rest = json(&quickly(&["ingest", "docs", "--json"]).run().await);
    assert_eq!(rest["unchanged"], done);
    assert_eq!(rest["added"], 400 - done);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_point_no_half_document_is_ever_there() {
    const FILES: usize = 24;
    let whole = Lango::silent().await;
    fill(&whole.workspace().join("docs"), FILES);
    assert_eq!(whole.command(&["ingest", "docs"]).run().await.code, 0);
    let by_name = |kept: BTreeMap<String, Value>| -> BTreeMap<String, Value> {
        let name = |source: &str| source.rsplit('/').next().unwrap().to_owned();
        kept.into_iter().map(|(source, text)| (name(&source), text)).collect()
    };
    let expected = by_name(kept(&whole).await);
    assert_eq!(expected.len(), FILES);
    let lango = Lango::silent().await;
    let docs = lango.workspace().join("docs");
    fill(&docs, FILES);
    let mut seed = 0x9e37_79b9_u64;
    let mut began = 0;
    for round in 0..25 {
        // Something changes each time, so that documents are replaced as well as added.
        let changed = docs.join(format!("{:03}.md", round % FILES));
        fs::write(&changed, format!("# Changed {round}\n\n{}", "Other text. ".repeat(300)))
            .unwrap();
        let running = lango.command(&["ingest", "docs", "-q"]).start();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Up to a second, which is about what it takes as a whole.
        tokio::time::sleep(std::time::Duration::from_millis(seed >> 54)).await;
        running.kill().await;
        let listed = json(&lango.command(&["documents", "list", "--json"]).run().await);
        began += usize::from(!listed["documents"].as_array().unwrap().is_empty());
        if round % 5 == 4 {
            // Each document is one that a file has or had, with all of its passages.
            for (name, text) in by_name(kept(&lango).await) {
                let first = text[0]["text"].as_str().unwrap();
                assert!(first.starts_with("Other text.") || text == expected[&name], "{name}");
            }
        }
    }
    assert!(began > 0, "it was always killed before it did anything");
    fill(&docs, FILES);
    assert_eq!(lango.command(&["ingest", "docs"]).run().await.code, 0);
    assert_eq!(by_name(kept(&lango).await), expected);
}

/// Tells whether a process has a helper that reads a document.
fn reads_document(parent: u32) -> bool {
    let is_child = |directory: &Path| {
        let status = fs::read_to_string(directory.join("status")).unwrap_or_default();
        let command = fs::read_to_string(directory.join("cmdline")).unwrap_or_default();
        status.contains(&format!("PPid:\t{parent}\n")) && command.contains("__read-document")
    };
    fs::read_dir("/proc").unwrap().flatten().any(|entry| is_child(&entry.path()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_is_given_up_at_any_stage() {
    let lango = Lango::silent().await;
    // Embedding it takes minutes.
    let text: String = (0..400_000).map(|n| format!("Sentence {n} of a long report. ")).collect();
    fs::write(lango.workspace().join("large.txt"), text).unwrap();
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let running = lango.command(&["ingest", "large.txt"]).start();
        let id = running.id();
        until("the file is read", || reads_document(id)).await;
        if signal == Signal::INT {
            until("the file is embedded", || !reads_document(id)).await;
        }
        running.signal(signal);
        let began = std::time::Instant::now();
        let ended = running.finish().await;
        // It takes far less than a second where nothing else runs.
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
        assert_eq!(ended.code, code, "{ended:?}");
        assert!(ended.stdout.contains("Stopped before the end"), "{ended:?}");
        assert!(kept(&lango).await.is_empty());
    }
}
