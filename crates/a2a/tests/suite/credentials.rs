//! Tests the credentials of push notifications: encrypted in the database, and moved there from the
//! plain text of an earlier version.

use lango_a2a::server::seal_plain_credentials;
use lango_keystore::{Actor, EntryKind, SecretBytes};
use lango_store::testing::open;
use lango_store::{Database, DatabaseLocation, Statement};
use serde_json::{Value, json};

use crate::fixture::{Server, ServerOptions, open_key_store, send, serve};
use crate::notifications::{Webhook, options};

const TOKEN: &str = "canary-token-4b1c77";
const CREDENTIALS: &str = "canary-credentials-9d02ef";
const COUNT: usize = 20;

fn config(task: &Value, url: &str) -> Value {
    json!({ "taskId": task, "id": "mine", "url": url, "token": TOKEN,
        "authentication": { "scheme": "Bearer", "credentials": CREDENTIALS } })
}

/// Returns the bytes of everything that the database keeps of its table of notifications.
async fn raw_bytes(location: &DatabaseLocation, database: &Database) -> Vec<u8> {
    match location {
        DatabaseLocation::Sqlite(path) => {
            let files = ["", "-wal", "-shm"].map(|end| format!("{}{end}", path.display()));
            files.iter().flat_map(|file| std::fs::read(file).unwrap_or_default()).collect()
        }
        DatabaseLocation::Postgres(_) => {
            let sql = "SELECT pg_read_binary_file(pg_relation_filepath('a2a_notifications'))";
            let rows = database.query(Statement::new(sql)).await.unwrap();
            rows[0].blob(0).unwrap().to_vec()
        }
    }
}

fn has(bytes: &[u8], value: &str) -> bool {
    bytes.windows(value.len()).any(|part| part == value.as_bytes())
}

async fn begin_task(server: &Server) -> Value {
    server.rpc("SendMessage", send("a question")).await["task"]["id"].clone()
}

pub(crate) async fn what_proves_who_posts_is_encrypted_and_needs_an_unlocked_vault(
    location: DatabaseLocation,
) {
    let server = serve(&location, options()).await;
    let webhook = Webhook::start(0).await;
    let task = begin_task(&server).await;
    let created = server.rpc("CreateTaskPushNotificationConfig", config(&task, &webhook.url)).await;
    assert_eq!(created["token"], TOKEN);
    let database = open(&location).await;
    let rows = "SELECT token, credentials, sealed FROM a2a_notifications";
    let rows = database.query(Statement::new(rows)).await.unwrap();
    assert!(rows[0].is_null(0).unwrap() && rows[0].is_null(1).unwrap(), "{rows:?}");
    assert!(rows[0].blob(2).unwrap().len() > 40);
    let bytes = raw_bytes(&location, &database).await;
    assert!(!has(&bytes, TOKEN) && !has(&bytes, CREDENTIALS));
    // A locked vault neither takes nor sends them, and says so.
    let store = open_key_store(&location, database.clone()).await;
    let (passphrase, actor) =
        (SecretBytes::from("a long passphrase".to_owned()), Actor::command("test"));
    store.set_passphrase(None, &passphrase, &actor).await.unwrap();
    store.lock(&actor).await.unwrap();
    let ask = |method: &'static str, params: Value| server.rpc_as("ada", method, params);
    let mut second = config(&task, &webhook.url);
    second["id"] = json!("second");
    let mut message = send("a question");
    message["configuration"] = json!({ "taskPushNotificationConfig": second });
    for (method, params) in [
        ("CreateTaskPushNotificationConfig", second),
        ("ListTaskPushNotificationConfigs", json!({ "taskId": task })),
        ("SendMessage", message),
    ] {
        let refused = ask(method, params).await;
        let why = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(why.contains("its vault is locked"), "{method}: {refused}");
    }
    let tasks = database.query(Statement::new("SELECT id FROM a2a_tasks")).await.unwrap();
    assert_eq!(tasks.len(), 1, "nothing was begun");
    // What needs no credentials works all the same.
    let plain = json!({ "taskId": task, "id": "plain", "url": webhook.url });
    assert!(ask("CreateTaskPushNotificationConfig", plain).await["error"].is_null());
    store.unlock(&passphrase, None, &actor).await.unwrap();
    let listed = ask("ListTaskPushNotificationConfigs", json!({ "taskId": task })).await;
    assert_eq!(listed["result"]["configs"].as_array().map(Vec::len), Some(2), "{listed}");
}

pub(crate) async fn plain_text_of_an_earlier_version_is_sealed_and_erased(
    location: DatabaseLocation,
) {
    let webhook = Webhook::start(0).await;
    let first = serve(&location, options()).await;
    let task = begin_task(&first).await;
    first.endpoint.close().await;
    drop(first);
    let database = open(&location).await;
    // Several rows, so that parts of a page stay free after it was put in order.
    for number in 0..COUNT {
        let old = Statement::new(
            "INSERT INTO a2a_notifications (task, id, url, token, scheme, credentials, version, sent, \
             done) VALUES ($1, $2, $3, $4, 'Bearer', $5, '1.0', 0, 0)",
        );
        let old = old.bind(task.as_str().unwrap()).bind(format!("config-{number}"));
        let old = old.bind(webhook.url.as_str()).bind(TOKEN).bind(CREDENTIALS);
        database.write(old.into()).await.unwrap();
    }
    checkpoint(&location, &database).await;
    let bytes = raw_bytes(&location, &database).await;
    assert!(has(&bytes, TOKEN) && has(&bytes, CREDENTIALS), "this is where it would be found");
    let store = open_key_store(&location, database.clone()).await;
    // A vault that is locked leaves everything as it is.
    let (passphrase, actor) =
        (SecretBytes::from("a long passphrase".to_owned()), Actor::command("test"));
    store.set_passphrase(None, &passphrase, &actor).await.unwrap();
    store.lock(&actor).await.unwrap();
    let refused = seal_plain_credentials(&database, &store).await.unwrap_err();
    assert!(refused.to_string().contains("lango vault unlock"), "{refused}");
    store.unlock(&passphrase, None, &actor).await.unwrap();
    assert_eq!(seal_plain_credentials(&database, &store).await.unwrap(), COUNT);
    assert_eq!(seal_plain_credentials(&database, &store).await.unwrap(), 0, "once");
    checkpoint(&location, &database).await;
    let bytes = raw_bytes(&location, &database).await;
    assert!(!has(&bytes, TOKEN) && !has(&bytes, CREDENTIALS), "it is still in the files");
    let _second = serve(&location, options()).await;
    let posts = webhook.posts(1).await;
    assert_eq!(posts[0].0["authorization"], format!("Bearer {CREDENTIALS}"));
    assert_eq!(posts[0].0["x-a2a-notification-token"], TOKEN);
    let uses = store.list(EntryKind::Credential).await.unwrap();
    assert_eq!(uses.len(), 1, "{uses:?}");
}

pub(crate) async fn an_erasure_that_failed_is_made_up_for(location: DatabaseLocation) {
    let first = serve(&location, options()).await;
    let task = begin_task(&first).await;
    first.endpoint.close().await;
    drop(first);
    let database = open(&location).await;
    let run = async |sql: &'static str| database.write(Statement::new(sql).into()).await.unwrap();
    let old = Statement::new(
        "INSERT INTO a2a_notifications (task, id, url, token, scheme, credentials, version, sent, done) \
         VALUES ($1, 'mine', 'http://127.0.0.1:9/', $2, 'Bearer', $3, '1.0', 0, 1)",
    );
    let old = old.bind(task.as_str().unwrap()).bind(TOKEN).bind(CREDENTIALS);
    database.write(old.into()).await.unwrap();
    let store = open_key_store(&location, database.clone()).await;
    if let DatabaseLocation::Postgres(_) = location {
        // A table that refers to this one keeps it from being written anew.
        run("CREATE TABLE referring (task TEXT, id TEXT, \
             FOREIGN KEY (task, id) REFERENCES a2a_notifications (task, id))")
        .await;
        seal_plain_credentials(&database, &store).await.unwrap_err();
        checkpoint(&location, &database).await;
        assert!(has(&raw_bytes(&location, &database).await, TOKEN), "it was erased all the same");
        run("DROP TABLE referring").await;
    } else {
        assert_eq!(seal_plain_credentials(&database, &store).await.unwrap(), 1);
        // As if the process had ended before it erased the log.
        run("INSERT INTO a2a_erasures (name) VALUES ('a2a_notifications')").await;
    }
    assert_eq!(seal_plain_credentials(&database, &store).await.unwrap(), 0);
    checkpoint(&location, &database).await;
    let bytes = raw_bytes(&location, &database).await;
    assert!(!has(&bytes, TOKEN) && !has(&bytes, CREDENTIALS), "it is still in the files");
    let due = database.query(Statement::new("SELECT name FROM a2a_erasures")).await.unwrap();
    assert!(due.is_empty(), "{due:?}");
}

/// Moves what was written to the files of the tables.
async fn checkpoint(location: &DatabaseLocation, database: &Database) {
    if let DatabaseLocation::Postgres(_) = location {
        database.query(Statement::new("CHECKPOINT")).await.unwrap();
    }
}

pub(crate) async fn a_proof_in_another_row_is_not_sent(location: DatabaseLocation) {
    let server = serve(&location, ServerOptions { webhooks: true, ..options() }).await;
    let (mine, other) = (Webhook::start(0).await, Webhook::start(0).await);
    let task = begin_task(&server).await;
    server.rpc("CreateTaskPushNotificationConfig", config(&task, &mine.url)).await;
    let database = open(&location).await;
    let swap = Statement::new("UPDATE a2a_notifications SET url = $1").bind(other.url.as_str());
    database.write(swap.into()).await.unwrap();
    let list = server.rpc_error("ListTaskPushNotificationConfigs", json!({ "taskId": task })).await;
    assert_eq!(list, -32603, "it is an error on this side");
    let answer = crate::fixture::send_to(task.as_str().unwrap(), "the second");
    server.rpc("SendMessage", answer).await;
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(other.posts(0).await.len(), 0, "another address gets nothing");
}
