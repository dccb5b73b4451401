//! Questions at a terminal: only what a person types after reading one answers it.

use crate::fixture::{Lango, TO_OPERATOR};
use crate::typing::TypingSession;

const TOUCH: &str = r#"
[[reply]]
agent = "operator"
results = 0
call = [{ name = "exec_shell", arguments = { command = "touch made" } }]
[[reply]]
agent = "operator"
say = "That is how it went."
"#;

const QUESTION: &str = "Allow this once? [y/a/N]";

/// Says no at last, and checks that nothing before was taken for a yes.
async fn deny(lango: &Lango, mut session: TypingSession<'_>, why: &str) {
    session.answer("n\n").await;
    let finished = session.finish().await;
    assert_eq!(finished.code, 3, "{why}: {}", finished.stdout);
    assert!(!lango.workspace().join("made").exists(), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_before_a_question_can_be_read_does_not_answer_it() {
    for typed in ["y\n", "yes\ny\ny\n", "a\n", "y"] {
        let lango = Lango::playing(&[TO_OPERATOR, TOUCH]).await;
        // Typed while the model still thinks.
        let mut session = lango.at_terminal("run 'make it'").start_typing();
        session.send(typed).await;
        session.wait_for(QUESTION).await;
        deny(&lango, session, "typed ahead").await;
        // Typed in the moment in which it appears.
        let mut session = lango.at_terminal("run 'make it'").start_typing();
        session.wait_for(QUESTION).await;
        session.send(typed).await;
        deny(&lango, session, "typed too early").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paste_is_no_answer() {
    for pasted in [
        "\u{1b}[200~y\u{1b}[201~",
        "\u{1b}[200~y\n\u{1b}[201~",
        "\u{1b}[200~some text\ny\n\u{1b}[201~",
        "yes\n",
        "y\ny\n",
        "always\n",
        "some text\ny\n",
    ] {
        let lango = Lango::playing(&[TO_OPERATOR, TOUCH]).await;
        let mut session = lango.at_terminal("run 'make it'").start_typing();
        session.wait_for(QUESTION).await;
        session.wait_until_ready().await;
        session.send(pasted).await;
        session.wait_for("is no answer").await;
        session.wait_for(QUESTION).await;
        deny(&lango, session, pasted).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_not_clear_is_asked_for_again_and_never_a_no() {
    for (unclear, clear) in
        [("what?", "Yes"), ("yess", "YES"), ("sure thing", "ok"), ("x", " y "), ("j", "yes.")]
    {
        let lango = Lango::playing(&[TO_OPERATOR, TOUCH]).await;
        let mut session = lango.at_terminal("run 'make it'").start_typing();
        session.wait_for(QUESTION).await;
        session.answer(&format!("{unclear}\n")).await;
        session.wait_for("not understood").await;
        session.wait_for(QUESTION).await;
        session.answer(&format!("{clear}\n")).await;
        let finished = session.finish().await;
        assert_eq!(finished.code, 0, "{clear:?}: {}", finished.stdout);
        assert!(lango.workspace().join("made").exists(), "{clear:?}");
    }
    let lango = Lango::playing(&[TO_OPERATOR, TOUCH]).await;
    let mut session = lango.at_terminal("run 'make it'").start_typing();
    session.wait_for(QUESTION).await;
    session.answer("no.\n").await;
    assert_eq!(session.finish().await.code, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_chat_lines_that_were_pasted_are_one_message_and_answer_nothing() {
    let lango = Lango::playing(&[TO_OPERATOR, TOUCH]).await;
    let mut session = lango.at_terminal("chat").start_typing();
    session.wait_until_ready().await;
    session.send("\u{1b}[200~make it\ny\ny\n\u{1b}[201~").await;
    session.send("\n").await;
    // The same without the marks of a terminal: these are lines of their own.
    session.send("y\ny\n").await;
    session.wait_for(QUESTION).await;
    session.answer("n\n").await;
    session.wait_for("That is how it went.").await;
    session.answer("/quit\n").await;
    let finished = session.finish().await;
    assert_eq!(finished.code, 0, "{}", finished.stdout);
    assert!(!lango.workspace().join("made").exists());
    let asked = lango.requests_of("lango-orchestrator");
    assert!(asked[0].user().ends_with("make it\ny\ny"), "{}", asked[0].user());
    assert_eq!(asked.len(), 1, "what was typed ahead of the question is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_that_ask_discard_what_was_typed_ahead_too() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    lango.ask("hello").with(&["--session", "work"]).turn().await;
    let question = "everything in it? [y/N]";
    let mut session = lango.at_terminal("sessions delete work").start_typing();
    session.send("y\n").await;
    session.wait_for(question).await;
    session.answer("n\n").await;
    assert_eq!(session.finish().await.code, 1);
    let mut session = lango.at_terminal("sessions delete work").start_typing();
    session.wait_for(question).await;
    session.send("y\n").await;
    session.answer("sure\n").await;
    session.wait_for(question).await;
    session.answer("y\n").await;
    let finished = session.finish().await;
    assert!(finished.code == 0 && finished.stdout.contains("Deleted work"), "{finished:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_another_process_answers_leaves_the_terminal_as_it_was() {
    let lango = Lango::playing(&[TO_OPERATOR, TOUCH]).await;
    let mut session = lango.in_terminal_shell("run 'make it'; stty -a").start_typing();
    session.wait_for(QUESTION).await;
    session.wait_until_ready().await;
    let listed = lango.command(&["approvals", "list", "--json"]).run().await.stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let id = listed["waiting"][0]["id"].as_str().unwrap();
    assert_eq!(lango.command(&["approvals", "approve", id]).run().await.code, 0);
    session.wait_for("That is how it went.").await;
    session.wait_for("speed").await;
    let modes = session.finish().await.stdout;
    assert!(modes.contains(" icanon ") && modes.contains(" echo "), "{modes}");
    // The terminal marks no pastes any more.
    assert!(modes.rfind("\u{1b}[?2004l") > modes.rfind("\u{1b}[?2004h"), "{modes:?}");
    assert!(lango.workspace().join("made").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_at_a_question_leaves_the_terminal_as_it_was() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    lango.ask("hello").with(&["--session", "work"]).turn().await;
    let mut session =
        lango.in_terminal_shell("sessions delete work; echo ended with $?; stty -a").start_typing();
    session.wait_until_ready().await;
    session.send("\u{3}").await;
    session.wait_for("ended with 130").await;
    session.wait_for("speed").await;
    let modes = session.finish().await.stdout;
    assert!(modes.contains(" icanon ") && modes.contains(" echo "), "{modes}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_the_terminal_cannot_show_at_once_is_read_page_by_page() {
    // The command that matters is where it would have scrolled away.
    let lines: String = (0..30).map(|line| format!("echo {line}\\n")).collect();
    let script = TOUCH.replace("touch made", &format!("touch made\\n{lines}"));
    for (keys, code) in [("\n", 0), ("n\n", 3)] {
        let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
        let mut session = lango.at_small_terminal(16, "run 'make it'").start_typing();
        session.wait_for("touch made").await;
        session.wait_for("-- page 1 of ").await;
        session.answer(keys).await;
        if code == 0 {
            session.wait_for("-- page 2 of ").await;
            // A yes to a page is no answer to the question.
            session.answer("y\n").await;
            session.answer_pages_until(QUESTION).await;
            session.answer("y\n").await;
        }
        let finished = session.finish().await;
        assert_eq!(finished.code, code, "{}", finished.stdout);
        assert_eq!(lango.workspace().join("made").exists(), code == 0);
    }
}
