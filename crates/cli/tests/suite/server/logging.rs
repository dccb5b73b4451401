//! The log file of a server.

use std::os::unix::fs::MetadataExt as _;

use serde_json::json;

use super::{ECHO, Server, user};
use crate::fixture::Lango;
use crate::invocation::until;

#[tokio::test(flavor = "multi_thread")]
async fn a_server_keeps_a_log_that_only_its_owner_reads_and_that_has_no_words() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let body = json!({ "model": "lango", "messages": [user("zebra-question")] });
    let answer = server.owner("POST", "/v1/chat/completions").json(&body).send().await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let file = lango.home().join("logs/serve.log");
    assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    // The answer is there some moments before the turn is logged as finished.
    let read = || std::fs::read_to_string(&file).unwrap();
    until("the turn is logged", || read().contains("turn finished")).await;
    let log = read();
    assert!(!log.contains("zebra") && !log.contains(&server.token), "{log}");
}
