use lango_operator::OperatorSettings;
use lango_tool::ToolError;
use serde_json::json;

use crate::support::Bench;

fn names(listing: &str) -> Vec<&str> {
    listing.lines().skip(1).filter_map(|line| line.split_whitespace().nth(3)).collect()
}

#[tokio::test]
async fn a_directory_is_listed_to_the_depth_asked_for() {
    let bench = Bench::new().await;
    bench.put("a/b/c", "123");
    bench.put("z", "");
    bench.put(".git/config", "");
    let list = async |arguments| bench.call("fs_list", arguments).await.unwrap();
    assert_eq!(names(&list(json!({"path": "."})).await), [".git/", "a/", "z"]);
    let all = list(json!({"path": ".", "depth": 3})).await;
    assert_eq!(names(&all), [".git/", "a/", "a/b/", "a/b/c", "z"]);
    assert_eq!(names(&list(json!({"path": ".git"})).await), ["config"]);
    assert!(all.lines().any(|line| line.starts_with("file              3 20")), "{all}");
}

#[tokio::test]
async fn a_listing_is_bounded() {
    let settings = OperatorSettings { max_list_entries: 3, ..OperatorSettings::default() };
    let bench = Bench::with(settings).await;
    for name in ["a/1", "a/2", "b/1", "c/1"] {
        bench.put(name, "");
    }
    let text = bench.call("fs_list", json!({"path": ".", "depth": 2})).await.unwrap();
    assert!(text.starts_with(".: 3 entries shown, there are more"), "{text}");
    assert_eq!(names(&text), ["a/", "b/", "c/"]);
    for depth in [0, 9] {
        let result = bench.call("fs_list", json!({"path": ".", "depth": depth})).await;
        assert!(matches!(result, Err(ToolError::Arguments(_))));
    }
}

#[tokio::test]
async fn a_file_is_not_listed_and_a_hostile_name_is_shown_harmless() {
    let bench = Bench::new().await;
    bench.put("evil\n\u{1b}[2Jname", "");
    let text = bench.call("fs_list", json!({"path": "."})).await.unwrap();
    assert!(text.ends_with("evil\\n\\u{1b}[2Jname"), "{text}");
    bench.put("file", "");
    assert!(bench.failure("fs_list", json!({"path": "file"})).await.contains("use fs_read"));
}
