//! Arguments that are not what they should be, and too many calls.

use lango_protocol::CallStatus;

use crate::fixture::{Lango, TO_OPERATOR};

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_do_not_fit_are_refused_and_the_model_is_told() {
    let script = r#"
[[reply]]
agent = "operator"
results = 0
call = [
    { name = "exec_shell", raw = '{"command": "touch owned"' },
    { name = "exec_shell", raw = 'touch owned' },
    { name = "exec_shell", raw = '["touch owned"]' },
    { name = "exec_shell", raw = '' },
    { name = "exec_shell", raw = 'null' },
    { name = "exec_shell", raw = '{"command": "touch owned", "sudo": true}' },
    { name = "exec_shell", raw = '{"command": ["touch", "owned"]}' },
    { name = "exec_shell", raw = '{"command": "touch owned", "timeout_seconds": "long"}' },
    { name = "exec_shell", raw = '{"command": "touch owned", "timeout_seconds": -1}' },
    { name = "exec_shell", raw = '{"command": "touch owned", "timeout_seconds": 1e309}' },
]
[[reply]]
agent = "operator"
result = "arguments do not fit"
say = "I gave up."
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let turn = lango.ask("do it").with(&["--approve", "all"]).turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "I gave up."));
    assert_eq!(turn.results_with(CallStatus::Refused), 10);
    assert_eq!((turn.count("approval_requested"), turn.count("tool_started")), (0, 0));
    assert!(!lango.workspace().join("owned").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_hundred_calls_at_once_each_has_a_result_and_at_most_32_run() {
    let script = r#"
[[reply]]
agent = "operator"
results = 0
copies = 200
call = [{ name = "exec_shell", arguments = { command = "echo x >> ran" } }]
[[reply]]
agent = "operator"
say = "That was a lot."
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let turn = lango.ask("do it").with(&["--approve", "all"]).turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "That was a lot."));
    assert_eq!((turn.count("tool_call"), turn.count("tool_result")), (200, 200));
    let ran = std::fs::read_to_string(lango.workspace().join("ran")).unwrap().lines().count();
    assert_eq!(turn.results_with(CallStatus::Ok), ran);
    assert!(ran <= 32, "{ran}");
    assert_eq!(turn.results_with(CallStatus::Refused), 200 - ran);
}

#[tokio::test(flavor = "multi_thread")]
async fn call_ids_of_the_model_that_come_twice_are_told_apart() {
    // The scripted model calls the first call of every reply call_0.
    let script = r#"
[[reply]]
agent = "operator"
results = 0
call = [{ name = "fs_read", arguments = { path = "README.md" } }]
[[reply]]
agent = "operator"
results = 1
call = [{ name = "fs_read", arguments = { path = "src/main.rs" } }]
[[reply]]
agent = "operator"
results = 2
say = "Read: {result}"
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let turn = lango.ask("read").turn().await;
    assert_eq!(turn.code, 0);
    assert!(turn.answer().contains("fn main()"), "{}", turn.answer());
    assert!(!lango.requests().last().unwrap().text().contains("call_0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_denied_once_is_not_asked_again_and_not_run() {
    let script = r#"
[[reply]]
agent = "operator"
results = 0
copies = 10
call = [{ name = "exec_shell", arguments = { command = "touch owned" } }]
[[reply]]
agent = "operator"
say = "I was not allowed to."
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let turn = lango.ask("do it").with(&["--approve", "none"]).turn().await;
    assert_eq!((turn.code, turn.answer()), (3, "I was not allowed to."));
    assert_eq!((turn.count("approval_requested"), turn.count("approval_resolved")), (1, 1));
    assert_eq!(turn.results_with(CallStatus::Denied), 10);
    assert!(!lango.workspace().join("owned").exists());
}
