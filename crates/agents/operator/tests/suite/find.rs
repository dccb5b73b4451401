use std::time::{Duration, SystemTime};

use lango_operator::OperatorSettings;
use lango_protocol::{CallReport, ReportDetails};
use lango_tool::ToolError;
use serde_json::{Value, json};

use crate::support::Bench;

/// Sets how long ago a file was changed.
fn age(bench: &Bench, name: &str, hours: u64) {
    let file = std::fs::File::options().write(true).open(bench.path(name)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
}

async fn bench() -> Bench {
    let bench = Bench::new().await;
    bench.put("Report 2026.PDF", "x".repeat(3000));
    bench.put("notes.txt", "a\n");
    bench.put("photos/beach.jpg", "x".repeat(2_000_000));
    bench.put("photos/old/forest.jpeg", "x".repeat(1500));
    bench.put("src/main.rs", "fn main() {}\n");
    bench.put("src/deep/report.md", "# Report\n");
    bench
}

/// Returns the paths that a call reports.
fn paths(report: &CallReport) -> Vec<String> {
    report.files().unwrap().paths
}

async fn found(bench: &Bench, arguments: Value) -> Vec<String> {
    paths(&bench.report("fs_find", arguments).await)
}

#[tokio::test]
async fn files_are_found_by_name_in_all_subdirectories() {
    let bench = bench().await;
    for (arguments, expected) in [
        (json!({"glob": "report"}), vec!["Report 2026.PDF", "src/deep/report.md"]),
        (json!({"glob": "*.pdf"}), vec!["Report 2026.PDF"]),
        (json!({"glob": "src/**/*.MD"}), vec!["src/deep/report.md"]),
        (json!({"glob": "*.{md,rs}", "path": "src"}), vec!["src/deep/report.md", "src/main.rs"]),
        (json!({"glob": "deep/*", "path": "src"}), vec!["src/deep/report.md"]),
        (json!({"glob": "photo"}), vec!["photos"]),
        (json!({"glob": "photo", "kind": "file"}), vec![]),
        (json!({"glob": "old", "kind": "directory"}), vec!["photos/old"]),
    ] {
        assert_eq!(found(&bench, arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn files_are_found_by_kind_size_and_time() {
    let bench = bench().await;
    age(&bench, "notes.txt", 24 * 400);
    age(&bench, "src/main.rs", 3);
    age(&bench, "photos/old/forest.jpeg", 30);
    for (arguments, expected) in [
        (json!({"kind": "image"}), vec!["photos/beach.jpg", "photos/old/forest.jpeg"]),
        (json!({"kind": "image", "min_size": "1mb"}), vec!["photos/beach.jpg"]),
        (json!({"kind": "image", "max_size": 1500}), vec!["photos/old/forest.jpeg"]),
        (json!({"kind": "code"}), vec!["src/main.rs"]),
        (
            json!({"min_size": "1 KiB", "max_size": "1 MB"}),
            vec!["Report 2026.PDF", "photos/old/forest.jpeg"],
        ),
        (json!({"changed_before": "24h"}), vec!["notes.txt", "photos/old/forest.jpeg"]),
        (json!({"changed_before": "1y"}), vec!["notes.txt"]),
        (
            json!({"changed_after": "2 days", "changed_before": "2h"}),
            vec!["photos/old/forest.jpeg", "src/main.rs"],
        ),
        (json!({"changed_before": "2001-01-01"}), vec![]),
    ] {
        assert_eq!(found(&bench, arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn what_is_found_is_ordered_counted_and_bounded() {
    let bench = bench().await;
    for (name, hours) in [
        ("notes.txt", 1),
        ("src/main.rs", 2),
        ("photos/beach.jpg", 3),
        ("Report 2026.PDF", 4),
        ("src/deep/report.md", 5),
        ("photos/old/forest.jpeg", 6),
    ] {
        age(&bench, name, hours);
    }
    let order = async |sort: &str, reverse: bool| {
        let found = found(&bench, json!({"sort": sort, "reverse": reverse, "limit": 2}));
        found.await
    };
    assert_eq!(order("size", false).await, ["photos/beach.jpg", "Report 2026.PDF"]);
    assert_eq!(order("size", true).await, ["notes.txt", "src/deep/report.md"]);
    assert_eq!(order("changed", false).await, ["notes.txt", "src/main.rs"]);
    assert_eq!(order("changed", true).await, ["photos/old/forest.jpeg", "src/deep/report.md"]);
    assert_eq!(order("name", false).await, ["Report 2026.PDF", "notes.txt"]);
    let text = bench.call("fs_find", json!({"sort": "size", "limit": 1})).await.unwrap();
    let (total, entry) = text.split_once('\n').unwrap();
    assert_eq!(total, "6 files found, 2004524 bytes in all; the first 1 are shown");
    assert!(entry.starts_with("file        2000000 20") && entry.ends_with("Z photos/beach.jpg"));
    let text = bench.call("fs_find", json!({"kind": "image", "count": true})).await.unwrap();
    assert_eq!(text, "2 images found, 2001500 bytes in all");
    let settings = OperatorSettings { max_find_entries: 3, ..OperatorSettings::default() };
    let small = Bench::with(settings).await;
    for name in ["a", "b", "c", "d"] {
        small.put(name, "");
    }
    let text = small.call("fs_find", json!({})).await.unwrap();
    assert!(text.starts_with("3 files found, 0 bytes in all; stopped after 3 entries;"), "{text}");
}

#[tokio::test]
async fn directories_are_found_with_the_size_of_all_in_them() {
    let bench = bench().await;
    bench.put(".gitignore", "build/\n*.log\n");
    bench.put("build/out/large.bin", "x".repeat(5_000_000));
    bench.put("src/x.log", "x".repeat(100));
    let report = bench.report("fs_find", json!({"kind": "directory", "sort": "size"})).await;
    // What is ignored takes up space as well, but is shown as a whole.
    assert_eq!(paths(&report), ["build", "photos", "photos/old", "src", "src/deep"]);
    let entries = &report.data.as_ref().unwrap()["entries"];
    let sizes: Vec<u64> = (0..5).map(|at| entries[at]["size"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [5_000_000, 2_001_500, 1500, 122, 9]);
    assert_eq!(report.summary, "5 directories in the workspace:");
    let items = "- `build/`, 5 MB\n- `photos/`, 2 MB\n- `photos/old/`, 1.5 kB\n- `src/`, 122 bytes\n\
                 - `src/deep/`, 9 bytes";
    assert_eq!(report.details, Some(ReportDetails::Markdown(items.to_owned())));
}

#[tokio::test]
async fn what_git_ignores_or_a_rule_names_is_left_out() {
    let bench = bench().await;
    bench.put(".gitignore", "build/\n*.log\n");
    bench.put("build/main.rs", "");
    bench.put("a.log", "");
    bench.put(".git/config", "");
    bench.link("notes.txt", "link.txt");
    bench.link("photos", "album");
    let code = json!({"kind": "code"});
    assert_eq!(found(&bench, code.clone()).await, ["src/main.rs"]);
    assert_eq!(found(&bench, json!({"glob": "*.log"})).await, [""; 0]);
    assert_eq!(found(&bench, json!({"glob": "config"})).await, [""; 0]);
    assert_eq!(found(&bench, json!({"path": "build"})).await, ["build/main.rs"]);
    assert_eq!(found(&bench, json!({"glob": "link"})).await, ["link.txt"]);
    let text = bench.call_without("fs_find", code, |path| path.starts_with("src")).await.unwrap();
    assert_eq!(text, "0 source files found; 1 left out by a rule");
}

#[tokio::test]
async fn keys_are_neither_found_nor_counted() {
    let bench = Bench::in_home().await;
    bench.put(".ssh/id_ed25519", "x".repeat(5000));
    bench.put("notes/todo.md", "x");
    bench.link(".ssh", "way");
    for arguments in [json!({}), json!({"glob": "id_ed25519"}), json!({"kind": "directory"})] {
        let report = bench.report("fs_find", arguments.clone()).await;
        let data = report.data.unwrap().to_string();
        assert!(!data.contains("id_ed25519") && !data.contains(".ssh"), "{arguments}: {data}");
        assert!(!data.contains("5000"), "{arguments}: {data}");
    }
    for path in [".ssh", "way", "notes/../.ssh"] {
        let result = bench.call("fs_find", json!({"path": path})).await;
        assert!(matches!(result, Err(ToolError::Forbidden(_))), "{path}: {result:?}");
    }
}

#[tokio::test]
async fn arguments_that_say_nothing_are_refused() {
    let bench = Bench::new().await;
    for arguments in [
        json!({"min_size": "large"}),
        json!({"changed_after": "soon"}),
        json!({"kind": "recipe"}),
        json!({"glob": "{"}),
        json!({"sort": "colour"}),
        json!({"name": "x"}),
    ] {
        let result = bench.call("fs_find", arguments.clone()).await;
        assert!(matches!(result, Err(ToolError::Arguments(_))), "{arguments}: {result:?}");
    }
    bench.put("file", "");
    assert!(bench.failure("fs_find", json!({"path": "file"})).await.contains("not a directory"));
    assert!(bench.failure("fs_find", json!({"path": "none"})).await.contains("does not exist"));
    let report = bench.report("fs_find", json!({"kind": "video"})).await;
    assert_eq!(report.summary, "0 videos in the workspace.");
}
