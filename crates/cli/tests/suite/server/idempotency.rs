//! The same key runs once, whatever happens to connections and processes.

use serde_json::{Value, json};

use super::{ECHO, Server, slow, turns, user};
use crate::fixture::Lango;
use crate::invocation::until;

fn keyed(server: &Server<'_>, token: &str, key: &str, text: &str) -> super::http::Request {
    let body = json!({ "model": "lango", "messages": [user(text)] });
    server.of(token, "POST", "/v1/chat/completions").header("idempotency-key", key).json(&body)
}

fn without_time(answer: &super::http::Answer) -> Value {
    let mut told = answer.json();
    told["created"].take();
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn r21_a_key_that_comes_again_runs_once_and_gets_the_same_answer() {
    let lango = Lango::playing(&[&slow(700, "Only once."), ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let token = server.token.clone();
    // At once, one after the other, and as a stream.
    let (one, two, three) = tokio::join!(
        keyed(&server, &token, "k1", "slow one").send(),
        keyed(&server, &token, "k1", "slow one").send(),
        keyed(&server, &token, "k1", "slow one").send(),
    );
    assert_eq!(one.text(), "Only once.");
    for other in [&two, &three, &keyed(&server, &token, "k1", "slow one").send().await] {
        assert_eq!(without_time(other), without_time(&one));
    }
    assert_eq!(lango.received().len(), 1);
    assert_eq!(turns(&lango).await, (1, 1));
    let other = keyed(&server, &token, "k1", "another").send().await;
    assert_eq!(other.status, 422, "{other:?}");
    assert_eq!(other.json()["error"]["code"], "idempotency_key_reused");
    // The same key of another caller is another key.
    let stranger = super::add_caller(&lango, &["stranger"]).await;
    assert_eq!(keyed(&server, &stranger, "k1", "hello").send().await.status, 200);
    assert_eq!(turns(&lango).await.0, 2);
    // And it outlives the server.
    server.stop().await;
    let again = Server::start(&lango, &[]).await;
    let later = keyed(&again, &token, "k1", "slow one").send().await;
    assert_eq!(without_time(&later), without_time(&one));
    assert_eq!(turns(&lango).await.0, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn r21_a_turn_whose_server_was_killed_goes_on_when_its_key_comes_again() {
    let lango = Lango::playing(&[&slow(3000, "Late."), ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let token = server.token.clone();
    let connection = keyed(&server, &token, "k2", "slow one").begin().await;
    until("the model is asked", || !lango.received().is_empty()).await;
    server.kill().await;
    drop(connection);
    let again = Server::start(&lango, &[]).await;
    let answer = keyed(&again, &token, "k2", "slow one").send().await;
    assert_eq!(answer.text(), "Late.");
    assert_eq!(turns(&lango).await, (1, 1));
}
