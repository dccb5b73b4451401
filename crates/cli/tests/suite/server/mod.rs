//! `lango serve` and `lango mcp serve` as others meet them: over the wire, with a scripted model.

mod access;
mod agents;
mod callers;
mod clients;
mod conversations;
mod ending;
pub(crate) mod http;
mod idempotency;
mod limits;
mod logging;
mod mcp;
mod openai;
mod revoking;
mod several;
mod spaces;

use std::net::SocketAddr;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::fixture::Lango;
use crate::invocation::{CommandOutput, Invocation, Running};
use http::{Answer, Request};

/// A server under way.
pub(super) struct Server<'a> {
    running: Running<'a>,
    pub(super) address: SocketAddr,
    pub(super) printed: String,
    /// The owner's token, where it was printed.
    pub(super) token: String,
}

impl<'a> Server<'a> {
    /// Starts one, with these arguments.
    pub(super) async fn start(lango: &'a Lango, arguments: &[&str]) -> Self {
        let all = [&["serve", "--port", "0"], arguments].concat();
        Self::started(lango.command(&all)).await
    }

    pub(super) async fn started(invocation: Invocation<'a>) -> Self {
        let (running, printed) = invocation.start_until("Ctrl-C ends it").await;
        let url = printed.split_whitespace().find_map(|word| word.strip_prefix("http://"));
        let address = url.unwrap().parse().unwrap();
        let token = printed.lines().find_map(|line| line.trim().strip_prefix("lango_"));
        let token = token.map(|rest| format!("lango_{rest}")).unwrap_or_default();
        Self { running, address, printed, token }
    }

    /// Returns a request without a token.
    pub(super) fn request(&self, method: &str, path: &str) -> Request {
        Request::new(self.address, method, path)
    }

    /// A request of the owner.
    pub(super) fn owner(&self, method: &str, path: &str) -> Request {
        self.of(&self.token, method, path)
    }

    /// Returns a request of the caller that has the token.
    pub(super) fn of(&self, token: &str, method: &str, path: &str) -> Request {
        self.request(method, path).header("authorization", &format!("Bearer {token}"))
    }

    /// A chat completion of the owner, with the messages so far.
    pub(super) fn chat(&self, messages: &Value) -> Request {
        let body = json!({ "model": "lango", "messages": messages });
        self.owner("POST", "/v1/chat/completions").json(&body)
    }

    /// The same, with one message.
    pub(super) async fn say(&self, text: &str) -> Answer {
        self.chat(&json!([user(text)])).send().await
    }

    pub(super) fn signal(&self, signal: Signal) {
        self.running.signal(signal);
    }

    /// Ends it as a service manager does.
    pub(super) async fn stop(self) -> CommandOutput {
        self.running.signal(Signal::TERM);
        self.running.finish().await
    }

    pub(super) async fn finish(self) -> CommandOutput {
        self.running.finish().await
    }

    pub(super) async fn kill(self) {
        self.running.kill().await;
    }
}

pub(super) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

pub(super) fn assistant(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

/// The token that `callers add` prints.
pub(super) async fn add_caller(lango: &Lango, arguments: &[&str]) -> String {
    let all = [&["serve", "callers", "add"], arguments].concat();
    let added = lango.command(&all).run().await;
    assert_eq!(added.code, 0, "{added:?}");
    added.stdout.lines().last().unwrap().trim().to_owned()
}

/// The orchestrator says what it was told.
pub(super) const ECHO: &str = r#"
[[reply]]
agent = "lango-orchestrator"
say = "You said something."
"#;

/// The orchestrator takes its time.
pub(super) fn slow(milliseconds: u32, then: &str) -> String {
    format!(
        "[[reply]]\nagent = \"lango-orchestrator\"\nuser = \"slow\"\ndelay_ms = {milliseconds}\n\
         say = \"{then}\"\n"
    )
}

/// How many turns the journal has, and how many of them are done.
pub(super) async fn turns(lango: &Lango) -> (usize, usize) {
    turns_of(|arguments| lango.command(arguments)).await
}

/// The same, with commands that are set up otherwise.
pub(super) async fn turns_of<'a>(command: impl Fn(&[&str]) -> Invocation<'a>) -> (usize, usize) {
    let listed = command(&["sessions", "list", "--json"]).run().await;
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let (mut all, mut done) = (0, 0);
    for session in listed.as_array().unwrap() {
        let id = session["id"].as_str().unwrap();
        let export = command(&["sessions", "export", id]).run().await;
        let events: Vec<Value> =
            export.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        all += events.iter().filter(|event| event["type"] == "user_message").count();
        done += events
            .iter()
            .filter(|event| event["type"] == "turn_finished" && event["status"] == "done")
            .count();
    }
    (all, done)
}
