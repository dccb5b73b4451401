//! Tests cards: trusted, cached, changed, signed.

use std::time::Duration;

use lango_a2a::remote::{RemoteError, RemoteStatus, fetch_card};
use lango_a2a::signature::CardSigner;
use lango_store::DatabaseLocation;
use serde_json::json;

use crate::card_server::{CardServer, card, config, directory};

async fn check(location: &DatabaseLocation, url: &str) -> RemoteStatus {
    directory(location, config(url)).await.check_agents().await.remove(0)
}

fn description(status: &RemoteStatus) -> String {
    status.availability.as_ref().map(|present| present.card.description.clone()).unwrap()
}

fn error(status: RemoteStatus) -> RemoteError {
    status.availability.map(|_| "it is there").unwrap_err()
}

pub(crate) async fn a_fresh_card_needs_no_network(location: DatabaseLocation) {
    let card_server = CardServer::open().await;
    card_server.state.lock().unwrap().cache_control = Some("public, max-age=300");
    assert_eq!(description(&check(&location, &card_server.url).await), "as it was");
    card_server.close();
    assert_eq!(description(&check(&location, &card_server.url).await), "as it was");
    assert_eq!(card_server.counts(), (1, 0));
}

pub(crate) async fn a_card_that_is_not_fresh_is_asked_about_and_not_sent_again(
    location: DatabaseLocation,
) {
    let card_server = CardServer::open().await;
    card_server.state.lock().unwrap().etag = Some("\"one\"");
    for _ in 0..3 {
        assert_eq!(description(&check(&location, &card_server.url).await), "as it was");
    }
    assert_eq!(card_server.counts(), (1, 2));
    card_server.close();
    let gone = error(check(&location, &card_server.url).await);
    assert!(matches!(gone, RemoteError::Unreachable { .. }), "{gone}");
}

pub(crate) async fn a_changed_card_waits_for_a_person_and_may_change_back(
    location: DatabaseLocation,
) {
    let card_server = CardServer::open().await;
    card_server.state.lock().unwrap().etag = Some("\"one\"");
    check(&location, &card_server.url).await.availability.map(drop).unwrap();
    let change = |text: &str, etag| {
        let mut state = card_server.state.lock().unwrap();
        state.card = card(&card_server.url, text);
        state.etag = Some(etag);
    };
    change("something else", "\"two\"");
    for _ in 0..2 {
        let changed = error(check(&location, &card_server.url).await);
        assert!(matches!(changed, RemoteError::Changed { .. }), "{changed}");
    }
    let directory = directory(&location, config(&card_server.url)).await;
    let name = "weather".parse().unwrap();
    let trusted = directory.cards().find_card(&name).await.unwrap().unwrap();
    assert!(trusted.body.contains("as it was") && trusted.offered.unwrap().contains("something"));
    // Changed back, before the user decided.
    change("as it was", "\"three\"");
    assert_eq!(description(&check(&location, &card_server.url).await), "as it was");
    let trusted = directory.cards().find_card(&name).await.unwrap().unwrap();
    assert_eq!(trusted.offered, None);
    // Changed for good, because the user approved it.
    change("something else", "\"four\"");
    let seen = fetch_card(&config(&card_server.url), Duration::from_secs(5)).await.unwrap();
    directory.trust(&name, &seen).await.unwrap();
    assert_eq!(description(&check(&location, &card_server.url).await), "something else");
    directory.cards().remove(&name).await.unwrap();
    assert!(directory.cards().find_card(&name).await.unwrap().is_none());
}

pub(crate) async fn another_address_is_another_agent(location: DatabaseLocation) {
    let card_server = CardServer::open().await;
    check(&location, &card_server.url).await.availability.map(drop).unwrap();
    card_server.state.lock().unwrap().card = card(&card_server.url, "somewhere else");
    let other_url = format!("{}/other.json", card_server.url);
    assert_eq!(description(&check(&location, &other_url).await), "somewhere else");
    // The name belongs to the other agent now.
    assert_eq!(description(&check(&location, &card_server.url).await), "somewhere else");
}

pub(crate) async fn a_card_has_to_be_signed_where_there_are_keys(location: DatabaseLocation) {
    let card_server = CardServer::open().await;
    let keys = tempfile::tempdir().unwrap();
    let signer = CardSigner::generate(&keys.path().join("one")).unwrap();
    let other = CardSigner::generate(&keys.path().join("two")).unwrap();
    let trusting = |signer: &CardSigner| {
        let mut config = config(&card_server.url);
        config.card_keys = vec![signer.key().clone()];
        config
    };
    let refused = async |config| {
        let error = error(directory(&location, config).await.check_agents().await.remove(0));
        assert!(matches!(error, RemoteError::BadSignature { .. }), "{error}");
    };
    refused(trusting(&signer)).await;
    let mut document = card(&card_server.url, "signed");
    document["signatures"] = json!(signer.sign_card(&document).unwrap());
    card_server.state.lock().unwrap().card = document.clone();
    refused(trusting(&other)).await;
    let status = directory(&location, trusting(&signer)).await.check_agents().await.remove(0);
    assert_eq!(description(&status), "signed");
    document["supportedInterfaces"][0]["url"] = json!(format!("{}/taken-over", card_server.url));
    card_server.state.lock().unwrap().card = document;
    refused(trusting(&signer)).await;
}
