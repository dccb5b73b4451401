use lango_protocol::ReportDetails;
use lango_tool::ToolError;
use serde_json::{Value, json};

use crate::support::Bench;

fn append(content: &str) -> Value {
    json!({"path": "list", "content": content})
}

#[tokio::test]
async fn lines_are_added_at_the_end() {
    let bench = Bench::new().await;
    bench.put("list", "milk\nbread");
    let shown = bench.summary("fs_append", &append("eggs"));
    let expected = "Add 1 line at the end of list\n  | --- file\n  | +++ file\n  | @@ -1,2 +1,3 @@\n  |  \
                    milk\n  | -bread\n  | \\ No newline at end of file\n  | +bread\n  | +eggs";
    assert_eq!(shown, expected);
    let report = bench.report("fs_append", append("eggs")).await;
    assert_eq!(report.summary, "Added 1 line to `list`:");
    assert!(
        matches!(&report.details, Some(ReportDetails::Verbatim(text)) if text.contains("+eggs"))
    );
    assert_eq!(report.files().unwrap().paths, ["list"]);
    assert_eq!(bench.content("list"), b"milk\nbread\neggs\n");
    let text = bench.call("fs_append", append("ham\ncheese\n")).await.unwrap();
    assert!(text.starts_with("added 2 lines to list\n--- list"), "{text}");
    assert_eq!(bench.content("list"), b"milk\nbread\neggs\nham\ncheese\n");
}

#[tokio::test]
async fn a_file_that_does_not_exist_is_made() {
    let bench = Bench::new().await;
    let arguments = json!({"path": "new/list", "content": "milk"});
    let shown = bench.summary("fs_append", &arguments);
    assert_eq!(shown, "Make new/list with 1 line\n  | milk");
    let report = bench.report("fs_append", arguments).await;
    assert_eq!(report.summary, "Created `new/list` with 1 line:");
    assert_eq!(bench.content("new/list"), b"milk\n");
}

#[tokio::test]
async fn what_is_no_text_gets_no_lines() {
    let bench = Bench::new().await;
    bench.put("list", b"a\0b");
    assert!(bench.failure("fs_append", append("x")).await.contains("not text"));
    bench.put("list", vec![b'x'; 11 * 1024 * 1024]);
    assert!(bench.failure("fs_append", append("x")).await.contains("larger than"));
    let nothing = bench.call("fs_append", append("")).await;
    assert!(matches!(nothing, Err(ToolError::Arguments(_))), "{nothing:?}");
    bench.put("latin", b"\xfc");
    bench.call("fs_append", json!({"path": "latin", "content": "x"})).await.unwrap();
    assert_eq!(bench.content("latin"), b"\xfc\nx\n", "other bytes stay as they are");
}
