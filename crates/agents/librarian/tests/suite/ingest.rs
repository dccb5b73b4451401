//! Tests the ingest of sources into the index.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use lango_egress::{Guard, Rules};
use lango_keystore::SecretHandles;
use lango_librarian::documents::{
    IngestReport, IngestSource, Ingester, PageFetcher, ReadLimits, UnreadableReason,
    build_document_tools,
};
use lango_protocol::Space;
use lango_retrieval::{EntryKind, NewPassage, RetrievalIndex};
use lango_store::Database;
use lango_tool::{ExcludedPaths, ToolContext, ToolError, ToolRegistry};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

use crate::database::{context, on_both};
use crate::reading::{fixture, reader};

on_both! {
    unchanged_files_are_left_alone_changed_ones_replaced_and_gone_ones_removed,
    only_what_lies_below_a_directory_goes_with_it,
    what_cannot_be_read_is_listed_and_stops_nothing,
    a_dry_run_writes_nothing,
    an_ingest_that_is_stopped_goes_on_where_it_was,
    pages_are_fetched_and_follow_what_the_server_says,
    the_tools_stay_in_the_workspace,
}

pub(crate) async fn ingest(database: Database) -> Ingester {
    let retrieval = RetrievalIndex::open(database, None).await.unwrap();
    Ingester::new(retrieval, reader(), None)
}

async fn run(ingest: &Ingester, paths: &[&Path]) -> IngestReport {
    let sources: Vec<IngestSource> =
        paths.iter().map(|path| IngestSource::Path(path.into())).collect();
    let cancel = CancellationToken::new();
    ingest.run(&Space::Owner, &sources, "notes", false, &mut |_| {}, &cancel).await.unwrap()
}

/// Returns the documents of the collection, by key.
pub(crate) async fn stored_documents(ingest: &Ingester) -> BTreeMap<String, Vec<NewPassage>> {
    let retrieval = ingest.index().in_space(&Space::Owner);
    let found =
        retrieval.list_entries(EntryKind::Documents, Some("notes"), None, 1_000).await.unwrap();
    let mut stored = BTreeMap::new();
    for entry in found {
        let passages = retrieval.read_passages(&entry.key).await.unwrap();
        assert_eq!(passages.len() as u64, entry.passages, "half a document: {}", entry.key.key);
        stored.insert(entry.key.key, passages);
    }
    stored
}

async fn names(ingest: &Ingester, root: &Path) -> Vec<String> {
    let root = root.canonicalize().unwrap();
    let stored = stored_documents(ingest).await;
    let name = |key: &String| Path::new(key).strip_prefix(&root).unwrap().display().to_string();
    stored.keys().map(name).collect()
}

fn counts(report: &IngestReport) -> (u64, u64, u64, usize) {
    (report.added, report.replaced, report.unchanged, report.removed.len())
}

async fn unchanged_files_are_left_alone_changed_ones_replaced_and_gone_ones_removed(
    database: Database,
) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    fs::create_dir(root.join("sub")).unwrap();
    fs::write(root.join("one.md"), "# One\n\nThe lamp.\n").unwrap();
    fs::write(root.join("two.txt"), "The horn.").unwrap();
    fs::write(root.join("sub/three.rs"), "fn three() {}\n").unwrap();
    let ingest = ingest(database).await;
    let first = run(&ingest, &[root]).await;
    assert_eq!((counts(&first), first.passages), ((3, 0, 0, 0), 3));
    assert_eq!(names(&ingest, root).await, ["one.md", "sub/three.rs", "two.txt"]);
    assert_eq!(counts(&run(&ingest, &[root]).await), (0, 0, 3, 0));
    fs::write(root.join("two.txt"), "The bell.").unwrap();
    fs::remove_dir_all(root.join("sub")).unwrap();
    fs::write(root.join("four.md"), "Four.").unwrap();
    let changed = run(&ingest, &[root]).await;
    assert_eq!(counts(&changed), (1, 1, 1, 1));
    assert!(changed.removed[0].ends_with("sub/three.rs"));
    let stored = stored_documents(&ingest).await;
    let texts: Vec<&str> = stored.values().flatten().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, ["Four.", "The lamp.", "The bell."]);
    // A title is stored once, and a passage has its position.
    let lamp = stored.values().flatten().find(|passage| passage.text == "The lamp.").unwrap();
    assert_eq!((lamp.heading.as_str(), lamp.position.as_str()), ("One", "lines 1-3"));
}

async fn only_what_lies_below_a_directory_goes_with_it(database: Database) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for name in ["docs/a.md", "docs-old/b.md", "c.md"] {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), "text").unwrap();
    }
    let ingest = ingest(database).await;
    run(&ingest, &[root]).await;
    for name in ["docs/a.md", "docs-old/b.md", "c.md"] {
        fs::remove_file(root.join(name)).unwrap();
    }
    assert_eq!(run(&ingest, &[&root.join("docs")]).await.removed.len(), 1);
    assert_eq!(names(&ingest, root).await, ["c.md", "docs-old/b.md"]);
    // A single file that was deleted is removed when it is named.
    let named = run(&ingest, &[&root.canonicalize().unwrap().join("c.md")]).await;
    assert_eq!((named.removed.len(), named.skipped.len()), (1, 1), "{named:?}");
    assert_eq!(names(&ingest, root).await, ["docs-old/b.md"]);
}

async fn what_cannot_be_read_is_listed_and_stops_nothing(database: Database) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for name in ["corrupt.pdf", "encrypted.pdf", "harbour.docx", "lighthouse.pdf"] {
        fs::copy(fixture(name), root.join(name)).unwrap();
    }
    fs::write(root.join("binary.md"), b"# A\n\0\x01").unwrap();
    fs::write(root.join("empty.txt"), "\n").unwrap();
    fs::write(root.join("western.txt"), b"Gr\xfc\xdfe aus K\xf6ln").unwrap();
    fs::write(root.join("good.md"), "good").unwrap();
    fs::File::create(root.join("huge.txt")).unwrap().set_len(1 << 30).unwrap();
    std::os::unix::fs::symlink(root, root.join("loop")).unwrap();
    let ingest = ingest(database).await;
    let report = run(&ingest, &[root]).await;
    assert_eq!(
        names(&ingest, root).await,
        ["good.md", "harbour.docx", "lighthouse.pdf", "western.txt"]
    );
    let why: Vec<(String, &UnreadableReason)> = report
        .skipped
        .iter()
        .map(|one| (one.source.rsplit('/').next().unwrap().to_owned(), &one.reason))
        .collect();
    assert!(
        matches!(
            why.as_slice(),
            [(_, UnreadableReason::Binary), (corrupt, UnreadableReason::Corrupt { .. }), (_, UnreadableReason::Empty),
             (_, UnreadableReason::Encrypted), (huge, UnreadableReason::TooLarge { .. }), (link, _)]
            if corrupt == "corrupt.pdf" && huge == "huge.txt" && link == "loop"
        ),
        "{why:?}"
    );
    assert!(report.notes[0].note.contains("Windows-1252"), "{:?}", report.notes);
    // A file that is no document any more is removed.
    fs::write(root.join("good.md"), b"\0\0").unwrap();
    assert_eq!(run(&ingest, &[root]).await.removed.len(), 1);
    assert!(!names(&ingest, root).await.contains(&"good.md".to_owned()));
}

async fn a_dry_run_writes_nothing(database: Database) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("one.md"), "one").unwrap();
    let ingest = ingest(database).await;
    let sources = [IngestSource::Path(directory.path().into())];
    let cancel = CancellationToken::new();
    let report =
        ingest.run(&Space::Owner, &sources, "notes", true, &mut |_| {}, &cancel).await.unwrap();
    assert_eq!((report.added, report.passages), (1, 1));
    assert!(stored_documents(&ingest).await.is_empty());
}

async fn an_ingest_that_is_stopped_goes_on_where_it_was(database: Database) {
    let directory = tempfile::tempdir().unwrap();
    for number in 0..40 {
        fs::write(directory.path().join(format!("{number:02}.md")), format!("text {number}"))
            .unwrap();
    }
    let ingest = ingest(database).await;
    let sources = [IngestSource::Path(directory.path().into())];
    let cancel = CancellationToken::new();
    let mut seen = Vec::new();
    let mut stop = |progress: lango_librarian::documents::IngestProgress<'_>| {
        seen.push((progress.done, progress.total));
        if progress.done == 7 {
            cancel.cancel();
        }
    };
    let report =
        ingest.run(&Space::Owner, &sources, "notes", false, &mut stop, &cancel).await.unwrap();
    assert!(report.cancelled && report.added == 7, "{report:?}");
    assert_eq!(seen, (1..=7).map(|done| (done, 40)).collect::<Vec<_>>());
    assert_eq!(stored_documents(&ingest).await.len(), 7);
    assert_eq!(counts(&run(&ingest, &[directory.path()]).await), (33, 0, 7, 0));
}

/// Serves pages by their path until it is dropped.
pub(crate) async fn server(pages: &'static [(&'static str, &'static str)]) -> (String, Guard) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 4_096];
            let count = stream.read(&mut request).await.unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..count]).into_owned();
            let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
            let answer = pages.iter().find(|(page, _)| *page == path).map_or(
                "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                |(_, answer)| answer,
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    let allow = [format!("127.0.0.1:{}", address.port())];
    (format!("http://{address}"), Guard::new(Rules::parse(&allow, &[], &[]).unwrap()))
}

const PAGE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=iso-8859-1\r\n\
    connection: close\r\n\r\n<title>Lamps</title><nav>Menu</nav><h1>Oil</h1><p>Whale oil.</p>";
const PICTURE: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: image/png\r\nconnection: close\r\n\r\n\u{1}PNG";

async fn pages_are_fetched_and_follow_what_the_server_says(database: Database) {
    let (base, guard) = server(&[("/lamps", PAGE), ("/picture", PICTURE)]).await;
    let retrieval = RetrievalIndex::open(database, None).await.unwrap();
    let fetch = PageFetcher::new(guard, ReadLimits::default());
    let ingest = Ingester::new(retrieval.clone(), reader(), Some(fetch));
    let cancel = CancellationToken::new();
    let lamps = IngestSource::parse(&format!("{base}/lamps#oil")).unwrap();
    let sources = [lamps.clone(), IngestSource::parse(&format!("{base}/picture")).unwrap()];
    let report =
        ingest.run(&Space::Owner, &sources, "notes", false, &mut |_| {}, &cancel).await.unwrap();
    assert_eq!((report.added, report.skipped.len()), (1, 1), "{report:?}");
    assert!(matches!(report.skipped[0].reason, UnreadableReason::Unsupported { .. }));
    let stored = stored_documents(&ingest).await;
    let (key, passages) = stored.iter().next().unwrap();
    assert_eq!(*key, format!("{base}/lamps"));
    assert_eq!(
        (passages[0].text.as_str(), passages[0].heading.as_str()),
        ("Whale oil.", "Lamps > Oil")
    );
    // Without permission, an address of this machine is not reached.
    let refused = PageFetcher::new(Guard::new(Rules::default()), ReadLimits::default());
    let other = Ingester::new(retrieval.clone(), reader(), Some(refused));
    let report =
        other.run(&Space::Owner, &[lamps], "notes", false, &mut |_| {}, &cancel).await.unwrap();
    assert!(report.failed() && report.skipped[0].reason.to_string().contains("egress.allow"));
    assert_eq!(crate::ingest::stored_documents(&ingest).await.len(), 1);
}

async fn the_tools_stay_in_the_workspace(database: Database) {
    let directory = tempfile::tempdir().unwrap();
    let (workspace, outside) = (directory.path().join("work"), directory.path().join("out"));
    fs::create_dir_all(&workspace).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret.md"), "secret").unwrap();
    fs::write(workspace.join("one.md"), "# One\n\none").unwrap();
    fs::write(workspace.join("binary.md"), b"\0").unwrap();
    std::os::unix::fs::symlink(&outside, workspace.join("way")).unwrap();
    let mut registry = ToolRegistry::new();
    for tool in build_document_tools(
        &ingest(database).await,
        workspace.clone(),
        Arc::default(),
        SecretHandles::default(),
    ) {
        registry.add_registered(tool).unwrap();
    }
    let call = async |name: &str, arguments: &str| {
        registry.get(name).unwrap().prepare(arguments)?.run(context()).await
    };
    let result = call("rag_ingest", r#"{"path": ".", "collection": "notes"}"#).await.unwrap();
    let result: serde_json::Value = serde_json::from_str(&result.text).unwrap();
    assert_eq!((&result["documents"], &result["passages"]), (&1.into(), &1.into()), "{result}");
    assert_eq!(result["skipped"].as_array().unwrap().len(), 2, "{result}");
    let secret = serde_json::json!({ "path": outside.join("secret.md") }).to_string();
    for arguments in [
        r#"{"path": "way/secret.md"}"#,
        r#"{"path": "../out/secret.md"}"#,
        r#"{"path": "/etc"}"#,
        &secret,
    ] {
        let refused = call("rag_ingest", arguments).await.unwrap_err();
        assert!(matches!(refused, ToolError::Forbidden(_)), "{arguments}: {refused}");
    }
    for arguments in [
        r#"{"url": "file:///etc/passwd"}"#,
        "{}",
        r#"{"path": "a", "url": "http://b"}"#,
        r#"{"path": "one.md", "collection": "../x"}"#,
    ] {
        let refused = call("rag_ingest", arguments).await.unwrap_err();
        assert!(matches!(refused, ToolError::Arguments(_)), "{arguments}: {refused}");
    }
    // What a rule names is left out, whatever the path of the call is.
    fs::create_dir_all(workspace.join("secrets/deep")).unwrap();
    fs::write(workspace.join("secrets/deep/key.md"), "# Key").unwrap();
    for path in [".", "secrets/deep"] {
        let excluded = ExcludedPaths::new(|path| path == Path::new("secrets/deep"));
        let arguments = serde_json::json!({ "path": path, "collection": "notes" }).to_string();
        let prepared = registry.get("rag_ingest").unwrap().prepare(&arguments).unwrap();
        match prepared.run(ToolContext { excluded, ..context() }).await {
            Ok(result) => {
                assert!(result.text.contains("a rule keeps it from being read"), "{result:?}");
            }
            Err(error) => assert!(matches!(error, ToolError::Forbidden(_)), "{error}"),
        }
    }
    let list = call("rag_list", "").await.unwrap();
    let list: serde_json::Value = serde_json::from_str(&list.text).unwrap();
    assert_eq!(list["collections"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(list["documents"][0]["title"], "One");
    assert_eq!(list["more"], false);
}
