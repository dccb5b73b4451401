//! Tests a process that is killed: the next one continues, and every message runs once.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use lango_store::DatabaseLocation;
use serde_json::{Value, json};

use crate::fixture::{SCRIPT, ServerOptions, message, serve};

const LOCATION: &str = "LANGO_TEST_A2A_LOCATION";

/// Runs this test program again as the server to be killed. Not a test by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by a test that kills it"]
async fn a_server_to_be_killed() {
    let Ok(location) = std::env::var(LOCATION) else { return };
    let server = serve(&location.parse().unwrap(), ServerOptions::default()).await;
    std::fs::write(std::env::var("LANGO_TEST_A2A_URL").unwrap(), &server.url).unwrap();
    std::future::pending::<()>().await;
}

/// A child that is killed whatever happens to the test.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(location: &DatabaseLocation, url: &std::path::Path) -> KilledOnDrop {
    let address = match location {
        DatabaseLocation::Sqlite(path) => format!("sqlite:{}", path.display()),
        DatabaseLocation::Postgres(url) => url.clone(),
    };
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "restart::a_server_to_be_killed", "--nocapture"])
        .env(LOCATION, address)
        .env("LANGO_TEST_A2A_URL", url)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    KilledOnDrop(child)
}

async fn url_in(path: &std::path::Path, child: &mut KilledOnDrop) -> String {
    for _ in 0..400 {
        if let Ok(url) = std::fs::read_to_string(path)
            && !url.is_empty()
        {
            return url;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let _ = child.0.kill();
    let said = child
        .0
        .stdout
        .take()
        .map(|out| BufReader::new(out).lines().map_while(Result::ok).collect::<Vec<_>>());
    panic!("it never came up: {said:?}");
}

async fn ask(url: &str, method: &str, params: Value) -> reqwest::Result<Value> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = client.post(format!("{url}/a2a")).header("A2A-Version", "1.0");
    let answer =
        request.header("content-type", "application/json").body(body.to_string()).send().await?;
    Ok(serde_json::from_slice(&answer.bytes().await?).unwrap())
}

pub(crate) async fn a_killed_process_is_made_up_for(location: DatabaseLocation) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("url");
    let mut child = start(&location, &file);
    let url = url_in(&file, &mut child).await;
    let mut slow = json!({ "message": message("slow-one", "slow") });
    slow["configuration"] = json!({ "returnImmediately": true });
    let task = ask(&url, "SendMessage", slow.clone()).await.unwrap()["result"]["task"].clone();
    // A second message of the same context waits for the first: its turn has not begun.
    let mut behind = json!({ "message": message("behind", "do something") });
    behind["message"]["contextId"] = task["contextId"].clone();
    behind["configuration"] = json!({ "returnImmediately": true });
    let waiting = ask(&url, "SendMessage", behind.clone()).await.unwrap()["result"]["task"].clone();
    assert_eq!(waiting["status"]["state"], "TASK_STATE_SUBMITTED");
    let id = task["id"].as_str().unwrap().to_owned();
    for _ in 0..200 {
        let task = ask(&url, "GetTask", json!({ "id": id })).await.unwrap();
        if task["result"]["status"]["state"] == "TASK_STATE_WORKING" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    drop(child);

    // The same script, without the delay.
    let script =
        SCRIPT.replace("delay_ms = 60000\nsay = \"Never heard.\"", "say = \"Heard after all.\"");
    let server =
        serve(&location, ServerOptions { script: Some(script), ..ServerOptions::default() }).await;
    let done = server.task_in(&id, "TASK_STATE_COMPLETED").await;
    assert_eq!(done["artifacts"][0]["parts"][0]["text"], "Heard after all.");
    let second = server.task_in(waiting["id"].as_str().unwrap(), "TASK_STATE_COMPLETED").await;
    assert_eq!(second["artifacts"][0]["parts"][0]["text"], "The answer.");
    assert_eq!(second["history"].as_array().unwrap().len(), 1, "the message ran once: {second}");
    // Both messages are still recognized, and nothing of them is stored twice.
    let calls = server.model.requests().len();
    assert_eq!(server.rpc("SendMessage", slow).await["task"]["id"], json!(id));
    assert_eq!(server.rpc("SendMessage", behind).await["task"]["id"], waiting["id"]);
    assert_eq!(server.model.requests().len(), calls);
    assert_eq!(server.rpc("ListTasks", json!({})).await["totalSize"], 2);
}

/// Interrupted turns continue before turns that had not begun, even if those belong to an older
/// task.
pub(crate) async fn an_answer_that_waited_does_not_push_out_what_ran(location: DatabaseLocation) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("url");
    let mut child = start(&location, &file);
    let url = url_in(&file, &mut child).await;
    let asked = json!({ "message": message("asks", "a question") });
    let asked = ask(&url, "SendMessage", asked).await.unwrap()["result"]["task"].clone();
    assert_eq!(asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    let mut slow = json!({ "message": message("slow-one", "slow") });
    slow["message"]["contextId"] = asked["contextId"].clone();
    slow["configuration"] = json!({ "returnImmediately": true });
    let slow = ask(&url, "SendMessage", slow).await.unwrap()["result"]["task"]["id"].clone();
    for _ in 0..200 {
        let task = ask(&url, "GetTask", json!({ "id": slow })).await.unwrap();
        if task["result"]["status"]["state"] == "TASK_STATE_WORKING" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let mut answer = json!({ "message": message("answers", "the second") });
    answer["message"]["taskId"] = asked["id"].clone();
    answer["configuration"] = json!({ "returnImmediately": true });
    ask(&url, "SendMessage", answer).await.unwrap();
    drop(child);

    let script =
        SCRIPT.replace("delay_ms = 60000\nsay = \"Never heard.\"", "say = \"Heard after all.\"");
    let server =
        serve(&location, ServerOptions { script: Some(script), ..ServerOptions::default() }).await;
    let slow = server.task_in(slow.as_str().unwrap(), "TASK_STATE_COMPLETED").await;
    assert_eq!(slow["artifacts"][0]["parts"][0]["text"], "Heard after all.");
    let asked = server.task_in(asked["id"].as_str().unwrap(), "TASK_STATE_COMPLETED").await;
    assert_eq!(asked["artifacts"][0]["parts"][0]["text"], "The answer.");
}

/// A message that cannot be read ends its task, and the others continue.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_does_not_stop_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
    let first = serve(&location, ServerOptions::default()).await;
    let asked = first.rpc("SendMessage", crate::fixture::send("a question")).await["task"].clone();
    first.endpoint.close().await;
    drop(first);
    let database = lango_store::testing::open(&location).await;
    for (id, caller) in [("0198c0de-0000-7000-8000-000000000001", "ada"), ("bad", "")] {
        let task = lango_store::Statement::new(
            "INSERT INTO a2a_tasks (id, caller, context, session, state, status_at, created_at, \
             revealed, turns) VALUES ($1, $2, 'c', 'a2a-s', 'submitted', 1, 1, 1, 1)",
        );
        database.write(task.bind(id).bind(caller).into()).await.unwrap();
        let turn = lango_store::Statement::new(
            "INSERT INTO a2a_turns (task, position, turn, message_id, pending, at) \
             SELECT $1, 1, $2, 'm', 'no message', 1",
        );
        let turn = turn.bind(id).bind(lango_protocol::TurnId::generate().to_string());
        database.write(turn.into()).await.unwrap();
    }
    let second = serve(&location, ServerOptions::default()).await;
    second.task_in("0198c0de-0000-7000-8000-000000000001", "TASK_STATE_FAILED").await;
    let more = crate::fixture::send_to(asked["id"].as_str().unwrap(), "the second");
    let done = second.rpc("SendMessage", more).await;
    assert_eq!(done["task"]["status"]["state"], "TASK_STATE_COMPLETED");
}
