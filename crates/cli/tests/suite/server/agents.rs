//! Tests the A2A endpoint with other programs: clients made with the protocol's own kits, and
//! another Lango.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Server, add_caller};
use crate::a2a::{Kind, Peer, configure};
use crate::fixture::Lango;
use crate::mcp::peer::{node_programs, peers};

/// The planner does what the message says: words, many words, a question, or nothing for a while.
const TEAM: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "hello"
say = "Hello yourself."
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Do it." } }]
[[reply]]
agent = "planner"
user = "enquire"
say = "[ASK] Which colour?"
[[reply]]
agent = "planner"
user = "blue"
say = "Then it is blue."
[[reply]]
agent = "planner"
user = "sleep"
delay_ms = 60000
say = "Awake."
[[reply]]
agent = "planner"
user = "soon"
delay_ms = 1500
say = "This is a long answer, which comes in many pieces. "
repeat = 30
[[reply]]
agent = "planner"
say = "The plan is made."
"#;

/// A third-party client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kit {
    Python(&'static str),
    PythonThree,
    Node(&'static str),
    NodeThree,
}

const KITS: [Kit; 6] = [
    Kit::Python("jsonrpc"),
    Kit::Python("rest"),
    Kit::PythonThree,
    Kit::Node("jsonrpc"),
    Kit::Node("rest"),
    Kit::NodeThree,
];

struct Client<'a> {
    kit: Kit,
    url: String,
    token: &'a str,
}

impl Client<'_> {
    fn command(&self) -> tokio::process::Command {
        let (program, file, binding): (PathBuf, &str, Option<&str>) = match self.kit {
            Kit::Python(binding) => {
                (peers().join("python/a2a/bin/python"), "python/a2a_client.py", Some(binding))
            }
            Kit::PythonThree => {
                (peers().join("python/a2a03/bin/python"), "python/a2a03_client.py", None)
            }
            Kit::Node(binding) => {
                (node_programs().join("node"), "node/a2a_client.mjs", Some(binding))
            }
            Kit::NodeThree => (node_programs().join("node"), "node/a2a03_client.mjs", None),
        };
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers");
        let mut command = tokio::process::Command::new(program);
        command.arg(ours.join(file)).args(["--url", &self.url, "--token", self.token]);
        if let Some(binding) = binding {
            command.args(["--binding", binding]);
        }
        command.env("LANGO_PEERS", peers()).kill_on_drop(true);
        command
    }

    /// Every line that it prints.
    async fn run(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.command().args(arguments).output().await.unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!lines.is_empty(), "{:?} {arguments:?} said nothing: {errors}", self.kit);
        lines
    }

    /// The last line that it prints.
    async fn last(&self, arguments: &[&str]) -> Value {
        self.run(arguments).await.pop().unwrap()
    }
}

/// The states in the order in which they came, each once.
fn states(lines: &[Value]) -> Vec<&str> {
    let mut states: Vec<&str> = lines.iter().filter_map(|line| line["state"].as_str()).collect();
    states.dedup();
    states
}

/// What the pieces of the artifact come to.
fn told(lines: &[Value]) -> String {
    let mut text = String::new();
    for line in lines {
        match line["kind"].as_str() {
            Some("artifact") => {
                if line["append"] != true {
                    text.clear();
                }
                text.push_str(line["text"].as_str().unwrap());
            }
            Some("task") => {
                let parts = line["artifacts"].as_array().cloned().unwrap_or_default();
                let all: String = parts.iter().filter_map(Value::as_str).collect();
                if !all.is_empty() {
                    text = all;
                }
            }
            _ => {}
        }
    }
    text
}

async fn each_kit(run: impl AsyncFn(&Client<'_>)) {
    let lango = Lango::playing(&[TEAM]).await;
    // Notifications go to a place of the client's own, on this machine.
    std::fs::write(lango.config_file(), "[egress]\nallow = [\"127.0.0.1\", \"localhost\"]\n")
        .unwrap();
    let server = Server::started(lango.command(&["serve", "--port", "0"]).small_team()).await;
    for kit in KITS {
        let url = format!("http://{}", server.address);
        run(&Client { kit, url, token: &server.token }).await;
    }
    let ended = server.stop().await;
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kit_sends_and_waits_and_listens() {
    each_kit(async |client| {
        let done = client.last(&["send", "make a plan"]).await;
        assert_eq!(
            (done["kind"].as_str(), done["state"].as_str()),
            (Some("task"), Some("completed")),
            "{:?} {done}",
            client.kit
        );
        assert_eq!(done["artifacts"][0], "The plan is made.", "{:?}", client.kit);
        let small = client.last(&["send", "hello"]).await;
        assert_eq!(
            (small["kind"].as_str(), small["text"].as_str()),
            (Some("message"), Some("Hello yourself.")),
            "{:?} {small}",
            client.kit
        );
        let streamed = client.run(&["stream", "soon"]).await;
        let whole = "This is a long answer, which comes in many pieces. ".repeat(30);
        assert_eq!(told(&streamed).trim(), whole.trim(), "{:?}", client.kit);
        assert_eq!(states(&streamed).last(), Some(&"completed"), "{:?}", client.kit);
        assert!(states(&streamed).contains(&"working"), "{:?} {:?}", client.kit, states(&streamed));
        let pieces = streamed.iter().filter(|line| line["kind"] == "artifact").count();
        assert!(pieces > 1, "{:?}", client.kit);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kit_answers_questions_and_stops_tasks() {
    each_kit(async |client| {
        let asked = client.last(&["send", "enquire"]).await;
        assert_eq!(
            (asked["state"].as_str(), asked["text"].as_str()),
            (Some("input-required"), Some("Which colour?")),
            "{:?} {asked}",
            client.kit
        );
        let (task, context) = (asked["task"].as_str().unwrap(), asked["context"].as_str().unwrap());
        let answered = client.last(&["answer", task, context, "blue"]).await;
        assert_eq!(
            (answered["task"].as_str(), answered["state"].as_str()),
            (Some(task), Some("completed")),
            "{:?} {answered}",
            client.kit
        );
        assert_eq!(answered["artifacts"].as_array().unwrap().last().unwrap(), "Then it is blue.");
        let slow = client.last(&["start", "sleep"]).await;
        let task = slow["task"].as_str().unwrap();
        assert!(matches!(slow["state"].as_str(), Some("submitted" | "working")), "{slow}");
        let stopped = client.last(&["cancel", task]).await;
        assert_eq!(stopped["state"], "canceled", "{:?} {stopped}", client.kit);
        assert_eq!(client.last(&["get", task]).await["state"], "canceled", "{:?}", client.kit);
        let again = client.last(&["cancel", task]).await;
        assert_eq!(again["kind"], "error", "{:?} {again}", client.kit);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kit_goes_on_after_a_cut_and_is_notified() {
    each_kit(async |client| {
        let lines = client.run(&["stream-cut", "soon", "1"]).await;
        let cut = lines.iter().position(|line| line["kind"] == "cut").unwrap();
        assert_eq!(states(&lines).last(), Some(&"completed"), "{:?}", client.kit);
        let whole = "This is a long answer, which comes in many pieces. ".repeat(30);
        // From the cut on: the task as it is, and what follows.
        assert_eq!(told(&lines[cut..]).trim(), whole.trim(), "{:?}", client.kit);
        let lines = client.run(&["push", "make a plan"]).await;
        let told: Vec<&Value> =
            lines.iter().filter(|line| line["kind"] == "notification").collect();
        assert!(!told.is_empty(), "{:?} {lines:?}", client.kit);
        assert!(told.iter().all(|line| line["token"] == "token-of-the-webhook"), "{told:?}");
        assert_eq!(told.last().unwrap()["state"], "completed", "{:?}", client.kit);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d11_a_task_belongs_to_one_caller() {
    let lango = Lango::playing(&[TEAM]).await;
    let server = Server::started(lango.command(&["serve", "--port", "0"]).small_team()).await;
    let other = add_caller(&lango, &["other"]).await;
    let url = format!("http://{}", server.address);
    let kit = Kit::Python("jsonrpc");
    let owner = Client { kit, url: url.clone(), token: &server.token };
    let stranger = Client { kit, url, token: &other };
    let asked = owner.last(&["send", "enquire"]).await;
    let (task, context) = (asked["task"].as_str().unwrap(), asked["context"].as_str().unwrap());
    for command in [&["get", task][..], &["cancel", task], &["resubscribe", task]] {
        let refused = stranger.last(command).await;
        assert_eq!(refused["kind"], "error", "{command:?} {refused}");
    }
    let refused = stranger.last(&["answer", task, context, "blue"]).await;
    assert_eq!(refused["kind"], "error", "{refused}");
    assert_eq!(stranger.last(&["list"]).await["tasks"], Value::Array(Vec::new()));
    assert_eq!(owner.last(&["get", task]).await["state"], "input-required");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_langos_work_together() {
    let there = Lango::playing(&[TEAM]).await;
    let server = Server::started(there.command(&["serve", "--port", "0"]).small_team()).await;
    let hands = |word: &str, task: &str| {
        format!(
            "[[reply]]\nagent = \"lango-orchestrator\"\nuser = \"{word}\"\nresults = 0\n\
             call = [{{ name = \"transfer_to_agent\", arguments = {{ agent_name = \"weather\", \
             task = \"{task}\" }} }}]\n"
        )
    };
    let script = [
        hands("plan", "make a plan"),
        hands("long", "soon"),
        hands("colour", "enquire"),
        hands("blue", "blue"),
    ];
    let here = Lango::playing(&[&script.concat()]).await;
    // With a description by the owner, no word of the card is among those that the script looks for.
    let more = "tokenEnv = \"THERE\"\ndescription = \"anything\"";
    configure(&here, &format!("http://{}", server.address), more);
    let ask = |text: &str| here.ask(text).small_team().set("THERE", &server.token);
    let turn = ask("plan it").turn().await;
    assert_eq!((turn.author(), turn.answer()), ("weather", "The plan is made."));
    let turn = ask("a long one").turn().await;
    let whole = "This is a long answer, which comes in many pieces. ".repeat(30);
    assert_eq!(turn.answer().trim(), whole.trim());
    assert!(turn.count("text_delta") > 1);
    let turn = ask("a colour").with(&["--session", "s"]).turn().await;
    assert_eq!((turn.status().as_str(), turn.answer()), ("needs_input", "Which colour?"));
    let turn = ask("blue").with(&["--session", "s"]).turn().await;
    assert_eq!((turn.status().as_str(), turn.answer()), ("done", "Then it is blue."));
    // The other one is told who asks.
    let heard = there.requests_of("planner");
    assert!(heard.iter().all(|request| request.text().contains("sent by owner")));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_goes_through_the_team_to_remote_agents() {
    let peer = Peer::start(Kind::PythonRpc, &[]).await;
    let script = "[[reply]]\nagent = \"lango-orchestrator\"\nresults = 0\n\
                  call = [{ name = \"transfer_to_agent\", arguments = { agent_name = \"weather\", \
                  task = \"headers\" } }]\n";
    let lango = Lango::playing(&[script]).await;
    configure(&lango, &peer.url(), "");
    let server = Server::started(lango.command(&["serve", "--port", "0"]).small_team()).await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let given = format!("traceparent=00-{trace}-00f067aa0ba902b7-01");
    let url = format!("http://{}", server.address);
    let client = Client { kit: Kit::Python("jsonrpc"), url, token: &server.token };
    let done = client.last(&["--header", &given, "send", "trace it"]).await;
    let headers: Value = serde_json::from_str(done["artifacts"][0].as_str().unwrap()).unwrap();
    let arrived = headers["traceparent"].as_str().unwrap();
    assert!(arrived.starts_with(&format!("00-{trace}-")), "{arrived}");
    assert!(!given.ends_with(arrived), "the span is the transfer's own");
    server.stop().await;
}
