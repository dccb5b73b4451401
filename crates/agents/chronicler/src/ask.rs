//! Calls the model that observes: one bounded call, within the day's limit.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use lango_model::{
    Message, Model, ModelError, ModelEvent, ModelRequest, ReplyOptions, estimate_tokens,
};
use lango_protocol::Usage;
use tokio_util::sync::CancellationToken;

use crate::ChroniclerError;
use crate::memory::Memory;

/// Limits the reply, in tokens.
const MAX_REPLY_TOKENS: u32 = 1_200;

/// Limits how much of a reply is read.
const MAX_REPLY_BYTES: usize = 16 * 1024;

/// Limits how long a reply may take.
const REPLY_TIMEOUT: Duration = Duration::from_mins(2);

impl Memory {
    /// Returns the model's reply. Returns none if there is no model, the day's limit is reached, or
    /// the call fails; the caller then works without a model.
    pub(crate) async fn ask_observer(
        &self,
        instruction: &'static str,
        text: String,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, ChroniclerError> {
        let Some(model) = self.observer() else { return Ok(None) };
        let stores = self.stores();
        let request_tokens = estimate_tokens(instruction) + estimate_tokens(&text);
        let reserved = request_tokens + u64::from(MAX_REPLY_TOKENS);
        if !stores.reserve_tokens(reserved, self.settings().tokens_per_day).await? {
            return Ok(None);
        }
        let request = ModelRequest {
            instruction: instruction.into(),
            messages: vec![Message::user(text)],
            options: ReplyOptions {
                max_output_tokens: Some(MAX_REPLY_TOKENS),
                temperature: Some(0.0),
            },
            ..ModelRequest::default()
        };
        let reply = tokio::select! {
            () = cancel.cancelled() => None,
            reply = tokio::time::timeout(REPLY_TIMEOUT, read_reply(model, request)) => match reply {
                Ok(Ok(reply)) => Some(reply),
                Ok(Err(error)) => {
                    tracing::warn!(%error, "the model that observes failed");
                    None
                }
                Err(_) => {
                    tracing::warn!("the model that observes did not answer in time");
                    None
                }
            },
        };
        let used = match &reply {
            Some((_, Some(usage))) => usage.total(),
            Some((reply_text, None)) => request_tokens + estimate_tokens(reply_text),
            // The failed call may have used all reserved tokens.
            None => reserved,
        };
        stores.settle_tokens(reserved, used).await?;
        Ok(reply.map(|(reply_text, _)| reply_text))
    }
}

async fn read_reply(
    model: &Arc<dyn Model>,
    request: ModelRequest,
) -> Result<(String, Option<Usage>), ModelError> {
    let mut stream = model.stream(Arc::new(request));
    let (mut reply_text, mut used) = (String::new(), None);
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Text(piece) if reply_text.len() < MAX_REPLY_BYTES => {
                reply_text.push_str(&piece);
            }
            ModelEvent::Setback(_) => reply_text.clear(),
            ModelEvent::Usage(usage) => used = Some(usage),
            _ => {}
        }
    }
    Ok((reply_text, used))
}
