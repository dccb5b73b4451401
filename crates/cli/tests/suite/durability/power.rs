//! A loss of power: only what was synced is there afterwards.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::approvals::{question, run_once};
use crate::fixture::{Lango, TO_OPERATOR};
use crate::invocation::Invocation;
use crate::server::{ECHO, Server, slow, user};

/// The token that all servers accept.
const TOKEN: &str = "lango_power_0123456789abcdefghijklmnopqrs";

const SHIM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/lose_unsynced.c");

/// A machine whose power is cut.
struct Machine {
    lango: Lango,
    /// The library that keeps what was synced.
    library: PathBuf,
    survivors: PathBuf,
}

impl Machine {
    async fn playing(script: &[&str]) -> Self {
        let lango = Lango::playing(script).await;
        let (library, survivors) = (lango.path("lose_unsynced.so"), lango.path("survivors"));
        let arguments = ["-shared", "-fPIC", "-O1", "-o", library.to_str().unwrap(), SHIM, "-ldl"];
        let built = Command::new("cc").args(arguments).status().unwrap();
        assert!(built.success());
        std::fs::create_dir(&survivors).unwrap();
        std::fs::create_dir_all(lango.home()).unwrap();
        Self { lango, library, survivors }
    }

    /// Sets up a command whose unsynced writes are lost.
    fn watch<'a>(&self, invocation: Invocation<'a>, durability: &str) -> Invocation<'a> {
        invocation
            .set("LD_PRELOAD", &self.library)
            .set("LOSE_DIRECTORY", self.lango.home().canonicalize().unwrap())
            .set("LOSE_SURVIVORS", &self.survivors)
            .set("LANGO_STORE_DURABILITY", durability)
    }

    async fn serve(&self, durability: &str) -> Server<'_> {
        self.start(|invocation| self.watch(invocation, durability)).await
    }

    async fn serve_unwatched(&self) -> Server<'_> {
        self.start(|invocation| invocation).await
    }

    async fn start<'a>(
        &'a self,
        set_up: impl FnOnce(Invocation<'a>) -> Invocation<'a>,
    ) -> Server<'a> {
        let serve = self.lango.command(&["serve", "--port", "0"]);
        let mut server = Server::started(set_up(serve.set("LANGO_SERVER_TOKEN", TOKEN))).await;
        TOKEN.clone_into(&mut server.token);
        server
    }

    /// Leaves what a disk has after a loss of power, in the worst case. No process runs any more.
    fn cut_power(&self) {
        for name in ["lango.db", "lango.db-wal", "lango.db-shm", "lango.db-state"] {
            let file = self.lango.home().join(name);
            let _ = std::fs::remove_file(&file);
            let survivor = self.survivors.join(name);
            if survivor.exists() {
                std::fs::copy(survivor, file).unwrap();
            }
        }
    }
}

/// Runs a server, sends messages, and cuts the power. Returns how many messages were acknowledged,
/// and how many are in the journal afterwards, with their answers.
async fn lose_turns(durability: &str, messages: usize) -> (usize, usize) {
    let machine = Machine::playing(&[ECHO]).await;
    let (lango, server) = (&machine.lango, machine.serve(durability).await);
    let mut answered = 0;
    // Some of them at once, so that they share their commits.
    for round in 0..messages / 4 {
        let asked = (0..4).map(|number| {
            let body =
                json!({ "model": "lango", "messages": [user(&format!("{round} {number}"))] });
            server.owner("POST", "/v1/chat/completions").json(&body).send()
        });
        answered += join_all(asked).await.iter().filter(|answer| answer.status == 200).count();
    }
    server.kill().await;
    machine.cut_power();
    let listed = lango.command(&["sessions", "list", "--limit", "100", "--json"]).run().await;
    assert_eq!(listed.code, 0, "{listed:?}");
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let mut found = 0;
    for session in listed.as_array().unwrap() {
        let id = session["id"].as_str().unwrap();
        let export = lango.command(&["sessions", "export", id]).run().await;
        found += export.stdout.lines().filter(|line| line.contains("turn_finished")).count();
    }
    let doctor = lango.command(&["doctor", "--deep"]).run().await;
    assert!(doctor.stdout.contains("ok    storage"), "{}", doctor.stdout);
    (answered, found)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answered_turn_survives_a_loss_of_power() {
    let (answered, found) = lose_turns("full", 24).await;
    assert_eq!((answered, found), (24, 24));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_need_not_survive_is_lost_in_this_test() {
    // Otherwise the test above could not fail.
    let (answered, found) = lose_turns("normal", 12).await;
    assert_eq!(answered, 12);
    assert!(found < 12, "{found}");
}

async fn call(server: &Server<'_>, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = server.owner("POST", "/a2a").header("a2a-version", "1.0").json(&body);
    request.send().await.json()
}

/// Lets a server accept tasks, and cuts the power while it works on the first. Returns the answer of
/// the next server about the last one, as soon as it is completed or unknown.
async fn lose_tasks(durability: &str) -> Value {
    let machine = Machine::playing(&[&slow(20_000, "Slowly."), ECHO]).await;
    let server = machine.serve(durability).await;
    let mut tasks = Vec::new();
    for (number, text) in [(1, "slow one"), (2, "the second"), (3, "the third")] {
        let message = json!({
            "messageId": format!("m{number}"), "contextId": format!("c{number}"),
            "role": "ROLE_USER", "parts": [{ "text": text }],
        });
        let params = json!({ "message": message, "configuration": { "returnImmediately": true } });
        let answer = call(&server, "SendMessage", params).await;
        let id = answer["result"]["task"]["id"].as_str();
        tasks.push(id.unwrap_or_else(|| panic!("not accepted: {answer}")).to_owned());
    }
    let last = tasks.pop().unwrap();
    server.kill().await;
    machine.cut_power();
    let server = machine.serve_unwatched().await;
    let begin = Instant::now();
    loop {
        let answer = call(&server, "GetTask", json!({ "id": last })).await;
        let is_known = answer["error"].is_null();
        if !is_known || answer["result"]["status"]["state"] == "TASK_STATE_COMPLETED" {
            return answer;
        }
        assert!(begin.elapsed() < Duration::from_secs(55), "it does not run: {answer}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accepted_task_survives_a_loss_of_power_and_runs() {
    let answer = lose_tasks("full").await;
    assert_eq!(answer["result"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_need_not_survive_is_lost_in_this_test() {
    let answer = lose_tasks("normal").await;
    assert!(!answer["error"].is_null(), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answered_question_survives_a_loss_of_power() {
    let machine = Machine::playing(&[TO_OPERATOR, &run_once("echo x >> made")]).await;
    let lango = &machine.lango;
    let ask = lango.ask("make it").with(&["--approve", "wait"]);
    let running = machine.watch(ask, "full").start();
    let id = question(lango).await;
    running.kill().await;
    let answer = lango.command(&["approvals", "approve", &id]);
    let answered = machine.watch(answer, "full").run().await;
    assert_eq!(answered.code, 0, "{answered:?}");
    machine.cut_power();
    // No user is there to be asked: the answer that was given is what counts.
    let resume = ["resume", "--last", "--output-format", "stream-json"];
    let resumed = lango.command(&resume).run().await;
    let made = std::fs::read_to_string(lango.workspace().join("made")).unwrap_or_default();
    assert_eq!((resumed.code, made.as_str()), (0, "x\n"), "{resumed:?}");
}
