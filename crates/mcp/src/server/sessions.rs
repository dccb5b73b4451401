//! Offers the conversations of a caller as resources.

use lango_protocol::{Caller, EventBody, RUNTIME, SessionId};
use lango_runtime::{OWNER, owns_session};
use lango_store::Journal;
use rmcp::ErrorData;
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};

use super::team_server::internal_error;

/// Replaces a description that only the owner may see.
const NO_ANSWER: &str = "The team could not finish.";
const URI_PREFIX: &str = "lango://sessions/";
/// Limits the sessions that are read for a list.
const MAX_LISTED_SESSIONS: u32 = 100;
/// Limits the turns that are read of one session, from its end.
const MAX_TURN_COUNT: u32 = 200;

pub(super) fn session_template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{URI_PREFIX}{{session}}"), "session")
        .with_title("A conversation")
        .with_description("What was said in a conversation of yours, as text")
        .with_mime_type("text/plain")
}

/// Returns the newest conversations of a caller.
pub(super) async fn list_sessions(
    journal: &Journal,
    caller: &Caller,
) -> Result<ListResourcesResult, ErrorData> {
    let mut resources = Vec::new();
    for session in journal.list_sessions(MAX_LISTED_SESSIONS).await.map_err(internal_error)? {
        if owns_session(journal, caller, &session.id).await.map_err(internal_error)? {
            let resource =
                Resource::new(format!("{URI_PREFIX}{}", session.id), session.id.to_string())
                    .with_title(session.title)
                    .with_description(format!("A conversation of {} turns", session.turns))
                    .with_mime_type("text/plain");
            resources.push(resource);
        }
    }
    Ok(ListResourcesResult { resources, ..ListResourcesResult::default() })
}

/// Returns one conversation as text.
pub(super) async fn read_session(
    journal: &Journal,
    caller: &Caller,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || ErrorData::resource_not_found("there is no such session", None);
    let name = uri.strip_prefix(URI_PREFIX).ok_or_else(unknown)?;
    let session: SessionId = name.parse().map_err(|_| unknown())?;
    if !owns_session(journal, caller, &session).await.map_err(internal_error)? {
        return Err(unknown());
    }
    let mut text = String::new();
    for event in
        journal.read_conversation(&session, MAX_TURN_COUNT, 0).await.map_err(internal_error)?
    {
        let (EventBody::UserMessage { text: message, .. }
        | EventBody::Message { text: message, answer: true }) = &event.body
        else {
            continue;
        };
        let who = event.author.as_deref().unwrap_or(RUNTIME);
        // Only the owner sees the runtime's text about a turn without an answer.
        let message =
            if who == RUNTIME && caller.as_str() != OWNER { NO_ANSWER } else { message.as_str() };
        text.push_str(&format!("{who}: {}\n\n", message.trim()));
    }
    let contents = ResourceContents::text(text, uri).with_mime_type("text/plain");
    Ok(ReadResourceResult::new(vec![contents]))
}
