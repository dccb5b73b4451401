use std::ffi::OsString;

use lango_operator::{Environment, OperatorSettings};
use lango_sandbox::{ConfinementLevel, LevelRequirement, Sandbox, SandboxPart};
use lango_tool::ToolError;
use serde_json::json;

use crate::support::Bench;

/// Returns the result without the duration.
async fn shell(bench: &Bench, command: &str) -> String {
    let text = bench.call("exec_shell", json!({"command": command})).await.unwrap();
    let (ending, rest) = text.split_once(" after ").unwrap();
    let rest = rest.split_once(" s").unwrap().1;
    format!("{ending}{rest}")
}

#[tokio::test]
async fn exit_codes_signals_and_both_streams_are_results() {
    let bench = Bench::new().await;
    for (command, result) in [
        ("true", "exit code 0, no output"),
        ("echo out; echo err >&2; exit 3", "exit code 3\nstdout:\nout\nstderr:\nerr"),
        ("kill -9 $$", "exit code 137 (signal 9), no output"),
        ("printf '\\374'", "exit code 0\nstdout:\n�"),
        ("cat", "exit code 0, no output"),
        ("exec 2>&1; -x", "exit code 127\nstdout:\n/bin/sh: 1: -x: not found"),
    ] {
        // The shell's own messages differ between systems.
        let shown = shell(&bench, command).await;
        assert_eq!(shown.split("/bin/sh").next(), result.split("/bin/sh").next(), "{command}");
    }
    assert!(shell(&bench, "-x").await.starts_with("exit code 127"));
}

#[tokio::test]
async fn a_command_runs_in_the_workspace_or_below() {
    let bench = Bench::new().await;
    bench.put("sub/file", "");
    bench.link("sub", "link");
    let root = std::fs::canonicalize(bench.path("")).unwrap().display().to_string();
    for (cwd, place) in
        [(".", root.clone()), ("sub", format!("{root}/sub")), ("link", format!("{root}/sub"))]
    {
        let text = bench.call("exec_shell", json!({"command": "pwd", "cwd": cwd})).await.unwrap();
        assert!(text.ends_with(&format!("stdout:\n{place}")), "{text}");
    }
    for cwd in ["missing", "sub/file"] {
        bench.failure("exec_shell", json!({"command": "pwd", "cwd": cwd})).await;
    }
}

#[tokio::test]
async fn output_is_kept_up_to_a_limit_and_the_rest_counted() {
    let bench = Bench::new().await;
    let text = shell(&bench, "yes | head -c 5000000; echo late >&2").await;
    assert!(text.contains(&format!("\n(stdout cut: {} more bytes)", 5_000_000 - 1024 * 1024)));
    assert!(text.ends_with("stderr:\nlate") && text.len() < 1_050_000);
}

#[tokio::test]
async fn the_environment_has_no_keys() {
    let parent = [
        ("PATH", std::env::var_os("PATH").unwrap()),
        ("ANTHROPIC_API_KEY", OsString::from("canary")),
        ("LANGO_PASSPHRASE", OsString::from("canary")),
        ("DATABASE_URL", OsString::from("canary")),
        ("TERM", OsString::from("xterm")),
    ]
    .map(|(name, value)| (OsString::from(name), value));
    let environment = Environment::from_parent(parent);
    let bench = Bench::with(OperatorSettings { environment, ..OperatorSettings::default() }).await;
    let text = shell(&bench, "env; tr '\\0' '\\n' < /proc/self/environ").await;
    assert!(!text.contains("canary") && text.contains("TERM=dumb"), "{text}");
    // Cargo sets it for every test; the tools' default must not pass it on.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!shell(&Bench::new().await, "env").await.contains("CARGO"));
}

#[tokio::test]
async fn limits_on_the_arguments_are_told() {
    let bench = Bench::new().await;
    for arguments in [
        json!({"command": "true", "timeout_seconds": 0}),
        json!({"command": "true", "timeout_seconds": 601}),
        json!({"command": "true\0"}),
    ] {
        let result = bench.call("exec_shell", arguments).await;
        assert!(matches!(result, Err(ToolError::Arguments(_))), "{result:?}");
    }
}

#[tokio::test]
async fn a_command_that_the_sandbox_stopped_is_told_so() {
    let bench = Bench::at(ConfinementLevel::Bubblewrap).await;
    let text = shell(&bench, "touch /etc/lango-test").await;
    assert!(text.contains("(the sandbox lets commands write only to the workspace"), "{text}");
    let bench = Bench::at(ConfinementLevel::Landlock).await;
    let text = shell(&bench, "touch new").await;
    assert!(text.contains("fs_write can make a new file at the top"), "{text}");
    // No note if the sandbox had nothing to do with it, nor if commands are not confined.
    assert!(!shell(&bench, "echo Permission denied >&2").await.contains("sandbox"));
    assert!(!shell(&bench, "false").await.contains("sandbox"));
    let text =
        shell(&Bench::at(ConfinementLevel::None).await, "echo Permission denied >&2; false").await;
    assert!(!text.contains("sandbox"), "{text}");
}

#[tokio::test]
async fn without_a_sandbox_every_command_is_refused() {
    let without = vec![SandboxPart::Bubblewrap, SandboxPart::Landlock];
    let sandbox = Sandbox { without, requirement: LevelRequirement::Auto, ..Sandbox::default() };
    let bench = Bench::with(OperatorSettings { sandbox, ..OperatorSettings::default() }).await;
    let arguments = json!({"command": "touch made"});
    let shown = bench.summary("exec_shell", &arguments);
    assert!(shown.contains("will be refused: commands are refused"), "{shown}");
    match bench.call("exec_shell", arguments).await {
        Err(ToolError::Forbidden(text)) => {
            assert!(text.contains("lango config set sandbox.level none"), "{text}");
        }
        other => panic!("not refused: {other:?}"),
    }
    assert!(!bench.path("made").exists());
}
