use lango_operator::OperatorSettings;
use lango_tool::ToolError;
use serde_json::json;

use crate::support::Bench;

#[tokio::test]
async fn a_text_comes_whole_or_by_range() {
    let bench = Bench::new().await;
    bench.put("file", "one\ntwo\nthree\n");
    let read = async |arguments| bench.call("fs_read", arguments).await.unwrap();
    assert_eq!(read(json!({"path": "file"})).await, "file: lines 1-3 of 3\none\ntwo\nthree\n");
    assert_eq!(
        read(json!({"path": "file", "offset": 2, "limit": 1})).await,
        "file: lines 2-2 of 3, continue with offset=3\ntwo\n"
    );
    assert_eq!(read(json!({"path": "file", "offset": 3})).await, "file: lines 3-3 of 3\nthree\n");
    let error = bench.failure("fs_read", json!({"path": "file", "offset": 4})).await;
    assert_eq!(error, "offset 4 is past the end: file has 3 lines");
}

#[tokio::test]
async fn line_ends_bytes_and_emptiness_are_kept_or_told() {
    let bench = Bench::new().await;
    bench.put("crlf", "a\r\nb\r\n");
    bench.put("latin", b"gr\xfc\xdfe\n");
    bench.put("empty", "");
    let read = async |path: &str| bench.call("fs_read", json!({"path": path})).await.unwrap();
    assert_eq!(read("crlf").await, "crlf: lines 1-2 of 2\na\r\nb\r\n");
    assert_eq!(
        read("latin").await,
        "latin: lines 1-1 of 1, not UTF-8: some bytes shown as �\ngr��e\n"
    );
    assert_eq!(read("empty").await, "empty: empty file");
}

#[tokio::test]
async fn what_is_no_text_is_described() {
    let bench = Bench::new().await;
    bench.put("picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    let text = bench.call("fs_read", json!({"path": "picture"})).await.unwrap();
    assert_eq!(text, "picture: PNG image, 16 bytes, not shown because it is not text");
    assert!(bench.failure("fs_read", json!({"path": "."})).await.contains("use fs_list"));
    assert!(bench.failure("fs_read", json!({"path": "none"})).await.contains("does not exist"));
    assert!(
        bench.failure("fs_read", json!({"path": "picture/x"})).await.contains("not a directory")
    );
}

#[tokio::test]
async fn a_huge_line_is_cut_between_characters() {
    let bench = Bench::new().await;
    bench.put("line", "ä".repeat(1_000_000));
    let text = bench.call("fs_read", json!({"path": "line"})).await.unwrap();
    assert!(text.starts_with("line: lines 1-1 of 1\nää"), "{}", &text[..60]);
    assert!(text.ends_with(&format!("ä\n(line 1 cut: {} more bytes)", 2_000_000 - 256 * 1024)));
}

#[tokio::test]
async fn many_lines_come_in_parts() {
    let bench = Bench::new().await;
    bench.put("many", "line\n".repeat(5000));
    let text = bench.call("fs_read", json!({"path": "many"})).await.unwrap();
    assert!(text.starts_with("many: lines 1-2000 of 5000, continue with offset=2001\n"));
    bench.put("wide", format!("{}\n", "x".repeat(999)).repeat(1000));
    let text = bench.call("fs_read", json!({"path": "wide"})).await.unwrap();
    assert!(text.starts_with("wide: lines 1-262 of 1000, continue with offset=263\n"));
    assert!(text.len() < 257 * 1024);
}

#[tokio::test]
async fn a_large_file_is_read_by_lines_only() {
    let settings = OperatorSettings { max_file_bytes: 1000, ..OperatorSettings::default() };
    let bench = Bench::with(settings).await;
    bench.put("large", "0123456789\n".repeat(50_000));
    let error = bench.failure("fs_read", json!({"path": "large"})).await;
    assert!(error.contains("give offset and limit"), "{error}");
    let arguments = json!({"path": "large", "offset": 40_000, "limit": 2});
    assert_eq!(
        bench.call("fs_read", arguments).await.unwrap(),
        "large: lines 40000-40001, more follow, continue with offset=40002\n0123456789\n0123456789\n"
    );
}

#[tokio::test]
async fn a_status_tells_what_a_file_is() {
    let bench = Bench::new().await;
    bench.put("file", "one\ntwo");
    bench.put("zip", b"PK\x03\x04\0\0");
    bench.link("file", "link");
    let stat = async |path: &str| bench.call("fs_stat", json!({"path": path})).await.unwrap();
    let text = stat("file").await;
    assert!(text.starts_with("file: file, 7 bytes, 2 lines, modified 20"), "{text}");
    assert!(text.contains("Z, mode 06"), "{text}");
    assert!(stat("zip").await.contains("ZIP archive"));
    assert!(stat("link").await.ends_with("through a link to file"));
    assert!(stat(".").await.starts_with(".: directory, "));
    assert!(bench.failure("fs_stat", json!({"path": "none"})).await.contains("does not exist"));
}

#[tokio::test]
async fn unknown_and_missing_parameters_are_rejected() {
    let bench = Bench::new().await;
    for tool in bench.registry.iter() {
        let rejects = |arguments: &str| {
            let result = tool.prepare(arguments).map(|_| ());
            matches!(result, Err(ToolError::Arguments(_)))
        };
        let unknown = r#"{"path":".","command":"x","pattern":"x","unknown":1}"#;
        assert!(rejects(unknown), "{}", tool.name());
        // Without arguments these list and find all that is in the workspace.
        let needs_none = ["fs_find", "fs_list"].contains(&tool.name());
        assert_eq!(rejects("{}"), !needs_none, "{}", tool.name());
        assert!(tool.declaration.parameters.get().contains("\"additionalProperties\":false"));
    }
    let names: Vec<_> = bench.registry.names().collect();
    let files =
        ["delete", "edit", "find", "list", "mkdir", "move", "read", "search", "stat", "write"];
    for name in files.map(|name| format!("fs_{name}")) {
        assert!(names.contains(&name.as_str()), "{name}");
    }
}

#[tokio::test]
async fn the_last_lines_are_read() {
    let bench = Bench::new().await;
    bench.put("log", "1\n2\n3\n4\n5\n");
    let last = async |path: &str, last: u64| {
        bench.call("fs_read", json!({"path": path, "last": last})).await.unwrap()
    };
    assert_eq!(last("log", 2).await, "log: lines 4-5 of 5\n4\n5\n");
    assert_eq!(last("log", 99).await, "log: lines 1-5 of 5\n1\n2\n3\n4\n5\n");
    bench.put("empty", "");
    assert_eq!(last("empty", 3).await, "empty: empty file");
    let result = bench.call("fs_read", json!({"path": "log", "last": 2, "offset": 1})).await;
    assert!(matches!(result, Err(ToolError::Arguments(_))), "{result:?}");
}

#[tokio::test]
async fn the_end_of_a_huge_file_is_read_without_the_rest() {
    let settings =
        OperatorSettings { max_file_bytes: 100, max_returned_bytes: 12, ..Default::default() };
    let bench = Bench::with(settings).await;
    // It takes up no space on the disk, and could not be read in time.
    let file = std::fs::File::create(bench.path("huge")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"text\n".repeat(2000).as_slice(), 0).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"\none\ntwo\nthree\n", 1 << 40).unwrap();
    let last = async |last: u64| {
        bench.call("fs_read", json!({"path": "huge", "last": last})).await.unwrap()
    };
    assert_eq!(last(1).await, "huge: last 1 lines\nthree\n");
    assert_eq!(last(2).await, "huge: last 2 lines\ntwo\nthree\n");
    assert_eq!(last(50).await, "huge: last 2 lines, no more fit\ntwo\nthree\n");
    let report = bench.report("fs_read", json!({"path": "huge", "last": 2})).await;
    assert_eq!(report.summary, "`huge`, the last 2 lines:");
    assert_eq!(report.files().unwrap().paths, ["huge"]);
    bench.put("binary", vec![0; 200]);
    let text = bench.call("fs_read", json!({"path": "binary", "last": 2})).await.unwrap();
    assert!(text.contains("binary data"), "{text}");
}
