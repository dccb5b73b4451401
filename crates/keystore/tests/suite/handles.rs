//! Handles to values.

use std::time::Duration;

use lango_keystore::{
    EntryAttributes, EntryKind, HandlePlace, HandleRequest, HandleUse, KeyStoreError, SecretHandles,
};
use lango_protocol::{AgentName, SessionId};
use lango_store::DatabaseLocation;

use crate::fixture::{Vault, actor, name, put, secret};

fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

fn request<'a>(session: &'a SessionId, agent: &'a AgentName) -> HandleRequest<'a> {
    HandleRequest { session, agent, place: HandlePlace::Command, purpose: "to push", origin: None }
}

fn use_in<'a>(session: &'a SessionId, agent: &'a AgentName) -> HandleUse<'a> {
    let (place, what) = (HandlePlace::Command, "git push".to_owned());
    HandleUse { session, agent, place, origin: None, what }
}

pub(crate) async fn a_handle_is_resolved_only_in_its_conversation(location: DatabaseLocation) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "value").await;
    let (session, other) = (SessionId::generate(), SessionId::generate());
    let agent = agent("vault");
    let handles = SecretHandles::default();
    let handle = handles.issue(&store, &name("github"), request(&session, &agent)).await.unwrap();
    assert!(SecretHandles::is_handle(&handle) && !handle.contains("value"));
    assert_eq!(handles.describe(&handle).unwrap().label, "github");
    let value = handles.resolve(&handle, use_in(&session, &agent)).await.unwrap();
    assert_eq!(value.reveal(), b"value");
    for (handles, session) in [(&handles, &other), (&SecretHandles::default(), &session)] {
        let refused = handles.resolve(&handle, use_in(session, &agent)).await;
        assert!(matches!(refused, Err(KeyStoreError::Handle(_))), "{refused:?}");
    }
    let unknown = handles.issue(&store, &name("other"), request(&session, &agent)).await;
    assert!(matches!(unknown, Err(KeyStoreError::NotFound { .. })));
    let records = store.list_audit(2).await.unwrap();
    assert_eq!(
        (records[0].action.as_str(), records[0].detail.as_str()),
        ("handle_issued", "to push")
    );
    assert_eq!((records[1].action.as_str(), records[1].detail.as_str()), ("used", "git push"));
}

pub(crate) async fn a_handle_is_bound_to_its_place_its_agent_its_origin_and_its_time(
    location: DatabaseLocation,
) {
    const ORIGIN: &str = "https://github.com";
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "value").await;
    let attributes =
        EntryAttributes { origin: Some(ORIGIN.to_owned()), ..EntryAttributes::default() };
    let (kind, value) = (EntryKind::Secret, secret("of one site"));
    store.put(kind, &name("bound"), &value, attributes, &actor()).await.unwrap();
    let (session, asker) = (SessionId::generate(), agent("vault"));
    let (operator, navigator) = (agent("operator"), agent("navigator"));
    let handles = SecretHandles::default();
    let refusal = async |handle: &str, use_: HandleUse<'_>| {
        let refused = handles.resolve(handle, use_).await;
        let Err(KeyStoreError::Handle(why)) = refused else { panic!("{refused:?}") };
        why
    };
    // The place.
    let handle = handles.issue(&store, &name("github"), request(&session, &asker)).await.unwrap();
    let typed = HandleUse { place: HandlePlace::FormField, ..use_in(&session, &navigator) };
    let why = refusal(&handle, typed).await;
    assert!(why.contains("for a variable or a file of a command"), "{why}");
    // The agent: the first one that uses it.
    handles.resolve(&handle, use_in(&session, &operator)).await.unwrap();
    handles.resolve(&handle, use_in(&session, &operator)).await.unwrap();
    let why = refusal(&handle, use_in(&session, &agent("librarian"))).await;
    assert!(why.contains("the agent operator uses it"), "{why}");
    // The origin: that of the secret.
    let form = HandleRequest { place: HandlePlace::FormField, ..request(&session, &asker) };
    let handle = handles.issue(&store, &name("bound"), form).await.unwrap();
    let typed = |origin| HandleUse {
        place: HandlePlace::FormField,
        origin,
        ..use_in(&session, &navigator)
    };
    for origin in [None, Some("https://github.com.evil.example"), Some("http://github.com")] {
        let why = refusal(&handle, typed(origin)).await;
        assert!(why.contains("may go to https://github.com only"), "{why}");
    }
    let value = handles.resolve(&handle, typed(Some(ORIGIN))).await.unwrap();
    assert_eq!(value.reveal(), b"of one site");
    // The time.
    let handles = SecretHandles::with_time(Duration::from_millis(20));
    let handle = handles.issue(&store, &name("github"), request(&session, &asker)).await.unwrap();
    assert!(handles.describe(&handle).is_some());
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(handles.describe(&handle).is_none());
    let refused = handles.resolve(&handle, use_in(&session, &operator)).await.unwrap_err();
    assert!(refused.to_string().contains("it has expired"), "{refused}");
}
