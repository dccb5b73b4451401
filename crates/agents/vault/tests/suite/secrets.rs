//! Secrets: asked from the person, given out as handles.

use std::sync::Arc;

use lango_keystore::{HandlePlace, HandleUse};
use lango_protocol::Space;
use lango_vault::NoPrompt;
use serde_json::json;

use crate::fixture::{Fixture, TypingPerson};

const VALUE: &str = "ghp_canary7Jx2Qm9Lw4Tz8Kd";

#[tokio::test]
async fn a_value_comes_from_the_person_and_no_output_has_it() {
    let person = Arc::new(TypingPerson { value: VALUE.to_owned(), ..TypingPerson::default() });
    let fixture = Fixture::with_person(Arc::clone(&person) as _).await;
    let stored = fixture.call("secrets_set", json!({ "name": "github" })).await.unwrap();
    assert_eq!(*person.asked.lock().unwrap(), ["github"]);
    let listed = fixture.call("secrets_list", json!({})).await.unwrap();
    let got =
        fixture.call("secrets_get", json!({ "name": "github", "purpose": "push" })).await.unwrap();
    for output in [&stored, &listed, &got] {
        assert!(output.text.contains("github"), "{output:?}");
        assert!(!format!("{output:?}").contains(VALUE), "{output:?}");
    }
    let got: serde_json::Value = serde_json::from_str(&got.text).unwrap();
    let (session, agent) = (&fixture.session, &"operator".parse().unwrap());
    let (place, origin, what) = (HandlePlace::Command, None, "git push".to_owned());
    let use_ = HandleUse { session, agent, place, origin, what };
    let value = fixture.handles.resolve(got["handle"].as_str().unwrap(), use_).await.unwrap();
    assert_eq!(value.reveal(), VALUE.as_bytes());
    let deleted = fixture.output("secrets_delete", json!({ "name": "github" })).await;
    assert_eq!(deleted["deleted"], "github");
    let error = fixture.error("secrets_get", json!({ "name": "github" })).await;
    assert!(error.contains("there is no secret named github"), "{error}");
}

#[tokio::test]
async fn nothing_is_stored_without_a_person_or_a_value() {
    let declined = Fixture::new().await;
    let error = declined.error("secrets_set", json!({ "name": "github" })).await;
    assert!(error.contains("gave no value"), "{error}");
    let alone = Fixture::with_person(Arc::new(NoPrompt)).await;
    let error = alone.error("secrets_set", json!({ "name": "recovery phrase" })).await;
    assert!(error.contains("lango secrets set 'recovery phrase'"), "{error}");
    for fixture in [declined, alone] {
        assert_eq!(fixture.output("secrets_list", json!({})).await, json!([]));
    }
}

#[tokio::test]
async fn a_value_as_an_argument_and_an_api_client_are_refused() {
    let fixture = Fixture::new().await;
    let argument = json!({ "name": "github", "value": VALUE });
    assert!(fixture.call("secrets_set", argument).await.is_err());
    let client = Space::Client("phone".parse().unwrap());
    for tool in ["secrets_list", "crypto_keys"] {
        let refused = fixture.call_in(client.clone(), tool, json!({})).await.unwrap_err();
        assert!(refused.to_string().contains("belongs to the owner"), "{refused}");
    }
    for name in ["", " ", "a\nb", "x\u{202e}y", &"n".repeat(129)] {
        let error = fixture.error("secrets_get", json!({ "name": name })).await;
        assert!(error.contains("is no name"), "{error}");
    }
}
