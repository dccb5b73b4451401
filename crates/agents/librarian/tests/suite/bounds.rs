//! Tests that hostile texts cost bounded memory, and that an ingest ends soon after it is cancelled.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lango_librarian::documents::{
    DocumentReader, FileContent, IngestSource, Ingester, MAX_PASSAGE_COUNT, ReadLimits,
    UnreadableReason,
};
use lango_protocol::Space;
use lango_retrieval::{
    EmbedFuture, Embedder, EmbeddingModel, EmbeddingPurpose, EntryKey, EntryKind, NewEntry,
    NewPassage, RetrievalIndex,
};
use lango_store::Database;
use tokio_util::sync::CancellationToken;

use crate::database::on_both;
use crate::ingest::{ingest, stored_documents};
use crate::reading::reader;

on_both! {
    an_ingest_that_embeds_is_cancelled_and_leaves_no_half_document,
    an_ingest_that_writes_is_cancelled_and_leaves_the_document_as_it_was,
}

/// Bounds how long an ingest takes to end that would need minutes. It is far above what it takes.
const ENDING_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the largest resident memory of this process so far, in MiB.
fn peak_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// Reads a text and returns its passages.
async fn read(name: &str, text: String) -> Result<usize, UnreadableReason> {
    let content =
        FileContent { name: name.to_owned(), content_type: None, bytes: text.into_bytes() };
    reader().read(content).await.map(|document| document.passages.len())
}

fn fill(part: &str) -> String {
    part.repeat(4 * 1024 * 1024 / part.len())
}

#[tokio::test]
async fn hostile_markdown_costs_bounded_memory_in_this_process() {
    let nested: String = (0..100_000).map(|n| "> ".repeat(n % 20) + "- a\n").collect();
    check_memory(vec![
        ("headings.md", fill("# a\n")),
        ("lists.md", fill("- a\n  - b\n    - c\n")),
        ("quotes.md", nested),
        ("links.md", fill("[a](b)[c][d]![e](f)\n")),
        ("tables.md", format!("| a | b |\n|---|---|\n{}", fill("| 1 | 2 |\n"))),
    ])
    .await;
}

#[tokio::test]
async fn other_hostile_texts_cost_bounded_memory_in_this_process() {
    check_memory(vec![
        ("levels.md", "# a\n## b\n### c\n".repeat(50_000)),
        ("references.md", "[a]: b\n\n".repeat(100_000)),
        ("brackets.md", "[".repeat(1_000_000)),
        ("stars.md", "*a_ ".repeat(200_000)),
        ("page.html", "<h1>a</h1><p>b<table><tr><td>c".repeat(30_000)),
        ("words.txt", fill("a ")),
        ("code.rs", "a\n\n".repeat(300_000)),
    ])
    .await;
}

async fn check_memory(texts: Vec<(&str, String)>) {
    let before = peak_mib();
    for (name, text) in texts {
        // Either it has a sensible number of passages, or it is refused with a reason.
        match read(name, text).await {
            Ok(passages) => assert!(passages <= MAX_PASSAGE_COUNT, "{name}: {passages}"),
            Err(reason) => assert!(
                matches!(
                    reason,
                    UnreadableReason::TooManyPassages { .. } | UnreadableReason::Exhausted { .. }
                ),
                "{name}: {reason}"
            ),
        }
        let grown = peak_mib().saturating_sub(before);
        assert!(grown < 400, "{name} took {grown} MiB");
    }
}

#[tokio::test]
async fn many_headings_become_few_passages() {
    let passages = read("headings.md", "# a\n".repeat(1024 * 1024)).await.unwrap();
    assert!(passages < 20_000, "{passages}");
}

#[tokio::test]
async fn one_line_of_32_mebibytes_costs_bounded_memory() {
    let before = peak_mib();
    let word = "abcdefgh".repeat(4 * 1024 * 1024);
    assert!((10_000..MAX_PASSAGE_COUNT).contains(&read("line.txt", word).await.unwrap()));
    let grown = peak_mib().saturating_sub(before);
    assert!(grown < 600, "{grown} MiB");
}

#[tokio::test]
async fn a_document_of_too_many_passages_is_refused_with_what_to_do() {
    let section = "# Heading\n\nA text that is long enough to be a section.\n\n";
    let reason = read("many.md", section.repeat(MAX_PASSAGE_COUNT + 1)).await.unwrap_err();
    assert_eq!(reason, UnreadableReason::TooManyPassages { most: MAX_PASSAGE_COUNT });
    assert!(reason.to_string().contains("split it into smaller files"));
}

#[tokio::test]
async fn dropping_a_read_ends_its_helper() {
    // Links that never close take long to parse.
    let reading = read("links.md", "[a](".repeat(8 * 1024 * 1024));
    let begun = Instant::now();
    let ended = tokio::time::timeout(Duration::from_millis(300), reading).await;
    assert!(begun.elapsed() < ENDING_TIMEOUT);
    if ended.is_err() {
        let deadline = Instant::now() + ENDING_TIMEOUT;
        while has_reading_child() {
            assert!(Instant::now() < deadline, "the helper still runs");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test]
async fn a_text_that_is_not_short_is_read_in_a_helper_that_ends_with_the_read() {
    // A helper that says that it runs, and never answers.
    let directory = tempfile::tempdir().unwrap();
    let (program, begun) = (directory.path().join("helper"), directory.path().join("begun"));
    let script = format!("#!/bin/sh\necho $$ > '{}'\nexec /bin/sleep 600\n", begun.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let reader = DocumentReader::new(program, ReadLimits::default());
    let bytes = fill("a word ").into_bytes();
    let content = FileContent { name: "words.txt".to_owned(), content_type: None, bytes };
    let reading = tokio::spawn(async move { reader.read(content).await.map(drop) });
    let helper = until(|| {
        assert!(!reading.is_finished(), "it was read without a helper");
        let text = fs::read_to_string(&begun).unwrap_or_default();
        text.strip_suffix('\n').map(|id| Path::new("/proc").join(id))
    });
    let helper = helper.await;
    reading.abort();
    let has_ended = || {
        let status = fs::read_to_string(helper.join("status")).unwrap_or_default();
        (status.is_empty() || status.contains("State:\tZ")).then_some(())
    };
    until(has_ended).await;
}

/// Waits for a condition.
async fn until<T>(mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + ENDING_TIMEOUT;
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(Instant::now() < deadline, "it does not come");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Tells whether a helper of this process reads Markdown and has not ended.
fn has_reading_child() -> bool {
    let own = format!("PPid:\t{}\n", std::process::id());
    let is_child = |directory: &Path| {
        let status = fs::read_to_string(directory.join("status")).unwrap_or_default();
        let command = fs::read_to_string(directory.join("cmdline")).unwrap_or_default();
        status.contains(&own) && !status.contains("State:\tZ") && command.contains("markdown")
    };
    fs::read_dir("/proc").unwrap().flatten().any(|entry| is_child(&entry.path()))
}

/// Embeds one batch, and then waits for ever.
struct EndlessEmbedder {
    model: EmbeddingModel,
    began: Arc<AtomicBool>,
}

impl Embedder for EndlessEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn batch(&self) -> usize {
        4
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: EmbeddingPurpose) -> EmbedFuture<'a> {
        Box::pin(async move {
            if self.began.swap(true, Ordering::AcqRel) {
                std::future::pending::<()>().await;
            }
            Ok(texts.iter().map(|_| vec![1.0, 0.0]).collect())
        })
    }
}

/// Runs an ingest of a directory, and cancels it once `is_due`.
async fn run_until(ingest: &Ingester, root: &Path, is_due: impl Fn() -> bool) -> bool {
    let cancel = CancellationToken::new();
    let sources = [IngestSource::Path(root.into())];
    let mut ignore = |_: lango_librarian::documents::IngestProgress<'_>| {};
    let running = ingest.run(&Space::Owner, &sources, "notes", false, &mut ignore, &cancel);
    let cancelling = async {
        while !is_due() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        cancel.cancel();
    };
    let both = async { tokio::join!(running, cancelling).0 };
    tokio::time::timeout(ENDING_TIMEOUT, both).await.unwrap().unwrap().cancelled
}

async fn an_ingest_that_embeds_is_cancelled_and_leaves_no_half_document(database: Database) {
    let directory = tempfile::tempdir().unwrap();
    let text: String = (0..1_000).map(|n| format!("Lamp number {n} is lit. ")).collect();
    fs::write(directory.path().join("a.txt"), text).unwrap();
    let began = Arc::new(AtomicBool::new(false));
    let model = EmbeddingModel { name: "endless".to_owned() };
    let embedder = EndlessEmbedder { model, began: Arc::clone(&began) };
    let retrieval = RetrievalIndex::open(database, Some(Arc::new(embedder))).await.unwrap();
    let ingest = Ingester::new(retrieval, reader(), None);
    assert!(run_until(&ingest, directory.path(), || began.load(Ordering::Acquire)).await);
    assert!(stored_documents(&ingest).await.is_empty());
}

async fn an_ingest_that_writes_is_cancelled_and_leaves_the_document_as_it_was(database: Database) {
    let ingest = ingest(database).await;
    let retrieval = &ingest.index().in_space(&Space::Owner);
    let passage =
        |text: String| NewPassage { heading: String::new(), text, position: String::new() };
    let entry = |digest: &str, count: usize| NewEntry {
        key: EntryKey::new(EntryKind::Documents, "notes", "a.txt"),
        title: "a".to_owned(),
        source: "a.txt".to_owned(),
        digest: digest.to_owned(),
        passages: (0..count).map(|n| passage(format!("{digest} passage {n}"))).collect(),
    };
    retrieval.put_entry(&entry("first", 3)).await.unwrap();
    // It is cancelled at several points of the write; whichever it meets, the document is whole.
    for delay in [0, 1, 5, 20, 80] {
        let cancel = CancellationToken::new();
        let next = entry(&format!("after {delay}"), 3_000);
        let writing = retrieval.put_entry_unless_cancelled(&next, &cancel);
        let cancelling = async {
            tokio::time::sleep(Duration::from_millis(delay)).await;
            cancel.cancel();
        };
        let (written, ()) = tokio::join!(writing, cancelling);
        let stored = &stored_documents(&ingest).await["a.txt"];
        match written {
            Ok(_) => {
                assert_eq!(stored.len(), 3_000);
                assert!(stored.iter().all(|one| one.text.starts_with(&next.digest)));
                retrieval.put_entry(&entry("first", 3)).await.unwrap();
            }
            Err(lango_retrieval::RetrievalError::Cancelled) => {
                assert_eq!(stored.len(), 3);
                assert!(stored.iter().all(|one| one.text.starts_with("first")));
            }
            Err(error) => panic!("{error}"),
        }
    }
    // Other writes go on.
    retrieval.put_entry(&entry("last", 2)).await.unwrap();
}
