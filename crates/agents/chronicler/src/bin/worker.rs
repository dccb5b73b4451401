//! Observes a session in a process that this crate's tests kill.

use lango_chronicler::{Chronicler, MemoryResources, MemorySettings, MemorySystem};
use lango_retrieval::RetrievalIndex;
use lango_store::{Database, Journal};
use tokio_util::sync::CancellationToken;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, session] = arguments.as_slice() else {
        return Err("usage: lango-chronicler-worker DATABASE SESSION".into());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let database = Database::open(&address.parse()?).await?;
        let journal = Journal::open(database.clone()).await?;
        let retrieval = RetrievalIndex::open(database, None).await?;
        // Small steps, so that there are many moments at which it can be killed.
        let settings = MemorySettings {
            message_token_threshold: 20,
            observation_token_threshold: 60,
            input_tokens: 60,
            ..MemorySettings::default()
        };
        let resources = MemoryResources { journal, retrieval, observer: None };
        let memory = MemorySystem::open(settings, resources).await?;
        let chronicler = Chronicler::new(memory);
        while !chronicler
            .work_on_session(&session.parse()?, &CancellationToken::new())
            .await?
            .is_empty()
        {}
        Ok(())
    })
}
