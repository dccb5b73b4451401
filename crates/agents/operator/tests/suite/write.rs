use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::support::Bench;

#[tokio::test]
async fn a_file_is_created_and_replaced() {
    let bench = Bench::new().await;
    let write = async |arguments| bench.call("fs_write", arguments).await.unwrap();
    let text = write(json!({"path": "new/deep/file", "content": "a\nb\n"})).await;
    assert_eq!(text, "created new/deep/file, 4 bytes, +2 -0 lines");
    assert_eq!(bench.content("new/deep/file"), b"a\nb\n");
    let text = write(json!({"path": "new/deep/file", "content": "a\nc\nd"})).await;
    assert_eq!(text, "replaced new/deep/file, 5 bytes, +2 -1 lines");
    let text = write(json!({"path": "new/deep/file", "content": ""})).await;
    assert_eq!(text, "replaced new/deep/file, 0 bytes, +0 -3 lines");
    bench.put("latin", b"\xfc");
    let text = write(json!({"path": "latin", "content": "x"})).await;
    assert_eq!(text, "replaced latin, 1 bytes");
    let left = std::fs::read_dir(bench.path("new/deep")).unwrap().count();
    assert_eq!(left, 1, "a temporary file was left behind");
}

#[tokio::test]
async fn the_mode_of_a_file_is_kept() {
    let bench = Bench::new().await;
    for mode in [0o755, 0o600, 0o644] {
        bench.put("script", "old");
        std::fs::set_permissions(bench.path("script"), PermissionsExt::from_mode(mode)).unwrap();
        bench.call("fs_write", json!({"path": "script", "content": "new"})).await.unwrap();
        let now = std::fs::metadata(bench.path("script")).unwrap().permissions().mode();
        assert_eq!(now & 0o7777, mode);
    }
    std::fs::set_permissions(bench.path("script"), PermissionsExt::from_mode(0o444)).unwrap();
    let error = bench.failure("fs_write", json!({"path": "script", "content": "x"})).await;
    assert!(error.contains("read-only"), "{error}");
    assert_eq!(bench.content("script"), b"new");
}

#[tokio::test]
async fn create_only_leaves_what_is_there() {
    let bench = Bench::new().await;
    let arguments = json!({"path": "file", "content": "first", "create_only": true});
    let text = bench.call("fs_write", arguments).await.unwrap();
    assert_eq!(text, "created file, 5 bytes, +1 -0 lines");
    let arguments = json!({"path": "file", "content": "second", "create_only": true});
    assert!(bench.failure("fs_write", arguments).await.contains("already exists"));
    assert_eq!(bench.content("file"), b"first");
    assert_eq!(std::fs::read_dir(bench.path("")).unwrap().count(), 1);
}

#[tokio::test]
async fn what_cannot_be_a_file_is_refused() {
    let bench = Bench::new().await;
    bench.put("file", "");
    bench.put("directory/x", "");
    bench.link("missing", "dangling");
    for path in
        [".", "directory", "directory/", "file/below", "missing/../x", "dangling", "dangling/x", ""]
    {
        let error = bench.failure("fs_write", json!({"path": path, "content": "x"})).await;
        assert!(!error.is_empty());
    }
    let mut left: Vec<_> = std::fs::read_dir(bench.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["dangling", "directory", "file"]);
}
