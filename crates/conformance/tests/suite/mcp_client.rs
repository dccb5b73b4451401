//! The protocol's own suite, with our client.

use crate::peers::node_programs;

async fn suite(arguments: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let suite = node_programs().join("conformance");
    let client = env!("CARGO_BIN_EXE_lango-mcp-conformance-client");
    let output = tokio::process::Command::new(node_programs().join("node"))
        .arg(suite.canonicalize().unwrap())
        .args(["client", "--command", client])
        .args(arguments)
        .current_dir(directory.path())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// The scenarios that the revision requires, without the one about timing.
const REQUIRED: [&str; 17] = [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
];

#[tokio::test(flavor = "multi_thread")]
async fn every_required_scenario_passes() {
    let text = suite(&["--requirements", "2025-11-25"]).await;
    for scenario in REQUIRED {
        assert!(text.contains(&format!("✓ {scenario}: ")), "{scenario} fails:\n{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_was_cut_is_taken_up_again_after_the_time_it_asked_for() {
    // It measures milliseconds: on a busy machine a second try is fair, a third is not.
    let scenario = ["--scenario", "sse-retry"];
    let mut text = suite(&scenario).await;
    if !text.contains("OVERALL: PASSED") {
        text = suite(&scenario).await;
    }
    assert!(text.contains("OVERALL: PASSED"), "{text}");
}
