//! Tests that the owner and the API clients see and change what is their own.

use lango_chronicler::MemoryContext;
use lango_protocol::{OwnerStore, Space, SpaceAccess};
use lango_store::DatabaseLocation;
use tokio_util::sync::CancellationToken;

use crate::samples::{Home, session};

fn client(name: &str) -> SpaceAccess {
    SpaceAccess::to(Space::Client(name.parse().unwrap()))
}

fn owner() -> SpaceAccess {
    SpaceAccess::to(Space::Owner)
}

/// Lets someone say something in a session, and does what is due.
async fn say(home: &Home, access: &SpaceAccess, name: &str, message: &str) {
    let turn = home.begin_as(access, &session(name), message).await;
    turn.end("I see.").await;
    home.work(&session(name)).await;
}

async fn memories(home: &Home, access: &SpaceAccess) -> Vec<String> {
    let memory = home.system.in_space(access.own());
    let all = memory.list_memories(true).await.unwrap();
    all.into_iter().map(|memory| memory.content).collect()
}

async fn prompt(home: &Home, access: &SpaceAccess, message: &str) -> String {
    let context = MemoryContext::new(home.system.clone());
    let blocks = context.preview_blocks(&session("new"), message, access).await.unwrap();
    blocks.into_iter().map(|block| block.text).collect()
}

pub(crate) async fn what_a_client_says_is_its_own(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let (wiki, shop) = (client("wiki"), client("shop"));
    say(&home, &owner(), "mine", "I live in Bern.").await;
    say(&home, &wiki, "wiki-1", "I live in Oslo. Always answer in Norwegian.").await;
    say(&home, &shop, "shop-1", "I live in Rome.").await;
    assert_eq!(memories(&home, &owner()).await, ["I live in Bern."]);
    assert_eq!(memories(&home, &wiki).await.len(), 2);
    assert_eq!(memories(&home, &shop).await, ["I live in Rome."]);
    for (access, own, others) in [
        (&owner(), "Bern", ["Oslo", "Rome", "Norwegian"]),
        (&wiki, "Oslo", ["Bern", "Rome", "Roman"]),
        (&shop, "Rome", ["Bern", "Oslo", "Norwegian"]),
    ] {
        let told = prompt(&home, access, "where do I live").await;
        let mut turn = home.begin_as(access, &session("ask"), "where do I live").await;
        let found = turn.call(&home.system, "memory_search", r#"{"query": "live"}"#).await.unwrap();
        turn.end("There.").await;
        for text in [&told, &found] {
            assert!(text.contains(own), "{text}");
            assert!(others.iter().all(|other| !text.contains(other)), "{text}");
        }
    }
    home.assert_sound().await;
}

pub(crate) async fn a_client_forgets_in_its_own_conversations_only(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let wiki = client("wiki");
    say(&home, &owner(), "mine", "My boat is called PELICAN.").await;
    say(&home, &wiki, "wiki-1", "My boat is called PELICAN.").await;
    let mine = home.memory.list_memories(false).await.unwrap().remove(0);
    let mut turn = home.begin_as(&wiki, &session("wiki-2"), "forget it").await;
    let by_id = format!(r#"{{"id": "{}"}}"#, mine.id);
    assert!(turn.call(&home.system, "memory_forget", &by_id).await.is_err());
    let by_words = r#"{"query": "boat called PELICAN"}"#;
    turn.call(&home.system, "memory_forget", by_words).await.unwrap();
    turn.end("Done.").await;
    home.work(&session("wiki-2")).await;
    assert!(memories(&home, &wiki).await.is_empty());
    assert_eq!(memories(&home, &owner()).await, ["My boat is called PELICAN."]);
    let said = async |name: &str| {
        let events = home.journal.read_events(&session(name), 0, 10).await.unwrap();
        serde_json::to_string(&events[0].body).unwrap()
    };
    assert!(said("mine").await.contains("PELICAN"));
    assert!(!said("wiki-1").await.contains("PELICAN"));
    home.assert_sound().await;
}

pub(crate) async fn the_owner_forgets_everywhere(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    say(&home, &owner(), "mine", "My boat is called PELICAN.").await;
    say(&home, &client("wiki"), "wiki-1", "My boat is called PELICAN too.").await;
    let mine = home.memory.list_memories(false).await.unwrap().remove(0);
    home.memory.forget_memory(&mine.id).await.unwrap();
    let events = home.journal.read_events(&session("wiki-1"), 0, 10).await.unwrap();
    assert!(!serde_json::to_string(&events[0].body).unwrap().contains("PELICAN"));
    let notes = home.system.in_space(client("wiki").own()).list_observations(None, 100).await;
    assert!(notes.unwrap().iter().all(|note| !note.content.contains("PELICAN")));
    assert!(memories(&home, &client("wiki")).await.is_empty());
    home.assert_sound().await;
}

pub(crate) async fn what_the_owner_shares_is_read_and_marked(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    say(&home, &owner(), "mine", "I live in Bern.").await;
    let wiki = client("wiki").with_owner_stores([OwnerStore::Memories].into());
    let told = prompt(&home, &wiki, "where do I live").await;
    assert!(told.contains("from the owner") && told.contains("Bern"), "{told}");
    let mut turn = home.begin_as(&wiki, &session("ask"), "where do I live").await;
    let found = turn.call(&home.system, "memory_search", r#"{"query": "live"}"#).await.unwrap();
    assert!(found.contains("the owner") && found.contains("Bern"), "{found}");
    let mine = home.memory.list_memories(false).await.unwrap().remove(0);
    let forget = format!(r#"{{"id": "{}"}}"#, mine.id);
    assert!(turn.call(&home.system, "memory_forget", &forget).await.is_err());
    turn.end("Bern.").await;
    let other = client("wiki").with_owner_stores([OwnerStore::Documents].into());
    assert_eq!(prompt(&home, &other, "where do I live").await, "");
}

pub(crate) async fn a_client_observes_its_own_conversations_only(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    say(&home, &owner(), "mine", "I live in Bern.").await;
    home.chronicler().observe_now(&session("mine"), &CancellationToken::new()).await.unwrap();
    let wiki = client("wiki");
    let mut turn = home.begin_as(&wiki, &session("wiki-1"), "hello there").await;
    for tool in ["observe_session", "reflect_summary"] {
        let refused = turn.call(&home.system, tool, r#"{"session": "mine"}"#).await.unwrap_err();
        assert!(refused.to_string().contains("no conversation"), "{refused}");
        let missing = turn.call(&home.system, tool, r#"{"session": "none"}"#).await.unwrap_err();
        assert_eq!(missing.to_string(), refused.to_string().replace("mine", "none"));
    }
    for tool in ["memory_list_observations", "memory_list_reflections"] {
        assert_eq!(turn.call(&home.system, tool, r#"{"session": "mine"}"#).await.unwrap(), "[]");
    }
    turn.end("Hello.").await;
}

pub(crate) async fn a_clients_space_is_removed_as_a_whole(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let wiki = client("wiki");
    say(&home, &owner(), "mine", "I live in Bern.").await;
    say(&home, &wiki, "wiki-1", "I live in Oslo.").await;
    assert!(!home.system.remove_client_space(&Space::Owner).await.unwrap());
    assert!(home.system.remove_client_space(wiki.own()).await.unwrap());
    assert!(!home.system.remove_client_space(wiki.own()).await.unwrap());
    assert!(memories(&home, &wiki).await.is_empty());
    assert_eq!(memories(&home, &owner()).await, ["I live in Bern."]);
    home.assert_sound().await;
}
