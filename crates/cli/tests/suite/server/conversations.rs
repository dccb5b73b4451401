//! A stateless wire, and sessions all the same.

use serde_json::json;

use super::{Server, add_caller, assistant, user};
use crate::fixture::Lango;

/// The answer says what the model saw.
const MEMORY: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "the second"
say = "Two."

[[reply]]
agent = "lango-orchestrator"
user = "the first"
say = "One."

[[reply]]
agent = "lango-orchestrator"
say = "More."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_keeps_its_session_and_only_what_is_new_is_said() {
    let lango = Lango::playing(&[MEMORY]).await;
    let server = Server::start(&lango, &[]).await;
    let first = server.chat(&json!([user("the first")])).send().await;
    assert_eq!(first.text(), "One.");
    let mut messages = vec![user("the first"), assistant("One."), user("the second")];
    let second = server.chat(&json!(messages)).send().await;
    assert_eq!(second.text(), "Two.");
    assert_eq!(second.session(), first.session());
    messages.extend([assistant("Two.\n"), user("and third")]);
    let third = server.chat(&json!(messages)).send().await;
    assert_eq!(third.session(), first.session());
    // What went before came from the session, once.
    let asked = lango.received().pop().unwrap().body;
    assert_eq!(asked.matches("the first").count(), 1, "{asked}");
    assert!(!asked.contains("Earlier conversation"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_asked_for_again_is_a_session_of_its_own() {
    let lango = Lango::playing(&[MEMORY]).await;
    let server = Server::start(&lango, &[]).await;
    let first = server.chat(&json!([user("the first")])).send().await;
    let messages = json!([user("the first"), assistant("One."), user("the second")]);
    let second = server.chat(&messages).send().await;
    let again = server.chat(&messages).send().await;
    assert_eq!(second.session(), first.session());
    assert_ne!(again.session(), first.session());
    // The branch knows what went before.
    let asked = lango.received().pop().unwrap().body;
    assert!(asked.contains("Earlier conversation") && asked.contains("One."), "{asked}");
    // Both go on, each where it is.
    let next = json!([
        user("the first"),
        assistant("One."),
        user("the second"),
        assistant("Two."),
        user("third")
    ]);
    let one = server.chat(&next).send().await.session();
    let other = server.chat(&next).send().await.session();
    let mut both = [one, other];
    let mut expected = [first.session(), again.session()];
    both.sort();
    expected.sort();
    assert_eq!(both, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_says_about_how_to_answer_is_told_when_it_is_new() {
    let lango = Lango::playing(&[MEMORY]).await;
    let server = Server::start(&lango, &[]).await;
    let system = |text: &str| json!({ "role": "system", "content": text });
    let asked = || lango.received().pop().unwrap().body;
    server.chat(&json!([system("Speak like a sailor."), user("the first")])).send().await;
    assert!(asked().contains("Speak like a sailor."), "{}", asked());
    let more = json!([
        system("Speak like a judge."),
        user("the first"),
        assistant("One."),
        user("the second")
    ]);
    server.chat(&more).send().await;
    assert!(asked().contains("Speak like a judge."), "{}", asked());
}

#[tokio::test(flavor = "multi_thread")]
async fn d10_a_session_is_named_only_by_whom_it_belongs_to() {
    let lango = Lango::playing(&[MEMORY]).await;
    let (one, other) = (add_caller(&lango, &["one"]).await, add_caller(&lango, &["other"]).await);
    let own = lango.command(&["run", "--session", "mine", "the first"]).run().await;
    assert_eq!(own.code, 0, "{own:?}");
    let server = Server::start(&lango, &[]).await;
    let body = json!({ "model": "lango", "messages": [user("the first")] });
    let ask = |token: &str| server.of(token, "POST", "/v1/chat/completions");
    let session = ask(&one).json(&body).send().await.session();
    let named = |token: &str, name: &str| ask(token).header("x-lango-session", name).json(&body);
    assert_eq!(named(&one, &session).send().await.session(), session);
    let metadata = json!({ "model": "lango", "messages": [user("the first")],
                           "metadata": { "session": session } });
    assert_eq!(ask(&one).json(&metadata).send().await.session(), session);
    // Another caller's, the owner's, one that is not there, one that cannot be: all the same.
    let mut refusals = Vec::new();
    for (token, name) in
        [(&other, session.as_str()), (&one, "mine"), (&one, "nowhere"), (&one, "../x")]
    {
        let refused = named(token, name).send().await;
        assert_eq!(refused.status, 404, "{name} {refused:?}");
        assert_eq!(refused.json()["error"]["code"], "session_not_found");
        refusals.push(refused.body);
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1);
    assert_eq!(ask(&other).json(&metadata).send().await.status, 404);
    // The same words of another caller are another conversation.
    let history =
        json!({ "model": "lango", "messages": [user("the first"), assistant("One."), user("x")] });
    assert_ne!(ask(&other).json(&history).send().await.session(), session);
    // What the owner began in the terminal goes on here.
    assert_eq!(named(&server.token, "mine").send().await.session(), "mine");
    assert_eq!(named(&server.token, &session).send().await.status, 404);
}
