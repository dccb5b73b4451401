//! `lango mcp …`, as typed.

use super::peer::{hostile, lango_with, on_node};
use crate::fixture::Lango;

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_added_looked_at_and_removed() {
    let lango = Lango::silent().await;
    let script = super::peer::hostile_directory().join("hostile_mcp.py").display().to_string();
    let cwd = super::peer::hostile_directory().display().to_string();
    let add = [
        "mcp",
        "add",
        "greeter",
        "--agent",
        "operator",
        "--env",
        "A=${B:-c}",
        "--cwd",
        &cwd,
        "--",
        "python3",
        &script,
        "--mode",
        "plain",
    ];
    let added = lango.command(&add).run().await;
    assert_eq!(added.code, 0, "{added:?}");
    let again = lango.command(&add).run().await;
    assert!(again.code == 2 && again.stderr.contains("lango mcp remove greeter"), "{again:?}");
    let listed = lango.command(&["mcp", "list"]).run().await;
    assert!(listed.stdout.contains("not seen yet"), "{}", listed.stdout);
    let tested = lango.command(&["mcp", "test", "greeter"]).run().await;
    assert!(tested.code == 0 && tested.stdout.contains("greeter works"), "{tested:?}");
    let tools = lango.command(&["mcp", "tools", "greeter", "--json"]).run().await.stdout;
    let tools: serde_json::Value = serde_json::from_str(&tools).unwrap();
    assert_eq!((&tools[0]["tool"], &tools[0]["state"]), (&"greet".into(), &"approved".into()));
    let shown = lango.command(&["mcp", "show", "greeter"]).run().await.stdout;
    assert!(shown.contains("dangerous") && shown.contains("greet"), "{shown}");
    let doctor = lango.command(&["doctor"]).run().await.stdout;
    assert!(doctor.contains("greeter"), "{doctor}");
    let removed = lango.command(&["mcp", "remove", "greeter"]).run().await;
    assert_eq!(removed.code, 0, "{removed:?}");
    let listed = lango.command(&["mcp", "list"]).run().await;
    assert!(listed.stdout.contains("There are no MCP servers"), "{}", listed.stdout);
    let gone = lango.command(&["mcp", "remove", "greeter"]).run().await;
    assert_eq!(gone.code, 2, "{gone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_and_prompts_are_read() {
    let lango = lango_with(&on_node("all", "mcp-server-everything", &[], ""), &[]).await;
    let resources = lango.command(&["mcp", "resources", "all"]).run().await;
    assert!(resources.stdout.contains("features.md"), "{resources:?}");
    let uri = "demo://resource/static/document/features.md";
    let read = lango.command(&["mcp", "read", "all", uri]).run().await;
    assert!(read.stdout.contains("Everything Server"), "{read:?}");
    let prompts = lango.command(&["mcp", "prompts", "all"]).run().await;
    assert!(prompts.stdout.contains("city* state"), "{prompts:?}");
    let prompt = lango.command(&["mcp", "prompt", "all", "args-prompt", "city=Basel"]).run().await;
    assert!(prompt.stdout.contains("user: ") && prompt.stdout.contains("Basel"), "{prompt:?}");
    let missing = lango.command(&["mcp", "read", "all", "demo://nothing"]).run().await;
    assert!(missing.code == 1 && missing.stderr.contains("answered"), "{missing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_of_other_programs_are_taken_over() {
    let lango = Lango::silent().await;
    lango.file(
        "user/.cursor/mcp.json",
        r#"{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"], "alwaysAllow": []},
           "old": {"type": "sse", "url": "https://example.org/sse"},
           "bad name": {"command": "x"}}}"#,
    );
    lango.file(
        "user/.codex/config.toml",
        "model = \"x\"\n[mcp_servers.docs]\nurl = \"https://example.org/mcp\"\nunheard_of = 1\n",
    );
    lango.file("user/.config/Code/User/mcp.json", r#"{"servers": {"time": {"command": "other"}}}"#);
    let dry = lango.command(&["mcp", "import", "--dry-run"]).run().await;
    assert!(dry.code == 0 && !lango.config_file().exists(), "{dry:?}");
    let imported = lango.command(&["mcp", "import"]).run().await;
    let text = &imported.stdout;
    assert!(
        text.contains("time: imported") && text.contains("not understood: alwaysAllow"),
        "{text}"
    );
    assert!(text.contains("docs: imported") && text.contains("unheard_of"), "{text}");
    assert!(
        text.contains("old: not imported") && text.contains("bad name: not imported"),
        "{text}"
    );
    assert!(text.contains("time: configured already"), "{text}");
    let listed = lango.command(&["mcp", "list", "--json"]).run().await.stdout;
    assert!(listed.contains("uvx mcp-server-time") && listed.contains("example.org"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_an_entry_is_said_and_costs_only_itself() {
    let config = "[mcp_servers.empty]\nenabled = true\n[mcp_servers.both]\ncommand = \"x\"\n\
                  url = \"http://127.0.0.1:1/\"\n[mcp_servers.variable]\ncommand = \"${NOT_THERE}\"\n\
                  [mcp_servers.missing]\ncommand = \"no-such-program-anywhere\"\n"
        .to_owned()
        + &hostile("good", &["plain"], "");
    let lango = lango_with(&config, &[("mcp_good_greet", "{}")]).await;
    let ran = lango.command(&["run", "greet", "--approve", "all"]).run().await;
    assert_eq!(ran.code, 0, "{ran:?}");
    for told in ["mcp_servers.empty", "mcp_servers.both", "NOT_THERE", "no-such-program-anywhere"] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    let misspelt = "[mcp_servers.x]\ncomand = \"x\"\n";
    super::peer::configure(&lango, misspelt);
    let refused = lango.command(&["mcp", "list"]).run().await;
    assert!(refused.code == 2 && refused.stderr.contains("mcp_servers.*.command"), "{refused:?}");
}
