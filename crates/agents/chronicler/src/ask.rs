//! Asking the model that observes: one bounded call, within the day's limit.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use lango_model::{Message, Model, ModelEvent, ModelRequest, Options, estimate_tokens};
use lango_protocol::Usage;
use tokio_util::sync::CancellationToken;

use crate::ChroniclerError;
use crate::memory::Memory;

/// The longest reply, in tokens.
const REPLY_TOKENS: u32 = 1_200;

/// The longest reply that is read, in bytes.
const REPLY_BYTES: usize = 16 * 1024;

/// A model that takes longer is not waited for.
const PATIENCE: Duration = Duration::from_mins(2);

impl Memory {
    /// What the model says; none without one, beyond the day's limit, or where it fails. Whoever asks
    /// has another way then.
    pub(crate) async fn ask(
        &self,
        instruction: &str,
        text: String,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, ChroniclerError> {
        let Some(model) = self.observer() else { return Ok(None) };
        let stores = self.stores();
        let asked = estimate_tokens(instruction) + estimate_tokens(&text);
        let reserved = asked + u64::from(REPLY_TOKENS);
        if !stores.reserve(reserved, self.settings().tokens_per_day).await? {
            return Ok(None);
        }
        let request = ModelRequest {
            instruction: instruction.into(),
            messages: vec![Message::user(text)],
            options: Options { max_output_tokens: Some(REPLY_TOKENS), temperature: Some(0.0) },
            ..ModelRequest::default()
        };
        let reply = tokio::select! {
            () = cancel.cancelled() => None,
            reply = tokio::time::timeout(PATIENCE, reply(model, request)) => reply.ok().flatten(),
        };
        let used = match &reply {
            Some((_, Some(usage))) => usage.total(),
            Some((said, None)) => asked + estimate_tokens(said),
            // It may have cost all of it.
            None => reserved,
        };
        stores.settle(reserved, used).await?;
        Ok(reply.map(|(said, _)| said))
    }
}

async fn reply(model: &Arc<dyn Model>, request: ModelRequest) -> Option<(String, Option<Usage>)> {
    let mut stream = model.stream(Arc::new(request));
    let (mut said, mut used) = (String::new(), None);
    while let Some(event) = stream.next().await {
        match event.ok()? {
            ModelEvent::Text(piece) if said.len() < REPLY_BYTES => said.push_str(&piece),
            ModelEvent::Setback(_) => said.clear(),
            ModelEvent::Usage(usage) => used = Some(usage),
            _ => {}
        }
    }
    Some((said, used))
}
