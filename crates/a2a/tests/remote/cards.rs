//! Cards: trusted, remembered, changed, signed.

use std::time::Duration;

use lango_a2a::remote::{RemoteError, Standing, sight};
use lango_a2a::signature::CardSigner;
use lango_store::DatabaseLocation;
use serde_json::json;

use crate::place::{Place, card, config, directory};

async fn look(location: &DatabaseLocation, url: &str) -> Standing {
    directory(location, config(url)).await.look().await.remove(0)
}

fn description(standing: &Standing) -> String {
    standing.found.as_ref().map(|present| present.card.description.clone()).unwrap()
}

fn error(standing: Standing) -> RemoteError {
    standing.found.map(|_| "it is there").unwrap_err()
}

pub(crate) async fn a_fresh_card_needs_no_network(location: DatabaseLocation) {
    let place = Place::open().await;
    place.says.lock().unwrap().cache_control = Some("public, max-age=300");
    assert_eq!(description(&look(&location, &place.url).await), "as it was");
    place.close();
    assert_eq!(description(&look(&location, &place.url).await), "as it was");
    assert_eq!(place.counts(), (1, 0));
}

pub(crate) async fn a_card_that_is_not_fresh_is_asked_about_and_not_sent_again(
    location: DatabaseLocation,
) {
    let place = Place::open().await;
    place.says.lock().unwrap().etag = Some("\"one\"");
    for _ in 0..3 {
        assert_eq!(description(&look(&location, &place.url).await), "as it was");
    }
    assert_eq!(place.counts(), (1, 2));
    place.close();
    let gone = error(look(&location, &place.url).await);
    assert!(matches!(gone, RemoteError::Unreachable { .. }), "{gone}");
}

pub(crate) async fn a_changed_card_waits_for_a_person_and_may_change_back(
    location: DatabaseLocation,
) {
    let place = Place::open().await;
    place.says.lock().unwrap().etag = Some("\"one\"");
    look(&location, &place.url).await.found.map(drop).unwrap();
    let change = |text: &str, etag| {
        let mut says = place.says.lock().unwrap();
        says.card = card(&place.url, text);
        says.etag = Some(etag);
    };
    change("something else", "\"two\"");
    for _ in 0..2 {
        let changed = error(look(&location, &place.url).await);
        assert!(matches!(changed, RemoteError::Changed { .. }), "{changed}");
    }
    let directory = directory(&location, config(&place.url)).await;
    let name = "weather".parse().unwrap();
    let trusted = directory.cards().card(&name).await.unwrap().unwrap();
    assert!(trusted.body.contains("as it was") && trusted.offered.unwrap().contains("something"));
    // Back again, before anybody looked.
    change("as it was", "\"three\"");
    assert_eq!(description(&look(&location, &place.url).await), "as it was");
    let trusted = directory.cards().card(&name).await.unwrap().unwrap();
    assert_eq!(trusted.offered, None);
    // And for good, because somebody looked.
    change("something else", "\"four\"");
    let seen = sight(&config(&place.url), Duration::from_secs(5)).await.unwrap();
    directory.trust(&name, &seen).await.unwrap();
    assert_eq!(description(&look(&location, &place.url).await), "something else");
    directory.cards().remove(&name).await.unwrap();
    assert!(directory.cards().card(&name).await.unwrap().is_none());
}

pub(crate) async fn another_address_is_another_agent(location: DatabaseLocation) {
    let place = Place::open().await;
    look(&location, &place.url).await.found.map(drop).unwrap();
    place.says.lock().unwrap().card = card(&place.url, "somewhere else");
    let elsewhere = format!("{}/other.json", place.url);
    assert_eq!(description(&look(&location, &elsewhere).await), "somewhere else");
    // The name belongs to the other one now.
    assert_eq!(description(&look(&location, &place.url).await), "somewhere else");
}

pub(crate) async fn a_card_has_to_be_signed_where_there_are_keys(location: DatabaseLocation) {
    let place = Place::open().await;
    let keys = tempfile::tempdir().unwrap();
    let signer = CardSigner::generate(&keys.path().join("one")).unwrap();
    let other = CardSigner::generate(&keys.path().join("two")).unwrap();
    let trusting = |signer: &CardSigner| {
        let mut config = config(&place.url);
        config.card_keys = vec![signer.key().clone()];
        config
    };
    let refused = async |config| {
        let error = error(directory(&location, config).await.look().await.remove(0));
        assert!(matches!(error, RemoteError::BadSignature { .. }), "{error}");
    };
    refused(trusting(&signer)).await;
    let mut with_signature = card(&place.url, "with_signature");
    with_signature["signatures"] = json!(signer.sign(&with_signature).unwrap());
    place.says.lock().unwrap().card = with_signature.clone();
    refused(trusting(&other)).await;
    let found = directory(&location, trusting(&signer)).await.look().await.remove(0);
    assert_eq!(description(&found), "with_signature");
    with_signature["supportedInterfaces"][0]["url"] = json!(format!("{}/taken-over", place.url));
    place.says.lock().unwrap().card = with_signature;
    refused(trusting(&signer)).await;
}
