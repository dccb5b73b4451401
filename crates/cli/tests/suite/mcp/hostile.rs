//! Servers that mean no good: they cost themselves only.

use lango_protocol::CallStatus;

use super::peer::{Listening, hostile, lango_with};
use crate::fixture::{Lango, TO_OPERATOR, calling};
use crate::journal::Turn;
use crate::site::{Site, page, redirect};

/// A call of the bad server, then one of a good one, in one turn.
async fn beside_a_good_one(bad: &str, call: (&str, &str)) -> Turn {
    let config = bad.to_owned() + &hostile("good", &["plain"], "");
    let lango = lango_with(&config, &[call, ("mcp_good_greet", "{}")]).await;
    let turn = lango.ask("greet").with(&["--approve", "all"]).turn().await;
    let last = turn.results().last().map(|(tool, status, _)| ((*tool).to_owned(), *status));
    let good = Some(("mcp_good_greet".to_owned(), CallStatus::Ok));
    assert_eq!(last, good, "{:?}\n{}", turn.results(), turn.stderr);
    turn
}

async fn failing(misbehaviour: &[&str], more: &str, reason: &str) {
    let bad = hostile("bad", misbehaviour, more);
    let turn = beside_a_good_one(&bad, ("mcp_bad_greet", "{}")).await;
    let results = turn.results();
    assert_eq!(results[0].1, CallStatus::Error, "{misbehaviour:?}: {results:?}");
    assert!(results[0].2.contains(reason), "{misbehaviour:?}: {results:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_a_gigabyte_and_silence_end_a_call_and_nothing_else() {
    failing(&["flood"], "", "flooded").await;
    failing(&["huge"], "", "8 MiB").await;
    failing(&["silence"], "tool_timeout_sec = 1", "did not answer within 1 s").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_floods_is_left_alone_afterwards() {
    let calls = [("mcp_bad_greet", r#"{ name = "a" }"#), ("mcp_bad_greet", r#"{ name = "b" }"#)];
    let lango = lango_with(&hostile("bad", &["flood"], ""), &calls).await;
    let turn = lango.ask("greet").with(&["--approve", "all"]).turn().await;
    let results = turn.results();
    assert!(results[0].2.contains("flooded"), "{results:?}");
    assert!(results[1].2.contains("is left alone"), "{results:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_over_http() {
    for (mode, reason) in [("flood", ""), ("huge", ""), ("silence", "did not answer within 1 s")] {
        let listening = Listening::hostile(&[mode]).await;
        let bad = listening.entry("bad", "tool_timeout_sec = 1");
        let turn = beside_a_good_one(&bad, ("mcp_bad_greet", "{}")).await;
        let results = turn.results();
        assert_eq!(results[0].1, CallStatus::Error, "{mode}: {results:?}");
        assert!(results[0].2.contains(reason), "{mode}: {results:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_at_the_start_leaves_the_server_out_and_the_rest_works() {
    for (mode, more, reason) in [
        (
            &["slow-start", "--seconds", "60"][..],
            "startup_timeout_sec = 1",
            "was not ready within 1 s",
        ),
        (&["flood", "--at", "start"], "startup_timeout_sec = 5", "bad"),
        (&["huge", "--at", "initialize"], "startup_timeout_sec = 20", "8 MiB"),
        (&["silence", "--at", "list"], "startup_timeout_sec = 1", "bad"),
        (&["crash", "--at", "initialize"], "", "code 3"),
    ] {
        let bad = hostile("bad", mode, more);
        let config = bad + &hostile("good", &["plain"], "");
        let lango = lango_with(&config, &[("mcp_good_greet", "{}")]).await;
        let ran = lango.command(&["run", "greet", "--approve", "all"]).run().await;
        assert!(ran.code == 0 && ran.stdout.contains("hello"), "{mode:?}: {ran:?}");
        assert!(ran.stderr.contains("the MCP server bad"), "{mode:?}: {ran:?}");
        assert!(ran.stderr.contains(reason), "{mode:?}: {ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_between_messages_is_skipped_and_escapes_do_not_get_through() {
    let turn = beside_a_good_one(&hostile("bad", &["garbage"], ""), ("mcp_bad_greet", "{}")).await;
    assert_eq!(turn.results_with(CallStatus::Ok), 2, "{:?}", turn.results());
    let turn = beside_a_good_one(&hostile("bad", &["escape"], ""), ("mcp_bad_greet", "{}")).await;
    let text = turn.results()[0].2.to_owned();
    assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{text:?}");
    assert!(!turn.stderr.contains('\u{1b}'), "{:?}", turn.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn f5_no_user_is_asked_for_a_secret_and_the_model_is_not_lent() {
    let turn =
        beside_a_good_one(&hostile("bad", &["elicit-secret"], ""), ("mcp_bad_connect", "{}")).await;
    let text = turn.results()[0].2.to_owned();
    assert!(text.contains("decline"), "{text}");
    assert!(text.contains("secrets are never given to servers"), "{text}");
    let loops = hostile("bad", &["sampling-loop", "--times", "5"], "");
    let turn = beside_a_good_one(&loops, ("mcp_bad_think", "{}")).await;
    let text = turn.results()[0].2.to_owned();
    assert!(text.contains("the model was not asked"), "{text}");
    // As many times as it may, with a person's yes each time, and not once more.
    let budget = "sampling_requests = 2\nsampling_tokens = 1000000";
    let loops = hostile("bad", &["sampling-loop", "--times", "5"], budget);
    let script = calling("operator", &[("mcp_bad_think", "{}")]) + "[[reply]]\nsay = \"thought\"\n";
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    super::peer::configure(&lango, &loops);
    let turn = lango.ask("think").with(&["--approve", "all"]).turn().await;
    let text = turn.results()[0].2.to_owned();
    assert!(text.contains("\"answers\": 2"), "{text}");
    let lent = lango.requests().iter().filter(|r| r.system().contains("A program that")).count();
    assert_eq!(lent, 2, "{text}");
    assert!(text.contains("it may ask 2 times for each call"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_descriptions_of_all_kinds_are_bounded() {
    for mode in ["names", "description-attack"] {
        let config = hostile("bad", &[mode], "") + &hostile("good", &["plain"], "");
        let lango = lango_with(&config, &[("mcp_good_greet", "{}")]).await;
        let turn = lango.ask("greet").with(&["--approve", "all"]).turn().await;
        assert_eq!(turn.results_with(CallStatus::Ok), 1, "{mode}: {:?}", turn.results());
        let tools = lango.command(&["tools", "list", "--json"]).run().await.stdout;
        let names: Vec<String> = serde_json::from_str::<Vec<serde_json::Value>>(&tools)
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect();
        let is_sound = |name: &String| {
            name.len() <= 64
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        };
        assert!(names.iter().all(is_sound), "{names:?}");
        let listed = lango.command(&["mcp", "tools", "bad"]).run().await.stdout;
        assert!(!listed.contains('\u{1b}'), "{listed:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_tools_become_two_and_every_check_holds_behind_them() {
    let config = hostile("many", &["many"], "");
    let calls = [
        ("mcp_many_tools", "{}"),
        ("mcp_many_tools", r#"{ tool = "tool_007" }"#),
        ("mcp_many_call", r#"{ tool = "tool_999", arguments = {} }"#),
        ("mcp_many_call", r#"{ tool = "tool_007", arguments = { surprise = 1 } }"#),
    ];
    let lango = lango_with(&config, &calls).await;
    let turn = lango.ask("many").with(&["--approve", "all"]).turn().await;
    let results = turn.results();
    assert!(results[0].2.contains("tool_499"), "{}", results[0].2);
    assert!(results[1].2.contains("Arguments: {"), "{}", results[1].2);
    assert_eq!(results[2].1, CallStatus::Refused, "{results:?}");
    let requests = lango.requests_of("operator");
    let offered: Vec<&str> =
        requests[0].tools().into_iter().filter(|name| name.starts_with("mcp_")).collect();
    assert_eq!(offered, ["mcp_many_call", "mcp_many_tools"]);
    // A rule for the tool itself holds, although it is called through another.
    let deny = ["approvals", "add", "deny", "--tool", "mcp_many_tool_007"];
    assert_eq!(lango.command(&deny).run().await.code, 0);
    let turn = lango.ask("many").with(&["--approve", "all"]).turn().await;
    assert_ne!(turn.results()[3].1, CallStatus::Ok, "{:?}", turn.results());
}

#[tokio::test(flavor = "multi_thread")]
async fn c5_a_server_cannot_redirect_to_another_host() {
    let other = Site::with(vec![("/mcp", page("never"))]).await;
    let site = Site::with(vec![("/mcp", redirect(&other.url("/mcp")))]).await;
    let config = format!(
        "[mcp_servers.bad]\nurl = {:?}\nheaders = {{ X-Key = \"canary-1234\" }}\n",
        site.url("/mcp")
    );
    let lango = lango_with(&config, &[]).await;
    let tested = lango.command(&["mcp", "test", "bad"]).run().await;
    assert_eq!(tested.code, 1, "{tested:?}");
    assert!(site.connections() > 0 && other.connections() == 0, "{tested:?}");
    assert!(!tested.stderr.contains("canary-1234"), "{tested:?}");
    // A name is not an address that the user typed: what it leads to must be public.
    let config = "[mcp_servers.bad]\nurl = \"http://metadata.google.internal/mcp\"\n";
    super::peer::configure(&lango, config);
    let tested = lango.command(&["mcp", "test", "bad"]).run().await;
    assert!(tested.code == 1 && tested.stderr.contains("metadata"), "{tested:?}");
}
