//! Handles to values.

use lango_keystore::{HandleUse, KeyStoreError, SecretHandles};
use lango_protocol::{AgentName, SessionId};
use lango_store::DatabaseLocation;

use crate::fixture::{Vault, name, put};

pub(crate) async fn a_handle_is_resolved_only_in_its_conversation(location: DatabaseLocation) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "value").await;
    let (session, other) = (SessionId::generate(), SessionId::generate());
    let agent: AgentName = "vault".parse().unwrap();
    let handles = SecretHandles::default();
    let handle = handles.issue(&store, &name("github"), &session, &agent, "to push").await.unwrap();
    assert!(SecretHandles::is_handle(&handle) && !handle.contains("value"));
    assert_eq!(handles.describe(&handle).unwrap().label, "github");
    let use_in =
        |session| HandleUse { session, agent: &agent, origin: None, what: "git push".into() };
    let value = handles.resolve(&handle, use_in(&session)).await.unwrap();
    assert_eq!(value.reveal(), b"value");
    for (handles, session) in [(&handles, &other), (&SecretHandles::default(), &session)] {
        let refused = handles.resolve(&handle, use_in(session)).await;
        assert!(matches!(refused, Err(KeyStoreError::Handle(_))), "{refused:?}");
    }
    let unknown = handles.issue(&store, &name("other"), &session, &agent, "").await;
    assert!(matches!(unknown, Err(KeyStoreError::NotFound { .. })));
    let records = store.list_audit(2).await.unwrap();
    assert_eq!(
        (records[0].action.as_str(), records[0].detail.as_str()),
        ("handle_issued", "to push")
    );
    assert_eq!((records[1].action.as_str(), records[1].detail.as_str()), ("used", "git push"));
}
