//! What was agreed to stays what it was.

use lango_protocol::CallStatus;

use super::peer::{configure, hostile, lango_with};
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
