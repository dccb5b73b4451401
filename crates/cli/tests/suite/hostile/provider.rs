//! Providers that break, stall, flood and say nothing.

use std::time::Instant;

use lango_protocol::{EventBody, WarningCode};

use crate::fixture::{Lango, TO_OPERATOR};
use crate::invocation::until;

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_cut_off_is_never_executed() {
    for fault in ["cut", "no-end", "stall", "garbage", "error-event"] {
        for call in [
            r#"{ name = "fs_write", arguments = { path = "owned", content = "half" } }"#,
            r#"{ name = "exec_shell", arguments = { command = "touch owned" } }"#,
        ] {
            let script =
                format!("[[reply]]\nagent = \"operator\"\nfault = \"{fault}\"\ncall = [{call}]\n");
            let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
            let invocation = lango.ask("do it").with(&["--approve", "all"]);
            let turn = invocation.set("LANGO_MODEL_IDLESECONDS", "1").turn().await;
            assert_eq!((turn.code, turn.class().as_str()), (4, "provider"), "{fault}");
            assert_eq!((turn.count("tool_call"), turn.count("tool_started")), (0, 0), "{fault}");
            assert!(!lango.workspace().join("owned").exists(), "{fault}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn half_an_answer_is_not_presented_as_one() {
    for fault in ["cut", "no-end", "stall", "garbage", "error-event"] {
        let script =
            format!("[[reply]]\nfault = \"{fault}\"\nsay = \"All is well, except that\"\n");
        let lango = Lango::playing(&[&script]).await;
        let turn = lango.ask("how is it?").set("LANGO_MODEL_IDLESECONDS", "1").turn().await;
        assert_eq!((turn.code, turn.author()), (4, "lango"), "{fault}");
        assert!(turn.answer().starts_with("I could not finish:"), "{}", turn.answer());
        assert!(!turn.answer().contains("All is well"), "{fault}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_ends_after_the_idle_time() {
    let lango = Lango::playing(&["[[reply]]\nfault = \"silence\"\n"]).await;
    let began = Instant::now();
    let turn = lango.ask("hello?").set("LANGO_MODEL_IDLESECONDS", "1").turn().await;
    assert_eq!((turn.code, turn.class().as_str()), (4, "provider"));
    assert!(turn.answer().contains("nothing for 1 s (model.idleSeconds)"), "{}", turn.answer());
    assert!(turn.outcome().work.milliseconds >= 2_000, "both waits are in the account");
    assert!(began.elapsed().as_secs() < 6, "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_of_the_provider_end_the_turn_with_what_to_do() {
    for (status, told) in [
        (401, "lango config set providers.openai.apiKeyEnv"),
        (404, "lango models list openai"),
        (429, "Ask again in a moment"),
        (500, "Ask again in a moment"),
        (529, "Ask again in a moment"),
    ] {
        let script = format!("[[reply]]\nfault = \"status\"\nstatus = {status}\n");
        let lango = Lango::playing(&[&script]).await;
        let turn = lango.ask("hello").turn().await;
        assert_eq!((turn.code, turn.class().as_str()), (4, "provider"), "{status}");
        assert!(turn.answer().contains(&format!("HTTP {status}")), "{}", turn.answer());
        assert!(turn.answer().contains(told), "{}", turn.answer());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_says_nothing_is_asked_once_more_and_then_given_up() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"\"\n"]).await;
    let turn = lango.ask("hello").turn().await;
    assert_eq!((turn.code, turn.class().as_str(), turn.author()), (1, "model", "lango"));
    assert_eq!(turn.warnings(), [WarningCode::EmptyReply, WarningCode::EmptyReply]);
    assert_eq!(lango.requests().len(), 2);
    assert!(lango.requests()[1].user().contains("Your last reply was empty"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_only_thinks_or_stutters_once_still_answers() {
    let script =
        "[[reply]]\ntimes = 1\nthink = \"Hmm.\"\n[[reply]]\nthink = \"I see.\"\nsay = \"Yes.\"\n";
    let lango = Lango::playing(&[script]).await;
    let turn = lango.ask("really?").turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "Yes."));
    let said = |event: &lango_protocol::Event| match &event.body {
        EventBody::TextDelta { text, .. } | EventBody::Message { text, .. } => text.contains("see"),
        _ => false,
    };
    assert!(!turn.events.iter().any(said), "reasoning is not part of the answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_three_megabytes_is_cut_and_said_to_be() {
    let script = "[[reply]]\nsay = \"All work and no play. \"\nrepeat = 140000\n";
    let lango = Lango::playing(&[script]).await;
    let turn = lango.ask("write a lot").turn().await;
    assert_eq!((turn.code, turn.warnings()), (0, vec![WarningCode::ReplyTruncated]));
    let answer = turn.answer();
    assert!((200_000..400_000).contains(&answer.len()), "{}", answer.len());
    assert!(answer.ends_with("was cut here]"), "{}", &answer[answer.len() - 80..]);
}

/// The most memory a process has used so far.
fn peak_kilobytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_words_and_thoughts_is_not_kept_in_memory_or_on_disk() {
    let thought = "x".repeat(3 * 1024 * 1024);
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
think = "{thought}"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "x", return = true } }]
[[reply]]
agent = "operator"
say = "All work and no play. "
repeat = 1000000
[[reply]]
agent = "lango-orchestrator"
delay_ms = 1500
say = "Short."
"#
    .replace("{thought}", &thought);
    let lango = Lango::playing(&[&script]).await;
    let running = lango.ask("write a lot").start();
    until("the last request", || lango.requests_of("lango-orchestrator").len() == 2).await;
    let peak = peak_kilobytes(running.id());
    let turn = running.turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "Short."));
    assert!(peak < 100 * 1024, "{peak} kB for 25 MB that were sent");
    let database = std::fs::metadata(lango.database_file()).unwrap().len();
    assert!(database < 4 * 1024 * 1024, "{database}");
}
