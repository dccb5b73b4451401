//! What was agreed to stays what it was, and a project brings nothing unasked.

use lango_protocol::CallStatus;

use super::peer::{configure, hostile, hostile_directory, lango_with, server_homes};
use crate::fixture::{Lango, TO_OPERATOR, calling};

const WEATHER: &str = r#"{ place = "Basel" }"#;

/// The operator looks at the weather twice, after the server had time to say that it changed.
const LATER: &str = r#"
[[reply]]
agent = "operator"
results = 0
delay_ms = 800
call = [{ name = "mcp_sky_weather", arguments = { place = "Basel" } }, { name = "mcp_sky_weather", arguments = { place = "Bern" } }]
[[reply]]
agent = "operator"
say = "{result}"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn f1_a_tool_that_changes_is_frozen_until_a_person_looks() {
    let changing = hostile("sky", &["rug-pull"], "");
    let lango = Lango::playing(&[TO_OPERATOR, LATER]).await;
    configure(&lango, &changing);
    // The first list is agreed to, the one that follows is not: the call is refused, unsent.
    let turn = lango.ask("weather?").with(&["--approve", "all"]).turn().await;
    let refused: Vec<&str> = turn.results().iter().map(|(.., output)| *output).collect();
    assert!(
        refused.iter().all(|text| text.contains("lango mcp approve sky weather")),
        "{refused:?}"
    );
    assert_eq!(turn.results_with(CallStatus::Ok), 0, "{refused:?}");
    let listed = lango.command(&["mcp", "list"]).run().await;
    assert!(listed.stdout.contains("1 frozen"), "{}", listed.stdout);
    // It is not offered any more, and the user is told.
    let shown = lango.command(&["tools", "list"]).run().await;
    assert!(!shown.stdout.contains("mcp_sky_weather"), "{}", shown.stdout);
    // As after an update, it is the same from the start now, once a user agreed.
    configure(&lango, &hostile("sky", &["rug-pull", "--changed"], ""));
    let approved = lango.command(&["mcp", "approve", "sky", "--yes"]).run().await;
    assert_eq!(approved.code, 0, "{approved:?}");
    assert!(approved.stdout.contains("+ "), "{}", approved.stdout);
    let note = r#"{ place = "Basel", note = "x" }"#;
    let script = calling("operator", &[("mcp_sky_weather", note)]);
    let lango = lango.now_playing(&[TO_OPERATOR, &script]).await;
    let turn = lango.ask("weather?").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.results_with(CallStatus::Ok), 1, "{:?}", turn.results());
}

#[tokio::test(flavor = "multi_thread")]
async fn f1_an_update_between_two_runs_is_seen_before_anything_is_sent() {
    let lango =
        lango_with(&hostile("sky", &["rug-pull"], ""), &[("mcp_sky_weather", WEATHER)]).await;
    let log = lango.workspace().join("log");
    let logged = log.display().to_string();
    let plain = hostile("sky", &["plain", "--log", &logged], "writable = [\".\"]");
    configure(&lango, &plain);
    assert_eq!(lango.command(&["mcp", "test", "sky"]).run().await.code, 0);
    let greet = calling("operator", &[("mcp_sky_greet", "{}")]);
    let lango = lango.now_playing(&[TO_OPERATOR, &greet]).await;
    // Another server under the same name: it lacks the tool, and has one that no user agreed to.
    let other = hostile("sky", &["rug-pull", "--log", &logged], "writable = [\".\"]");
    configure(&lango, &other);
    std::fs::remove_file(&log).unwrap();
    let turn = lango.ask("greet").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.results_with(CallStatus::Ok), 0, "{:?}", turn.results());
    assert!(turn.results()[0].2.contains("has no tool"), "{:?}", turn.results());
    let sent = std::fs::read_to_string(log).unwrap();
    assert!(sent.contains("tools/list") && !sent.contains("tools/call"), "{sent}");
}

/// A project that brings a server which leaves a mark when it is started.
fn project(lango: &Lango, mark: &str) {
    let directory = hostile_directory();
    let script = directory.join("hostile_mcp.py");
    let start = format!("touch {mark}; exec python3 {} --mode plain", script.display());
    let entry = serde_json::json!({ "mcpServers": { "theirs": {
        "command": "sh", "args": ["-c", start], "cwd": directory,
    } } });
    std::fs::write(lango.workspace().join(".mcp.json"), entry.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn f3_a_project_starts_nothing_until_it_is_trusted_and_nothing_else_afterwards() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    let mark = |name: &str| {
        let marks = server_homes(&lango).into_iter().map(|home| home.join(name));
        marks.into_iter().find(|mark| mark.exists()).unwrap_or_default()
    };
    project(&lango, "$HOME/one");
    for command in [&["run", "hello"][..], &["mcp", "list"], &["tools", "list"], &["doctor"]] {
        let ran = lango.command(command).run().await;
        assert!(!mark("one").exists(), "{command:?}: {ran:?}");
    }
    let told = lango.command(&["run", "hello"]).run().await;
    assert!(told.stderr.contains("lango trust"), "{}", told.stderr);
    let test = lango.command(&["mcp", "test", "theirs"]).run().await;
    assert!(test.code == 2 && !mark("one").exists(), "{test:?}");
    assert_eq!(lango.command(&["trust"]).run().await.code, 0);
    let ran = lango.command(&["run", "hello"]).run().await;
    assert!(ran.code == 0 && mark("one").exists(), "{ran:?}");
    // Another command under the same name is not what was trusted.
    project(&lango, "$HOME/two");
    let ran = lango.command(&["run", "hello"]).run().await;
    assert!(ran.stderr.contains("lango mcp approve theirs"), "{}", ran.stderr);
    assert!(!mark("two").exists());
    assert_eq!(lango.command(&["mcp", "approve", "theirs", "--yes"]).run().await.code, 0);
    assert_eq!(lango.command(&["mcp", "test", "theirs"]).run().await.code, 0);
    assert!(mark("two").exists());
}
