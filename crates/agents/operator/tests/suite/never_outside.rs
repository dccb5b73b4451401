//! Checks that nothing outside the workspace changes or is shown, whatever a path says.

use proptest::prelude::*;
use serde_json::json;

use crate::support::Bench;

fn component() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just("..".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just(String::new()),
        2 => Just("outside".to_owned()),
        2 => Just("out".to_owned()),
        2 => Just("loop".to_owned()),
        2 => Just("inner".to_owned()),
        1 => Just("secret".to_owned()),
        1 => Just("~".to_owned()),
        1 => "[^/\0]{0,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(192) })]

    #[test]
    fn no_path_reaches_outside(parts in prop::collection::vec(component(), 1..8), absolute: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::new().await;
            bench.put("inner/deeper/file", "inside\n");
            bench.link("../outside", "out");
            bench.link("../../outside", "inner/out");
            bench.link("loop", "loop");
            bench.link("../inner", "inner/inner");
            let mut path = parts.join("/");
            if absolute {
                path = format!("{}/{path}", bench.path("").display());
            }
            // The result does not matter; what it touched does.
            let _ = bench.call("fs_write", json!({"path": path, "content": "mine"})).await;
            let edit = json!({"path": path, "old_text": "secret", "new_text": "mine"});
            let _ = bench.call("fs_edit", edit).await;
            let _ = bench.call("fs_append", json!({"path": path, "content": "mine"})).await;
            for tool in ["fs_copy", "fs_move"] {
                let into = json!({"from": "inner/deeper/file", "to": path, "overwrite": true});
                let _ = bench.call(tool, into).await;
                let _ = bench.call(tool, json!({"from": path, "to": "taken"})).await;
            }
            let all = json!({"path": format!("{path}/*"), "recursive": true});
            let _ = bench.call("fs_delete", all).await;
            if let Ok(text) = std::fs::read_to_string(bench.path("taken")) {
                assert_ne!(text, "secret\n", "{path:?} was copied");
            }
            bench.assert_outside_untouched();
            for tool in ["fs_read", "fs_stat", "fs_list"] {
                if let Ok(text) = bench.call(tool, json!({"path": path})).await {
                    // A file called "secret" inside holds "mine"; the one outside has another
                    // content.
                    assert!(!text.contains("\nsecret\n"), "{tool} {path:?}: {text}");
                }
            }
        });
    }
}
