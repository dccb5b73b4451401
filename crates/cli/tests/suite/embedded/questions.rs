//! Asking back: one short question, and its answer completes the call.

use lango_protocol::CallStatus;
use serde_json::json;

use super::{ask, ask_in, calls};
use crate::fixture::Lango;

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_argument_is_asked_for_and_its_answer_completes_the_call() {
    let lango = Lango::silent().await;
    let turn = ask_in(&lango, "one", "read a file for me").turn().await;
    assert_eq!((turn.code, turn.status().as_str()), (6, "needs_input"));
    assert_eq!(calls(&turn).len(), 0);
    assert_eq!(turn.answer(), "Which file do you mean?");
    assert!(!turn.shown().contains("[ASK]"), "{}", turn.shown());
    let turn = ask_in(&lango, "one", "README.md").turn().await;
    assert_eq!((turn.code, turn.status().as_str()), (0, "done"));
    assert_eq!(calls(&turn), [("fs_read", json!({ "path": "README.md" }))]);
    assert!(turn.answer().contains("Three lines."), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_counts_only_in_the_conversation_of_its_question() {
    let lango = Lango::silent().await;
    let made = lango.workspace().join("drafts");
    let turn = ask_in(&lango, "one", "make a folder for me").turn().await;
    assert_eq!((turn.status().as_str(), calls(&turn).len()), ("needs_input", 0));
    // Somewhere else the same word answers nothing.
    let turn = ask_in(&lango, "two", "drafts").turn().await;
    let called = calls(&turn);
    assert!(!called.iter().any(|(name, _)| *name == "fs_mkdir"), "{called:?}");
    assert!(!made.exists());
    let turn = ask_in(&lango, "one", "drafts").turn().await;
    assert_eq!(calls(&turn), [("fs_mkdir", json!({ "path": "drafts" }))]);
    assert!(made.is_dir());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_request_after_a_question_is_not_taken_for_its_answer() {
    let lango = Lango::silent().await;
    let turn = ask_in(&lango, "one", "read a file for me").turn().await;
    assert_eq!(turn.status(), "needs_input");
    let turn = ask_in(&lango, "one", "never mind, list the files in src").turn().await;
    let calls = calls(&turn);
    assert_eq!((calls.len(), calls[0].0), (1, "fs_list"), "{}", turn.answer());
    assert_eq!(calls[0].1["path"], "src");
    assert!(turn.answer().contains("main.rs"), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dangerous_tool_is_not_guessed_into() {
    for request in ["clean that up", "wipe it", "do the thing with the shell", "finish them off"] {
        let lango = Lango::silent().await;
        let turn = ask(&lango, request).with(&["--approve", "all"]).turn().await;
        assert!([0, 6].contains(&turn.code), "{request}: {}", turn.answer());
        let dangerous = |name: &str| {
            ["exec_", "fs_write", "fs_edit", "fs_move", "fs_delete"]
                .iter()
                .any(|d| name.starts_with(d))
        };
        let called = calls(&turn);
        assert!(!called.iter().any(|(name, _)| dangerous(name)), "{request}: {called:?}");
        assert!(lango.workspace().join("README.md").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unclear_dangerous_request_is_asked_about_until_it_is_clear() {
    let lango = Lango::silent().await;
    let say = |text: &str| ask_in(&lango, "one", text);
    let turn = say("get rid of everything").with(&["--approve", "all"]).turn().await;
    assert_eq!((turn.status().as_str(), calls(&turn).len()), ("needs_input", 0));
    assert!(!turn.answer().contains('_') && turn.answer().ends_with('?'), "{}", turn.answer());
    // What is clear by now still waits for a yes.
    let turn = say("delete README.md").turn().await;
    assert_eq!((turn.code, turn.results_with(CallStatus::Denied)), (3, 1));
    assert_eq!((calls(&turn)[0].0, &calls(&turn)[0].1["path"]), ("fs_delete", &json!("README.md")));
    assert!(lango.workspace().join("README.md").exists());
}
