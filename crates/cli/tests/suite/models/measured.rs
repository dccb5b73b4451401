//! `lango eval calls`: models on labelled requests.

use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::Lango;
use crate::invocation::until;

/// Four requests, each of another kind.
const REQUESTS: &str = r#"
{"text": "read the file notes.txt", "agent": "operator", "tool": "fs_read", "args": {"path": "notes.txt"}, "level": "plain"}
{"text": "delete old.log", "agent": "operator", "tool": "fs_delete", "args": {"path": "old.log"}, "level": "plain"}

{"text": "hello there", "agent": "none", "tool": null, "args": {}, "level": "hard"}
{"text": "list the cron jobs", "agent": "automator", "tool": "cron_list"}
"#;

fn measured(stdout: &str) -> Value {
    serde_json::from_str(stdout).expect(stdout)
}

fn share(figures: &Value, name: &str) -> (u64, u64) {
    let share = &figures[name];
    (share["count"].as_u64().unwrap(), share["of"].as_u64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_model_is_measured_with_tools_that_are_not_here() {
    let lango = Lango::silent().await;
    let file = lango.file("requests.jsonl", REQUESTS);
    let eval = |more: &[&str]| lango.bare(&["eval", "calls", &file]).with(more);
    let finished = eval(&["--model", "embedded", "--json"]).run().await;
    assert_eq!(finished.code, 0, "{finished:?}");
    let report = measured(&finished.stdout);
    assert_eq!((&report["model"], &report["complete"]), (&"embedded".into(), &true.into()));
    let all = &report["all"];
    assert_eq!(all["requests"], 4);
    assert_eq!(share(all, "agent_right"), (4, 4));
    assert_eq!(share(all, "tool_right"), (3, 3));
    assert_eq!(share(all, "small_talk_right"), (1, 1));
    assert_eq!(all["agent_right"]["percent"], 100.0);
    assert_eq!(share(all, "dangerous_misread"), (0, 4));
    assert_eq!(report["levels"]["plain"]["requests"], 2);
    assert_eq!(report["levels"]["hard"]["requests"], 1);
    assert!(report["levels"]["plain"]["small_talk_right"]["percent"].is_null());
    assert_eq!(report["confusion"]["operator"]["operator"], 2);
    assert!(all["time_per_decision"]["median_cpu_milliseconds"].as_f64().unwrap() > 0.0);
    assert_eq!(report["time_as_orchestrator"]["decisions"], 4);
    assert_eq!(report["time_as_specialist"]["decisions"], 3);
    assert!(report.get("failures").is_none());
    let table = eval(&["--limit", "2"]).run().await.stdout;
    assert!(table.starts_with("embedded, 2 of 2 requests"), "{table}");
    assert!(table.contains("LEVEL") && table.contains("\nplain"), "{table}");
    // Nothing is kept of a measurement, and nothing was run.
    assert!(!lango.database_file().exists());
}

/// One reply of each kind: right, dangerous and wrong, asking, and words where work was wanted.
const SCRIPT: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "small"
say = "Hello."
[[reply]]
agent = "lango-orchestrator"
user = "vague"
say = "[ASK] Do you mean\n1. `fs_list`: Lists.\n2. `fs_read`: Reads.\nAnswer 1 or 2, or say it in other words?"
[[reply]]
agent = "lango-orchestrator"
user = "mumble"
say = "[ASK] What?"
[[reply]]
agent = "lango-orchestrator"
user = "invented"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "wizard", task = "x" } }]
[[reply]]
agent = "lango-orchestrator"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Do it." } }]
[[reply]]
agent = "operator"
user = "exact"
mentions = "<task from=\"lango-orchestrator\">\nDo it.\n</task>"
call = [{ name = "fs_read", arguments = { path = "A.txt", limit = 5 } }]
[[reply]]
agent = "operator"
user = "half"
call = [{ name = "fs_read", arguments = { path = "other.txt" } }]
[[reply]]
agent = "operator"
user = "where"
say = "[ASK] For `fs_read` I need its `path` (the file). What should it be?"
[[reply]]
agent = "operator"
user = "danger"
call = [{ name = "fs_delete", arguments = { path = "a.txt" } }]
[[reply]]
agent = "operator"
say = "[REJECT] not mine"
"#;

const LABELS: &str = r#"
{"text": "exact", "agent": "operator", "tool": "fs_read", "args": {"path": "a.txt ", "limit": 5.0}}
{"text": "half", "agent": "operator", "tool": "fs_read", "args": {"path": "a.txt"}}
{"text": "where is it", "agent": "operator", "tool": "fs_read", "args": {"path": "it"}}
{"text": "where", "agent": "operator", "tool": "fs_read", "args": {}}
{"text": "danger", "agent": "operator", "tool": "fs_read", "args": {"path": "a.txt"}}
{"text": "danger, chatter rather", "agent": "none"}
{"text": "vague", "agent": "operator", "tool": "fs_list", "args": {"path": "."}}
{"text": "mumble", "agent": "librarian", "tool": "rag_list", "args": {}}
{"text": "invented", "agent": "vault", "tool": "crypto_keys", "args": {}}
{"text": "small", "agent": "none", "tool": null}
{"text": "not its work", "agent": "vault", "tool": "crypto_keys"}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_reply_is_counted_as_what_it_is() {
    let lango = Lango::playing(&[SCRIPT]).await;
    let file = lango.file("labels.jsonl", LABELS);
    let eval = lango.command(&["eval", "calls", &file, "--json", "--failures", "3"]);
    let finished = eval.run().await;
    assert_eq!(finished.code, 0, "{finished:?}");
    let report = measured(&finished.stdout);
    let all = &report["all"];
    // The five of the operator, the vague one by its first reading, and small talk.
    assert_eq!(share(all, "agent_right"), (7, 11));
    assert_eq!(share(all, "tool_right"), (5, 9));
    // Exact, half, and a question for what the label has. A label without a path says nothing, and
    // neither does a question which tool is meant.
    assert_eq!(share(all, "arguments_exact"), (1, 3));
    assert_eq!(all["arguments_overlap"], 50.0);
    assert_eq!(share(all, "small_talk_right"), (1, 2));
    assert_eq!(share(all, "acted"), (3, 9));
    assert_eq!(share(all, "acted_right"), (2, 9));
    assert_eq!(share(all, "asked"), (4, 11));
    assert_eq!(share(all, "dangerous_misread"), (2, 11));
    assert_eq!(report["confusion"]["none"]["operator"], 1);
    assert_eq!(report["confusion"]["vault"]["undecided"], 1);
    assert!(all["time_per_decision"]["median_cpu_milliseconds"].is_null());
    let failures = report["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 3);
    assert_eq!(failures[0]["text"], "half");
    assert_eq!(failures[0]["expected"]["args"]["path"], "a.txt");
    assert_eq!(failures[0]["got"]["args"]["path"], "other.txt");
    // What an agent is told is what it is told in a turn: all seven, and the tools of its own.
    let requests = lango.requests();
    let received = lango.received();
    assert_eq!(requests[0].agent, "lango-orchestrator");
    assert!(received[0].body.contains("transfer_to_agent"), "{}", received[0].body);
    assert!(received[0].body.contains("chronicler") && received[0].body.contains("vault"));
    assert!(received[1].body.contains("exec_background"), "{}", received[1].body);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fast_path_is_counted_where_it_is_on() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Well.\"\n"]).await;
    let file = lango.file("requests.jsonl", REQUESTS);
    let eval = |router: &str| {
        let eval = lango.command(&["eval", "calls", &file, "--json"]);
        eval.set("LANGO_AGENT_ROUTER", router)
    };
    let with = measured(&eval("auto").run().await.stdout);
    let decided = share(&with["fast_path"], "decided");
    assert!(decided.0 > 0 && decided.1 == 4, "{with}");
    assert_eq!(share(&with["fast_path"], "wrong"), (0, 4));
    let without = measured(&eval("model").run().await.stdout);
    assert!(without.get("fast_path").is_none(), "{without}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_line_is_named_and_no_model_is_asked() {
    let lango = Lango::playing(&[SCRIPT]).await;
    let good = REQUESTS.trim();
    for (line, words) in [
        ("{\"text\": \"x\"", "EOF"),
        ("{\"text\": \"x\"}", "missing field `agent`"),
        ("{\"text\": \" \", \"agent\": \"none\"}", "`text` is empty"),
        ("{\"text\": \"x\", \"agent\": \"wizard\"}", "no agent \"wizard\"; there are operator"),
        ("{\"text\": \"x\", \"agent\": \"none\", \"tool\": \"fs_read\"}", "`agent` is none"),
        ("{\"text\": \"x\", \"agent\": \"none\", \"args\": []}", "args"),
    ] {
        let file = lango.file("bad.jsonl", format!("{good}\n{line}\n"));
        let finished = lango.command(&["eval", "calls", &file]).run().await;
        assert_eq!((finished.code, finished.stdout.as_str()), (2, ""), "{line}: {finished:?}");
        assert!(finished.stderr.contains("bad.jsonl, line 6: "), "{line}: {}", finished.stderr);
        assert!(finished.stderr.contains(words), "{words}: {}", finished.stderr);
    }
    let missing = lango.command(&["eval", "calls", "nowhere.jsonl"]).run().await;
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("cannot read nowhere.jsonl"), "{}", missing.stderr);
    let empty = lango.file("empty.jsonl", "\n");
    let empty = lango.command(&["eval", "calls", &empty]).run().await;
    assert_eq!(empty.code, 2, "{empty:?}");
    assert!(lango.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_measurement_that_ends_early_leaves_the_figures_so_far() {
    let script = "[[reply]]\nuser = \"second\"\nfault = \"silence\"\n\
                  [[reply]]\nuser = \"third\"\nerror = \"auth\"\n\
                  [[reply]]\nsay = \"Hello.\"\n";
    let lango = Lango::playing(&[script]).await;
    let line = |text: &str| format!("{{\"text\": \"{text}\", \"agent\": \"none\"}}\n");
    let stopped = lango.file("stopped.jsonl", line("first") + &line("second") + &line("last"));
    let running = lango.command(&["eval", "calls", &stopped, "--json"]).start();
    until("the second request", || lango.received().len() == 2).await;
    running.signal(Signal::INT);
    let finished = running.finish().await;
    assert_eq!(finished.code, 130, "{finished:?}");
    let report = measured(&finished.stdout);
    assert_eq!((&report["complete"], &report["given"]), (&false.into(), &3.into()));
    assert_eq!(share(&report["all"], "small_talk_right"), (1, 1));
    let refused = lango.file("refused.jsonl", line("first") + &line("third"));
    let finished = lango.command(&["eval", "calls", &refused, "--json"]).run().await;
    assert_eq!(finished.code, 4, "{finished:?}");
    assert_eq!(measured(&finished.stdout)["all"]["requests"], 1);
    assert!(finished.stderr.contains("refused the key"), "{}", finished.stderr);
}
