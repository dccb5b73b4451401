//! Who allows what, and what is kept of it.

use std::io::Write;
use std::process::{Command, Stdio};

use lango_protocol::{ApprovalDecision, CallStatus, EventBody};

use crate::fixture::{Lango, TO_OPERATOR};
use crate::journal::Turn;

const TOUCH: &str = r#"
[[reply]]
agent = "operator"
results = 0
call = [{ name = "exec_shell", arguments = { command = "echo x >> made" } }]
[[reply]]
agent = "operator"
say = "That is how it went."
"#;

/// The digest that a person could compute from what the journal says: each part behind its length.
fn digest_of(parts: [&str; 3]) -> String {
    let mut sha256 = Command::new("sha256sum");
    let mut sha256 = sha256.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = sha256.stdin.take().unwrap();
    for part in parts {
        input.write_all(&(part.len() as u64).to_le_bytes()).unwrap();
        input.write_all(part.as_bytes()).unwrap();
    }
    drop(input);
    let output = sha256.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

/// The decision, by whom, and whether it is bound to the call that was made.
fn approval(turn: &Turn) -> (ApprovalDecision, String) {
    let mut call_made = None;
    let mut asked = None;
    for event in &turn.events {
        match &event.body {
            EventBody::ToolCall { call, tool, arguments, .. } => {
                call_made = Some((call, tool, arguments));
            }
            EventBody::ApprovalRequested { call, digest, summary, .. } => {
                let (made, tool, arguments) = call_made.unwrap();
                assert_eq!(made, call);
                assert_eq!(*digest, digest_of([tool, arguments, summary]));
                assert!(summary.contains("$ echo x >> made"), "{summary}");
                asked = Some(call);
            }
            EventBody::ApprovalResolved { call, decision, by } => {
                assert_eq!(asked, Some(call));
                return (*decision, by.clone());
            }
            _ => {}
        }
    }
    panic!("no approval was asked for: {:?}", turn.types());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_terminal_a_dangerous_call_is_denied_and_nothing_hangs() {
    for arguments in [&[][..], &["--approve", "ask"], &["--approve", "none"]] {
        let lango = Lango::playing(&[TO_OPERATOR, TOUCH]).await;
        let turn = lango.ask("make it").with(arguments).turn().await;
        assert_eq!((turn.code, turn.answer()), (3, "That is how it went."));
        let (decision, by) = approval(&turn);
        assert_eq!(decision, ApprovalDecision::Denied);
        assert!(by.contains("--approve"), "{by}");
        assert_eq!((turn.results_with(CallStatus::Denied), turn.count("tool_started")), (1, 0));
        assert!(!lango.workspace().join("made").exists());
        assert!(lango.requests().last().unwrap().said_by("tool")[0].starts_with("Not run:"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_allowed_beforehand_happens_once() {
    let lango = Lango::playing(&[TO_OPERATOR, TOUCH]).await;
    let turn = lango.ask("make it").with(&["--approve", "all"]).turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "That is how it went."));
    assert_eq!(approval(&turn), (ApprovalDecision::Approved, "--approve all".to_owned()));
    assert_eq!(std::fs::read_to_string(lango.workspace().join("made")).unwrap(), "x\n");
    let of_the_call: Vec<&str> = turn
        .types()
        .into_iter()
        .filter(|name| name.starts_with("tool_") || name.starts_with("approval_"))
        .collect();
    let order =
        ["tool_call", "approval_requested", "approval_resolved", "tool_started", "tool_result"];
    assert_eq!(of_the_call, order);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_reads_needs_no_approval() {
    let script = r#"
[[reply]]
agent = "operator"
results = 0
call = [{ name = "fs_read", arguments = { path = "README.md" } }]
[[reply]]
agent = "operator"
say = "Read."
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let turn = lango.ask("read it").set("LANGO_APPROVALS_POLICY", "all").turn().await;
    assert_eq!((turn.code, turn.count("approval_requested")), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_does_not_see_the_key_of_the_provider() {
    let script = r#"
[[reply]]
agent = "operator"
results = 0
call = [{ name = "exec_shell", arguments = { command = "env; tr '\\0' '\\n' < /proc/$PPID/environ" } }]
[[reply]]
agent = "operator"
say = "{result}"
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let invocation = lango.ask("look around").with(&["--approve", "all"]);
    let turn = invocation.set("OPENAI_API_KEY", "sk-canary-0123456789").turn().await;
    assert_eq!(turn.code, 8, "the environment of another process cannot be read");
    let everything = serde_json::to_string(&turn.events).unwrap();
    assert!(everything.contains("PATH="), "the command ran: {everything}");
    assert!(!everything.contains("canary"), "{everything}");
    assert!(lango.requests().iter().all(|request| !request.text().contains("canary")));
}
