//! Tests push notifications: posted in order, with credentials, retried, and resumed after a
//! restart.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use lango_store::DatabaseLocation;
use serde_json::{Value, json};

use crate::fixture::{ServerOptions, send, send_to, serve};

pub(crate) type ReceivedPosts = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

/// Records the posts that it receives; the first `failures` posts are refused.
pub(crate) struct Webhook {
    pub(crate) url: String,
    received: ReceivedPosts,
    /// The number of posts, including refused ones.
    attempts: Arc<Mutex<u32>>,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for Webhook {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[derive(Clone)]
struct WebhookState {
    received: ReceivedPosts,
    failures: Arc<Mutex<u32>>,
    attempts: Arc<Mutex<u32>>,
}

async fn take(State(webhook_state): State<WebhookState>, request: Request) -> StatusCode {
    *webhook_state.attempts.lock().unwrap() += 1;
    {
        let mut failures = webhook_state.failures.lock().unwrap();
        if *failures > 0 {
            *failures -= 1;
            return StatusCode::SERVICE_UNAVAILABLE;
        }
    }
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let body = serde_json::from_slice(&body).unwrap();
    webhook_state.received.lock().unwrap().push((parts.headers, body));
    StatusCode::NO_CONTENT
}

impl Webhook {
    pub(crate) async fn start(failures: u32) -> Self {
        let received = ReceivedPosts::default();
        let attempts = Arc::new(Mutex::new(0));
        let webhook_state = WebhookState {
            received: Arc::clone(&received),
            failures: Arc::new(Mutex::new(failures)),
            attempts: Arc::clone(&attempts),
        };
        let router = axum::Router::new().fallback(take).with_state(webhook_state);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, received, attempts, serving }
    }

    /// Waits until `count` posts were received.
    pub(crate) async fn posts(&self, count: usize) -> Vec<(HeaderMap, Value)> {
        for _ in 0..600 {
            let received = self.received.lock().unwrap().clone();
            if received.len() >= count {
                return received;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{} of {count} came", self.received.lock().unwrap().len());
    }
}

pub(crate) fn options() -> ServerOptions {
    let mut options = ServerOptions { webhooks: true, ..ServerOptions::default() };
    options.settings.notification_pause = Duration::from_millis(20);
    options
}

fn state(post: &Value) -> &str {
    post["statusUpdate"]["status"]["state"].as_str().unwrap_or("")
}

pub(crate) async fn what_happens_is_posted_in_order_with_proof(location: DatabaseLocation) {
    let server = serve(&location, options()).await;
    let webhook = Webhook::start(2).await;
    let mut request = send("a question");
    request["configuration"] = json!({ "taskPushNotificationConfig": {
        "id": "mine", "url": webhook.url, "token": "a-token",
        "authentication": { "scheme": "Bearer", "credentials": "a-secret" } } });
    let task = server.rpc("SendMessage", request).await["task"]["id"].clone();
    server.rpc("SendMessage", send_to(task.as_str().unwrap(), "the second")).await;
    // working, input required; working, the answer, completed.
    let posts = webhook.posts(5).await;
    let states: Vec<&str> = posts.iter().map(|(_, post)| state(post)).collect();
    assert_eq!(
        states,
        [
            "TASK_STATE_WORKING",
            "TASK_STATE_INPUT_REQUIRED",
            "TASK_STATE_WORKING",
            "",
            "TASK_STATE_COMPLETED"
        ]
    );
    assert_eq!(posts[3].1["artifactUpdate"]["artifact"]["parts"][0]["text"], "The answer.");
    for (headers, post) in &posts {
        assert_eq!(headers["authorization"], "Bearer a-secret");
        assert_eq!(headers["x-a2a-notification-token"], "a-token");
        assert_eq!(headers["content-type"], "application/a2a+json");
        assert_eq!(post.as_object().unwrap().len(), 1, "one of the four: {post}");
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(webhook.received.lock().unwrap().len(), 5, "and nothing twice");
}

pub(crate) async fn what_was_not_sent_is_sent_after_a_restart(location: DatabaseLocation) {
    let webhook = Webhook::start(0).await;
    let first = serve(&location, options()).await;
    let task = first.rpc("SendMessage", send("a question")).await["task"]["id"].clone();
    // Nothing listens at this port any more.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = json!({ "taskId": task, "id": "c", "url": format!("http://127.0.0.1:{port}/") });
    first.rpc("CreateTaskPushNotificationConfig", config).await;
    first.rpc("SendMessage", send_to(task.as_str().unwrap(), "the second")).await;
    first.endpoint.close().await;
    drop(first);
    // The next process finds the address that works.
    let database = lango_store::testing::open(&location).await;
    let change = lango_store::Statement::new("UPDATE a2a_notifications SET url = $1, done = 0")
        .bind(webhook.url.as_str());
    database.write(change.into()).await.unwrap();
    let _second = serve(&location, options()).await;
    let posts = webhook.posts(3).await;
    let states: Vec<&str> = posts.iter().map(|(_, post)| state(post)).collect();
    assert_eq!(states, ["TASK_STATE_WORKING", "", "TASK_STATE_COMPLETED"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_old_version_posts_tasks_and_a_dead_address_is_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
    let server = serve(&location, options()).await;
    let webhook = Webhook::start(0).await;
    let task = server.rpc("SendMessage", send("a question")).await["task"]["id"].clone();
    let config = json!({ "taskId": task, "pushNotificationConfig": { "url": webhook.url } });
    server.rpc("tasks/pushNotificationConfig/set", config).await;
    let dead = Webhook::start(u32::MAX).await;
    let config = json!({ "taskId": task, "id": "dead", "url": dead.url });
    server.rpc("CreateTaskPushNotificationConfig", config).await;
    server.rpc("SendMessage", send_to(task.as_str().unwrap(), "the second")).await;
    let posts = webhook.posts(2).await;
    assert_eq!(
        (&posts[1].1["kind"], &posts[1].1["status"]["state"]),
        (&json!("task"), &json!("completed"))
    );
    assert_eq!(posts[1].0["content-type"], "application/json");
    // One update is tried this often, and no other after it.
    for _ in 0..200 {
        if *dead.attempts.lock().unwrap() >= 5 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(*dead.attempts.lock().unwrap(), 5);
}
