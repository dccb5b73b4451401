//! Who answers, when, and how often it counts.

use lango_protocol::{ApprovalDecision, CallStatus, EventBody};

use super::{listed, question, run_once};
use crate::fixture::{Lango, TO_OPERATOR};
use crate::journal::Turn;

fn decision(turn: &Turn) -> (ApprovalDecision, &str) {
    turn.events
        .iter()
        .find_map(|event| match &event.body {
            EventBody::ApprovalResolved { decision, by, .. } => Some((*decision, by.as_str())),
            _ => None,
        })
        .unwrap()
}

fn made(lango: &Lango) -> String {
    std::fs::read_to_string(lango.workspace().join("made")).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_comes_from_another_process_and_counts_once() {
    for (verb, code, effect) in [("approve", 0, "x\n"), ("deny", 3, "")] {
        let lango = Lango::playing(&[TO_OPERATOR, &run_once("echo x >> made")]).await;
        let running = lango.ask("make it").with(&["--approve", "wait"]).start();
        let id = question(&lango).await;
        assert_eq!(made(&lango), "", "nothing happens before the answer");
        let shown = lango.command(&["approvals", "show", &id]).run().await;
        assert!(shown.stdout.contains("$ echo x >> made"), "{shown:?}");
        let answered = lango.command(&["approvals", verb, &id]).run().await;
        assert_eq!(answered.code, 0, "{answered:?}");
        let turn = running.turn().await;
        assert_eq!((turn.code, made(&lango).as_str()), (code, effect), "{verb}");
        assert_eq!(decision(&turn).1, "the user, with lango approvals");
        for verb in ["approve", "deny"] {
            let again = lango.command(&["approvals", verb, &id]).run().await;
            assert_eq!(again.code, 2, "{again:?}");
            assert!(again.stderr.contains("lango approvals list"), "{again:?}");
        }
        assert_eq!(made(&lango), effect);
        assert!(listed(&lango).await["waiting"].as_array().unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_outlives_the_process_that_asked_it() {
    for (verb, code, effect) in [("approve", 0, "x\n"), ("deny", 3, "")] {
        let lango = Lango::playing(&[TO_OPERATOR, &run_once("echo x >> made")]).await;
        let running = lango.ask("make it").with(&["--approve", "wait"]).start();
        let id = question(&lango).await;
        running.kill().await;
        let answered = lango.command(&["approvals", verb, &id]).run().await;
        assert_eq!(answered.code, 0, "{answered:?}");
        assert!(answered.stdout.contains("lango resume"), "{answered:?}");
        assert_eq!(made(&lango), "");
        // No user is there to be asked: the answer that was given is what counts.
        let resume = ["resume", "--last", "--output-format", "stream-json"];
        let resumed = lango.command(&resume).run().await;
        assert_eq!((resumed.code, made(&lango).as_str()), (code, effect), "{resumed:?}");
        let again = lango.command(&["approvals", "approve", &id]).run().await;
        assert_eq!(again.code, 2, "{again:?}");
        let resumed = lango.command(&resume).run().await;
        assert!(resumed.stdout.contains("nothing to resume"), "{resumed:?}");
        assert_eq!(made(&lango), effect);
        assert_eq!(lango.requests_of("operator").len(), 2, "the model was not asked again");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_question_is_asked_again_and_still_answered_from_anywhere() {
    let lango = Lango::playing(&[TO_OPERATOR, &run_once("echo x >> made")]).await;
    let running = lango.ask("make it").with(&["--approve", "wait"]).start();
    let id = question(&lango).await;
    running.kill().await;
    let resume = ["resume", "--last", "--approve", "wait", "--output-format", "stream-json"];
    let running = lango.command(&resume).start();
    assert_eq!(question(&lango).await, id, "the same question");
    let answered = lango.command(&["approvals", "approve", &id]).run().await;
    assert_eq!(answered.code, 0, "{answered:?}");
    assert_eq!((running.finish().await.code, made(&lango).as_str()), (0, "x\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_is_given_up_takes_its_question_with_it() {
    let lango = Lango::playing(&[TO_OPERATOR, &run_once("echo x >> made")]).await;
    let ask = || lango.ask("make it").with(&["--session", "work"]);
    let running = ask().with(&["--approve", "wait"]).start();
    let id = question(&lango).await;
    running.kill().await;
    let turn = ask().with(&["--approve", "none"]).turn().await;
    assert_eq!(turn.code, 3);
    let late = lango.command(&["approvals", "approve", &id]).run().await;
    assert_eq!((late.code, made(&lango).as_str()), (2, ""), "{late:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_not_answered_expires() {
    let lango = Lango::playing(&[TO_OPERATOR, &run_once("echo x >> made")]).await;
    let waiting = lango.ask("make it").with(&["--approve", "wait"]);
    let turn = waiting.set("LANGO_APPROVALS_EXPIRESECONDS", "1").turn().await;
    assert_eq!((turn.code, made(&lango).as_str()), (3, ""));
    assert_eq!(decision(&turn), (ApprovalDecision::Denied, "no answer arrived in time"));
    assert_eq!((turn.results_with(CallStatus::Denied), turn.count("tool_started")), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_shown_is_what_runs_whatever_is_in_it() {
    let padding = " ".repeat(20_000);
    let hidden = format!("echo x >> made #\u{202e}\u{200b}\u{1b}[2K\r{padding}; echo \u{7f}y");
    let lango = Lango::playing(&[TO_OPERATOR, &run_once(&hidden)]).await;
    let running = lango.ask("make it").with(&["--approve", "wait"]).start();
    let id = question(&lango).await;
    let shown = lango.command(&["approvals", "show", &id]).run().await.stdout;
    let visible = "echo x >> made #\\u{202e}\\u{200b}\\u{1b}[2K\\r";
    assert!(shown.contains(&format!("$ {visible}{padding}; echo \\u{{7f}}y\n")), "{shown}");
    assert!(!shown.contains(['\u{202e}', '\u{200b}', '\u{1b}', '\r', '\u{7f}']));
    lango.command(&["approvals", "approve", &id]).run().await;
    let turn = running.turn().await;
    let ran = turn.events.iter().find_map(|event| match &event.body {
        EventBody::ToolCall { arguments, .. } => Some(arguments.clone()),
        _ => None,
    });
    let ran: serde_json::Value = serde_json::from_str(&ran.unwrap()).unwrap();
    assert_eq!(ran["command"], hidden.as_str());
    assert_eq!((turn.code, made(&lango).as_str()), (0, "x\n"));
}
