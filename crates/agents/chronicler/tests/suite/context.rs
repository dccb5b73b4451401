//! Tests the context that a prompt gets.

use std::sync::atomic::Ordering;

use lango_chronicler::{MemoryContext, MemorySettings};
use lango_model::estimate_tokens;
use lango_protocol::{Space, SpaceAccess, TurnId};
use lango_runtime::{ContextRequest, ContextSource};
use lango_store::DatabaseLocation;

use crate::samples::{Home, session, small_settings};

pub(crate) async fn a_prompt_gets_what_is_relevant_within_its_budget(location: DatabaseLocation) {
    let settings = MemorySettings { memory_token_budget: 200, ..small_settings() };
    let home = Home::with(&location, settings).await;
    let work = session("work");
    for number in 0..30 {
        let fact = format!("My friend number {number} owns a boat called Boat{number}");
        home.play(&work, &[&fact]).await;
    }
    home.play(&work, &["Always answer in German", "I live in Bern"]).await;
    home.work(&work).await;
    let other = session("other");
    let prompt = home.prompt(&other, "which boat does my friend number 7 own").await;
    assert!(prompt.contains("Boat7"), "{prompt}");
    assert!(prompt.lines().count() > 3 && estimate_tokens(&prompt) < 260, "{prompt}");
    let prompt = home.prompt(&other, "xyzzy plugh frobnicate").await;
    assert!(prompt.contains("Always answer in German") && !prompt.contains("Boat"), "{prompt}");
    // It is chosen once in a turn and the same for every agent, except for the agent with the
    // secrets.
    let context = MemoryContext::new(home.system.clone());
    let turn = TurnId::generate();
    let access = SpaceAccess::to(Space::Owner);
    let ask = async |agent: &str, message: &str| {
        let agent = agent.parse().unwrap();
        let request =
            ContextRequest { session: &other, turn, agent: &agent, message, space: &access };
        context.blocks(request).await
    };
    let first = ask("operator", "where do I live").await;
    assert!(first[0].source == "memory" && first[0].text.contains("Bern"));
    home.play(&work, &["I moved to Basel"]).await;
    home.work(&work).await;
    assert_eq!(ask("navigator", "where do I live").await, first);
    assert_eq!(ask("vault", "where do I live").await, []);
}

pub(crate) async fn without_memories_nothing_is_embedded(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let work = session("work");
    home.play(&work, &["hello there", "list the files"]).await;
    home.work(&work).await;
    assert_eq!(home.prompt(&work, "where do I live").await, "");
    assert_eq!(home.hashed.embedded_count.load(Ordering::SeqCst), 0);
}

pub(crate) async fn what_is_out_of_sight_comes_back_in_short(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let work = session("work");
    let long = "and so on, with a few more words so that there is enough to be observed here";
    home.play(&work, &["We decided to drop Jenkins in spring", long, long, long]).await;
    home.work(&work).await;
    let prompt = home.prompt(&work, "xyzzy plugh frobnicate").await;
    assert!(
        prompt.contains("<conversation memory>") && prompt.contains("drop Jenkins"),
        "{prompt}"
    );
    // Another conversation has another history.
    assert!(
        !home
            .prompt(&session("new"), "xyzzy plugh frobnicate")
            .await
            .contains("conversation memory")
    );
}
