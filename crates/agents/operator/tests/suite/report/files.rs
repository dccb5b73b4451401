//! Tests the reports of files that were read.

use lango_operator::OperatorSettings;
use lango_protocol::ReportDetails;
use serde_json::json;

use super::{parts, verbatim};
use crate::support::Bench;

#[tokio::test]
async fn a_listing_is_a_list_of_names() {
    let bench = Bench::new().await;
    bench.put("blob.bin", b"\0\x01\x02");
    bench.put("my notes.md", "x".repeat(63));
    bench.put("one", "1");
    bench.link("notes.md", "here");
    std::fs::create_dir(bench.path("empty")).unwrap();
    let report = bench.report("fs_list", json!({"path": "."})).await;
    let items = "- `blob.bin`, 3 bytes\n\
                 - `empty/`\n\
                 - `here -> notes.md` (link)\n\
                 - `my notes.md`, 63 bytes\n\
                 - `one`, 1 byte";
    let items = ReportDetails::Markdown(items.to_owned());
    assert_eq!(parts(&report), ("5 entries in the workspace:", Some(&items), vec![]));
    let data = report.data.unwrap();
    assert_eq!((&data["path"], &data["cut"]), (&json!("."), &json!(false)));
    let link = &data["entries"][2];
    assert_eq!(
        (&link["name"], &link["kind"], &link["link"]),
        (&json!("here"), &json!("link"), &json!("notes.md"))
    );

    let report = bench.report("fs_list", json!({"path": "empty"})).await;
    assert_eq!(parts(&report), ("There is nothing in `empty`.", None, vec![]));

    let settings = OperatorSettings { max_list_entries: 1, ..OperatorSettings::default() };
    let bench = Bench::with(settings).await;
    bench.put("a/b", "1");
    bench.put("a/c", "1");
    let report = bench.report("fs_list", json!({"path": "a"})).await;
    let items = ReportDetails::Markdown("- `b`, 1 byte".to_owned());
    let summary = "The first 1 entry in `a`; there are more:";
    assert_eq!(parts(&report), (summary, Some(&items), vec![]));
}

#[tokio::test]
async fn a_file_is_shown_to_the_letter() {
    let bench = Bench::new().await;
    let text = "# Garden\n\nThe garden needs water twice a week.\nTODO buy a hose\n";
    bench.put("notes.md", text);
    let report = bench.report("fs_read", json!({"path": "notes.md"})).await;
    assert_eq!(parts(&report), ("`notes.md` (4 lines):", Some(&verbatim(text)), vec![]));
    let range = json!({"paths": ["notes.md"], "path": "notes.md", "first_line": 1, "last_line": 4,
        "total_lines": 4});
    assert_eq!(report.data, Some(range), "no content in the data");

    bench.put("long.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
    let report = bench.report("fs_read", json!({"path": "long.txt", "limit": 2})).await;
    let summary = "`long.txt`, lines 1 to 2 of 10:";
    assert_eq!(parts(&report), (summary, Some(&verbatim("1\n2\n")), vec![]));

    let report = bench.report("fs_read", json!({"path": "long.txt", "offset": 10})).await;
    assert_eq!(report.summary, "`long.txt`, line 10 of 10:");

    for (content, summary) in [
        (&b"\0\x01\x02"[..], "`x` is not text: binary data, 3 bytes."),
        (b"", "`x` is empty."),
        (b"\n\n", "`x` (2 lines): only empty lines."),
    ] {
        bench.put("x", content);
        let report = bench.report("fs_read", json!({"path": "x"})).await;
        assert_eq!(parts(&report), (summary, None, vec![]));
    }

    bench.put("latin", b"\xfc\n");
    let report = bench.report("fs_read", json!({"path": "latin"})).await;
    let notes = vec!["It is not UTF-8: some bytes are shown as �."];
    assert_eq!(parts(&report), ("`latin` (1 line):", Some(&verbatim("�\n")), notes));
}

#[tokio::test]
async fn a_large_file_is_shown_as_far_as_it_goes() {
    let settings =
        OperatorSettings { max_file_bytes: 10, max_returned_bytes: 4, ..Default::default() };
    let bench = Bench::with(settings).await;
    bench.put("large", "0123456789\nnext\n");
    let report = bench.report("fs_read", json!({"path": "large", "limit": 1})).await;
    let notes = vec!["Line 1 is cut: it has 7 more bytes."];
    let summary = "`large`, line 1; more follow:";
    assert_eq!(parts(&report), (summary, Some(&verbatim("0123")), notes));

    bench.put("larger", "1\n".repeat(100_000));
    let report = bench.report("fs_read", json!({"path": "larger", "limit": 1})).await;
    let summary = "`larger`, line 1; more follow:";
    assert_eq!(parts(&report), (summary, Some(&verbatim("1\n")), vec![]));
}

#[tokio::test]
async fn a_search_says_how_many_lines_match() {
    let bench = Bench::new().await;
    bench.put("notes.md", "\n\n\nTODO buy a hose\n");
    bench.put("src/main.rs", "fn main() {} // TODO\n");
    let report = bench.report("fs_search", json!({"pattern": "TODO"})).await;
    let lines = verbatim("notes.md:4: TODO buy a hose\nsrc/main.rs:1: fn main() {} // TODO");
    let summary = "2 lines match `TODO` (2 files searched):";
    assert_eq!(parts(&report), (summary, Some(&lines), vec![]));
    let matches = json!([{"path": "notes.md", "line": 4}, {"path": "src/main.rs", "line": 1}]);
    assert_eq!(
        report.data,
        Some(
            json!({"paths": ["notes.md", "src/main.rs"], "files_searched": 2, "matches": matches})
        )
    );

    let report = bench.report("fs_search", json!({"pattern": "zzzz"})).await;
    let summary = "Nothing was found for `zzzz` (2 files searched).";
    assert_eq!(parts(&report), (summary, None, vec![]));
    let report = bench.report("fs_search", json!({"pattern": "hose"})).await;
    assert_eq!(report.summary, "1 line matches `hose` (2 files searched):");
}

#[tokio::test]
async fn a_search_says_what_it_left_out() {
    let bench = Bench::with(OperatorSettings {
        max_file_bytes: 10,
        max_search_matches: 1,
        ..OperatorSettings::default()
    })
    .await;
    bench.put("a", "too large for a search");
    bench.put("b", "x\nx\n");
    let report = bench.report("fs_search", json!({"pattern": "x"})).await;
    assert_eq!(
        report.summary,
        "1 line matches `x` (1 file searched; 1 too large to search; stopped after 1 matches, \
         there are more; narrow the pattern, path or glob):"
    );
}

#[tokio::test]
async fn a_status_is_one_sentence() {
    let bench = Bench::new().await;
    bench.put("notes.md", "1\n2\n3\n4\n");
    bench.put("one", "1");
    bench.put("blob.bin", b"\0");
    bench.link("notes.md", "link");
    for (path, begin, end) in [
        ("notes.md", "`notes.md` is a file: 8 bytes, 4 lines, modified 20", "."),
        ("one", "`one` is a file: 1 byte, 1 line, modified 20", "."),
        ("blob.bin", "`blob.bin` is a file: 1 byte, binary data, modified 20", "."),
        (".", "`.` is a directory: ", "."),
        ("link", "`link` is a file: 8 bytes", ", through a link to notes.md."),
    ] {
        let report = bench.report("fs_stat", json!({"path": path})).await;
        assert!(report.summary.starts_with(begin), "{}", report.summary);
        assert!(report.summary.ends_with(end), "{}", report.summary);
        assert!(report.summary.contains(", mode 0"), "{}", report.summary);
        assert_eq!(report.data.unwrap()["path"], path);
    }
}
