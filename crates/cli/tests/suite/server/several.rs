//! Several servers on one database: what was accepted is run once and in order, whichever of them
//! runs it, and whatever happens to the others.

use std::time::{Duration, Instant};

use lango_store::{Database, Statement};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{ECHO, Server, slow, turns_of};
use crate::fixture::Lango;
use crate::invocation::{Invocation, until};

/// Limits how long something may take that waits for a lease to expire.
const LEASE_TIMEOUT: Duration = Duration::from_secs(55);

/// Runs each test on both engines.
macro_rules! on_both {
    ($($test:ident,)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                super::$test(super::World::on_sqlite(super::script_for(stringify!($test))).await).await;
            })*
        }
        mod on_postgresql {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                let world = super::World::on_postgresql(super::script_for(stringify!($test)));
                super::$test(world.await).await;
            })*
        }
    };
}

on_both! {
    a_key_that_waits_runs_once_whichever_server_it_is_sent_to,
    an_accepted_task_that_waits_runs_once_when_another_server_starts,
    a_task_that_waits_runs_once_while_its_server_is_replaced,
    tasks_of_a_killed_server_run_once_when_two_servers_start,
    a_live_server_takes_up_what_a_killed_one_left,
    a_stopped_server_is_fenced_and_says_so,
    a_task_that_is_cancelled_at_another_server_stops_its_turn,
}

/// How long the model takes for the first message.
fn script(milliseconds: u32) -> [String; 2] {
    [slow(milliseconds, "Slowly."), ECHO.to_owned()]
}

/// A model that takes as long as the test needs.
fn script_for(test: &str) -> [String; 2] {
    let slow = test.contains("fenced") || test.contains("cancelled");
    script(if slow { 33_000 } else { 2500 })
}

/// A home and a database that several servers use.
struct World {
    lango: Lango,
    /// The address of a schema of its own, with PostgreSQL.
    url: Option<String>,
}

impl World {
    async fn on_sqlite(script: [String; 2]) -> Self {
        Self { lango: Lango::playing(&[&script[0], &script[1]]).await, url: None }
    }

    async fn on_postgresql(script: [String; 2]) -> Self {
        let server = std::env::var("LANGO_TEST_POSTGRES")
            .expect("LANGO_TEST_POSTGRES is not set; run the tests with: cargo xtask test");
        let database = Database::open(&server.parse().unwrap()).await.unwrap();
        let id = lango_protocol::TurnId::generate().to_string().replace('-', "_");
        let schema = format!("several_{id}");
        let sql = format!("CREATE SCHEMA {schema}");
        database.write(Statement::new(sql).into()).await.unwrap();
        let url = Some(format!("{server}?options=-csearch_path%3D{schema}"));
        Self { url, ..Self::on_sqlite(script).await }
    }

    fn set<'a>(&self, invocation: Invocation<'a>) -> Invocation<'a> {
        let invocation = invocation.small_team().set("LANGO_SERVER_TOKEN", TOKEN);
        match &self.url {
            Some(url) => invocation.set("LANGO_DATABASE_URL", url),
            None => invocation,
        }
    }

    fn command(&self, arguments: &[&str]) -> Invocation<'_> {
        self.set(self.lango.command(arguments))
    }

    async fn server(&self) -> Server<'_> {
        let started = Server::started(self.command(&["serve", "--port", "0"])).await;
        Server { token: TOKEN.to_owned(), ..started }
    }

    /// Returns how many turns began, and how many of them are done.
    async fn turns(&self) -> (usize, usize) {
        turns_of(|arguments| self.command(arguments)).await
    }
}

/// The token that all servers accept.
const TOKEN: &str = "lango_several_0123456789abcdefghijklmnop";

/// Sends a message of a context, and returns its task at once.
async fn accept(server: &Server<'_>, message: &str, context: &str, text: &str) -> String {
    let message = json!({
        "messageId": message, "contextId": context, "role": "ROLE_USER",
        "parts": [{ "text": text }],
    });
    let params = json!({ "message": message, "configuration": { "returnImmediately": true } });
    let answer = call(server, "SendMessage", params).await;
    let id = answer["result"]["task"]["id"].as_str();
    id.unwrap_or_else(|| panic!("not accepted: {answer}")).to_owned()
}

async fn call(server: &Server<'_>, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = server.owner("POST", "/a2a").header("a2a-version", "1.0").json(&body);
    request.send().await.json()
}

/// Waits until a task is completed, as this server sees it.
async fn completed(server: &Server<'_>, task: &str, within: Duration) {
    let begin = Instant::now();
    loop {
        let answer = call(server, "GetTask", json!({ "id": task })).await;
        if answer["result"]["status"]["state"] == "TASK_STATE_COMPLETED" {
            return;
        }
        assert!(begin.elapsed() < within, "the task is not completed: {answer}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn a_key_that_waits_runs_once_whichever_server_it_is_sent_to(world: World) {
    let (one, two) = (world.server().await, world.server().await);
    let session = one.say("hello").await.session();
    let send = |server: &Server<'_>, text: &str| {
        let body = json!({
            "model": "lango", "messages": [{ "role": "user", "content": text }],
        });
        let request = server.owner("POST", "/v1/chat/completions").json(&body);
        request.header("x-lango-session", &session)
    };
    let busy = send(&one, "slow one").begin().await;
    until("the model is asked", || world.lango.received().len() == 2).await;
    let keyed = |server: &Server<'_>| send(server, "the keyed one").header("idempotency-key", "k");
    let (first, second) = tokio::join!(keyed(&one).send(), keyed(&two).send());
    assert_eq!((first.status, second.status), (200, 200), "{first:?} {second:?}");
    assert_eq!(
        (first.session(), first.json()["id"].clone()),
        (session, second.json()["id"].clone())
    );
    drop(super::http::read(busy).await);
    assert_eq!(world.turns().await, (3, 3));
    // Sent to both at once while the session is free.
    for number in 0..5 {
        let key = format!("free-{number}");
        let keyed = |server: &Server<'_>| {
            let body = json!({
                "model": "lango", "messages": [{ "role": "user", "content": "again" }],
            });
            let request = server.owner("POST", "/v1/chat/completions").json(&body);
            request.header("idempotency-key", &key)
        };
        let (first, second) = tokio::join!(keyed(&one).send(), keyed(&two).send());
        assert_eq!((first.status, second.status), (200, 200), "{first:?} {second:?}");
    }
    assert_eq!(world.turns().await, (8, 8));
}

async fn an_accepted_task_that_waits_runs_once_when_another_server_starts(world: World) {
    let one = world.server().await;
    let first = accept(&one, "m1", "c", "slow one").await;
    let second = accept(&one, "m2", "c", "the second").await;
    let two = world.server().await;
    completed(&two, &second, LEASE_TIMEOUT).await;
    completed(&one, &second, LEASE_TIMEOUT).await;
    completed(&one, &first, LEASE_TIMEOUT).await;
    assert_eq!(world.turns().await, (2, 2));
    assert_eq!(world.lango.received().len(), 2);
}

async fn a_task_that_waits_runs_once_while_its_server_is_replaced(world: World) {
    let old = world.server().await;
    let first = accept(&old, "m1", "c", "slow one").await;
    let second = accept(&old, "m2", "c", "the second").await;
    until("the model is asked", || !world.lango.received().is_empty()).await;
    let new = world.server().await;
    old.signal(Signal::TERM);
    completed(&new, &first, LEASE_TIMEOUT).await;
    completed(&new, &second, LEASE_TIMEOUT).await;
    assert_eq!(old.finish().await.code, 0);
    assert_eq!(world.turns().await, (2, 2));
}

async fn tasks_of_a_killed_server_run_once_when_two_servers_start(world: World) {
    let killed = world.server().await;
    let first = accept(&killed, "m1", "c", "slow one").await;
    let second = accept(&killed, "m2", "c", "the second").await;
    let third = accept(&killed, "m3", "other", "the third").await;
    until("the model is asked", || !world.lango.received().is_empty()).await;
    killed.kill().await;
    let (one, two) = tokio::join!(world.server(), world.server());
    for task in [&first, &second, &third] {
        completed(&one, task, LEASE_TIMEOUT).await;
        completed(&two, task, LEASE_TIMEOUT).await;
    }
    assert_eq!(world.turns().await, (3, 3));
}

async fn a_live_server_takes_up_what_a_killed_one_left(world: World) {
    let (killed, live) = (world.server().await, world.server().await);
    let first = accept(&killed, "m1", "c", "slow one").await;
    let second = accept(&killed, "m2", "c", "the second").await;
    until("the model is asked", || !world.lango.received().is_empty()).await;
    killed.kill().await;
    // Nothing is sent to the live one: it notices by itself.
    let begin = Instant::now();
    while world.turns().await != (2, 2) {
        assert!(begin.elapsed() < LEASE_TIMEOUT, "{:?}", world.turns().await);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let seen = call(&live, "ListTasks", json!({})).await.to_string();
    for task in [&first, &second] {
        assert!(seen.contains(task.as_str()), "{seen}");
        completed(&live, task, Duration::from_secs(10)).await;
    }
}

async fn a_stopped_server_is_fenced_and_says_so(world: World) {
    let (stopped, live) = (world.server().await, world.server().await);
    let task = accept(&stopped, "m1", "c", "slow one").await;
    until("the model is asked", || !world.lango.received().is_empty()).await;
    stopped.signal(Signal::STOP);
    until("another one takes over", || world.lango.received().len() == 2).await;
    stopped.signal(Signal::CONT);
    completed(&live, &task, LEASE_TIMEOUT).await;
    completed(&stopped, &task, LEASE_TIMEOUT).await;
    assert_eq!(world.turns().await, (1, 1));
    let log = std::fs::read_to_string(world.lango.home().join("logs/serve.log")).unwrap();
    assert!(log.contains("another process took over session"), "{log}");
}

async fn a_task_that_is_cancelled_at_another_server_stops_its_turn(world: World) {
    let running = world.server().await;
    let task = accept(&running, "m1", "c", "slow one").await;
    until("the model is asked", || !world.lango.received().is_empty()).await;
    let other = world.server().await;
    let begin = Instant::now();
    let answer = call(&other, "CancelTask", json!({ "id": task })).await;
    assert_eq!(answer["result"]["status"]["state"], "TASK_STATE_CANCELED", "{answer}");
    // Its session is free soon, long before the model would have answered.
    let second = accept(&other, "m2", "c", "the second").await;
    completed(&other, &second, Duration::from_secs(9)).await;
    assert!(begin.elapsed() < Duration::from_secs(9), "{:?}", begin.elapsed());
    assert_eq!(world.turns().await, (2, 1));
    for server in [&running, &other] {
        let seen = call(server, "GetTask", json!({ "id": task })).await;
        assert_eq!(seen["result"]["status"]["state"], "TASK_STATE_CANCELED", "{seen}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_in_a_container_goes_on_after_a_kill_within_its_lease() {
    let own_namespace = ["--pid", "--fork", "--kill-child", "--mount-proc"];
    let possible = std::process::Command::new("unshare").args(own_namespace).arg("true").output();
    if !possible.as_ref().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this kernel gives no namespace of process ids: {possible:?}");
        return;
    }
    let world = World::on_sqlite(script(2500)).await;
    let contained = || {
        let serve = ["serve", "--port", "0"];
        Server::started(world.set(world.lango.through("unshare", &own_namespace, &serve)))
    };
    let killed = contained().await;
    let killed = Server { token: TOKEN.to_owned(), ..killed };
    let first = accept(&killed, "m1", "c", "slow one").await;
    let second = accept(&killed, "m2", "c", "the second").await;
    until("the model is asked", || !world.lango.received().is_empty()).await;
    killed.kill().await;
    let again = Server { token: TOKEN.to_owned(), ..contained().await };
    completed(&again, &first, LEASE_TIMEOUT).await;
    completed(&again, &second, LEASE_TIMEOUT).await;
    assert_eq!(world.turns().await, (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_failed_write_the_next_message_and_the_same_key_are_answered_at_once() {
    let world = World::on_sqlite(script(10)).await;
    let server = world.server().await;
    let session = server.say("hello").await.session();
    let location = format!("sqlite:{}", world.lango.database_file().display());
    let database = Database::open(&location.parse().unwrap()).await.unwrap();
    let write = async |sql: &'static str| {
        database.write(Statement::new(sql).into()).await.unwrap();
    };
    let send = |text: &str| {
        let body = json!({
            "model": "lango", "messages": [{ "role": "user", "content": text }],
        });
        let request = server.owner("POST", "/v1/chat/completions").json(&body);
        request.header("x-lango-session", &session)
    };
    let keyed = || send("the keyed one").header("idempotency-key", "k");
    write(
        "CREATE TRIGGER broken BEFORE INSERT ON events WHEN NEW.type = 'message' \
         BEGIN SELECT RAISE(ABORT, 'broken'); END",
    )
    .await;
    assert!(send("one").send().await.status >= 500);
    assert!(keyed().send().await.status >= 500);
    write("DROP TRIGGER broken").await;
    let begin = Instant::now();
    let repeated = keyed().send().await;
    assert_eq!(repeated.status, 200, "{repeated:?}");
    let next = send("two").send().await;
    assert_eq!(next.status, 200, "{next:?}");
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
}
