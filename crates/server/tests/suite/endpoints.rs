//! Tests the endpoints through the listener.

use std::collections::BTreeSet;

use lango_protocol::Caller;
use lango_server::EndpointKind;
use lango_store::DatabaseLocation;
use serde_json::Value;

use crate::test_server::TestServer;

pub(crate) async fn a_caller_is_let_in_by_its_token_and_through_its_endpoints(
    location: DatabaseLocation,
) {
    let served = TestServer::start(&location).await;
    let name: Caller = "wiki".parse().unwrap();
    let endpoints = BTreeSet::from([EndpointKind::A2a]);
    let token = served.callers.add(&name, None, &endpoints).await.unwrap();
    let models = |token: String| {
        let served = &served;
        async move { served.send(&token, "GET /v1/models", "", &Value::Null).await.0 }
    };
    assert_eq!(models(served.owner.clone()).await, 200);
    assert_eq!(models(token.reveal().to_owned()).await, 403);
    assert_eq!(models("something else".to_owned()).await, 401);
    served.callers.remove(&name).await.unwrap();
    assert_eq!(models(token.reveal().to_owned()).await, 401);
}

pub(crate) async fn a_conversation_goes_on_in_its_session_and_branches_begin_their_own(
    location: DatabaseLocation,
) {
    let served = TestServer::start(&location).await;
    let owner = served.owner.clone();
    let (status, session, answer) = served.chat(&owner, "", &[("user", "one")]).await;
    assert_eq!(status, 200, "{answer}");
    let history = [("user", "one"), ("assistant", "Yes."), ("user", "two")];
    assert_eq!(served.chat(&owner, "", &history).await.1, session);
    let branch = served.chat(&owner, "", &history).await.1;
    assert_ne!(branch, session);
    assert_eq!(served.journal.list_sessions(10).await.unwrap().len(), 2);
    // Another process finds the same session.
    let again = TestServer::start(&location).await;
    let more = [&history[..], &[("assistant", "Yes."), ("user", "three")]].concat();
    let found = again.chat(&again.owner, "", &more).await.1;
    assert!(found == session || found == branch, "{found}");
}

pub(crate) async fn one_key_is_one_turn(location: DatabaseLocation) {
    let served = TestServer::start(&location).await;
    let owner = served.owner.clone();
    let key = "idempotency-key: k\r\n";
    let messages = [("user", "one")];
    let (first, second) =
        tokio::join!(served.chat(&owner, key, &messages), served.chat(&owner, key, &messages));
    assert_eq!(first.2["id"], second.2["id"], "{first:?} {second:?}");
    assert_eq!(served.chat(&owner, key, &[("user", "two")]).await.0, 422);
    assert_eq!(served.model.requests().len(), 1);
    let again = TestServer::start(&location).await;
    assert_eq!(again.chat(&again.owner, key, &messages).await.2["id"], first.2["id"]);
    assert_eq!(again.model.requests().len(), 0);
}
