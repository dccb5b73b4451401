//! Tests how callers are stored.

use std::collections::BTreeSet;

use lango_protocol::{AgentName, Caller};
use lango_server::{Callers, CallersError, EndpointKind};
use lango_store::testing::open;
use lango_store::{DatabaseLocation, Statement};

pub(crate) async fn a_token_is_known_by_its_hash_and_gone_when_it_is_removed(
    location: DatabaseLocation,
) {
    let database = open(&location).await;
    let callers = Callers::open(database.clone()).await.unwrap();
    let name: Caller = "laptop".parse().unwrap();
    let agents: BTreeSet<AgentName> = ["planner".parse().unwrap()].into();
    let endpoints = BTreeSet::from([EndpointKind::Mcp]);
    let token = callers.add(&name, Some(&agents), &endpoints).await.unwrap();
    let cached = callers.find_cached(&name);
    assert!(cached.is_none(), "cached only after a read");
    let listed = callers.list().await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0].agents, &listed[0].endpoints), (&Some(agents), &endpoints));
    assert_eq!(callers.find_cached(&name).unwrap(), listed[0]);
    let twice = callers.add(&name, None, &endpoints).await;
    assert!(matches!(twice, Err(CallersError::Exists(_))));
    let owner: Caller = "owner".parse().unwrap();
    assert!(matches!(callers.add(&owner, None, &endpoints).await, Err(CallersError::IsOwner)));
    // Only a hash is stored.
    let rows = database.query(Statement::new("SELECT token FROM callers")).await.unwrap();
    assert_eq!(rows[0].blob(0).unwrap().len(), 32);
    assert!(
        !token
            .reveal()
            .as_bytes()
            .windows(8)
            .any(|part| { rows[0].blob(0).unwrap().windows(8).any(|kept| kept == part) })
    );
    assert!(callers.remove(&name).await.unwrap());
    assert!(!callers.remove(&name).await.unwrap());
    assert!(callers.list().await.unwrap().is_empty());
}

pub(crate) async fn the_owner_has_one_token_until_a_new_one_is_wanted(location: DatabaseLocation) {
    let callers = Callers::open(open(&location).await).await.unwrap();
    let first = callers.create_owner_token(false).await.unwrap().unwrap();
    assert!(callers.create_owner_token(false).await.unwrap().is_none());
    let second = callers.create_owner_token(true).await.unwrap().unwrap();
    assert_ne!(first, second);
    assert_eq!(callers.list().await.unwrap().len(), 1);
}
