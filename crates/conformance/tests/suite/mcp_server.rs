//! The protocol's own suite, against a server behind our listener, our checks and our endpoint.

use crate::peers::node_programs;
use crate::running::RunningServer;

/// The scenarios that the revision requires.
const REQUIRED: [&str; 30] = [
    "server-initialize",
    "logging-set-level",
    "ping",
    "completion-complete",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-with-logging",
    "tools-call-error",
    "tools-call-with-progress",
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "server-sse-multiple-streams",
    "elicitation-sep1330-enums",
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "resources-subscribe",
    "resources-unsubscribe",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "dns-rebinding-protection",
];

#[tokio::test(flavor = "multi_thread")]
async fn every_required_scenario_passes() {
    let server = RunningServer::start(env!("CARGO_BIN_EXE_lango-mcp-conformance-server")).await;
    let directory = tempfile::tempdir().unwrap();
    let suite = node_programs().join("conformance").canonicalize().unwrap();
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let output = tokio::process::Command::new(node_programs().join("node"))
        .arg(suite)
        .args(["server", "--url", &url, "--requirements", "2025-11-25"])
        .current_dir(directory.path())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    for scenario in REQUIRED {
        assert!(text.contains(&format!("✓ {scenario}: ")), "{scenario} fails:\n{text}");
    }
    assert!(text.contains(", 0 failed\n\nNot scored"), "{text}");
    assert!(server.terminate().await.success());
}
