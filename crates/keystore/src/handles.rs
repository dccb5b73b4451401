//! Gives out names for values that only the program resolves.
//!
//! A model gets a handle and never the value. A handle is bound to a conversation, to one kind of place
//! that its value may go to, to the first agent that uses it and to the origin of its secret, and
//! expires. It lives in the process that made it: what another process is told leads nowhere.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lango_protocol::{AgentName, SessionId};
use parking_lot::Mutex;
use uuid::Uuid;

use crate::{
    Actor, AuditAction, EntryAttributes, EntryKind, EntryName, KeyStore, KeyStoreError, SecretBytes,
};

/// Begins every handle.
const PREFIX: &str = "secret-handle-";
/// Sets how long a handle is valid.
const HANDLE_TIME: Duration = Duration::from_mins(30);
/// Limits the handles of a process; the oldest go first.
const MAX_HANDLE_COUNT: usize = 1000;

/// The handles of a process. Clones share them.
#[derive(Clone)]
pub struct SecretHandles {
    // A lock, because proposals are made outside of tasks and look at it; held for a lookup.
    issued: Arc<Mutex<HashMap<String, IssuedHandle>>>,
    time: Duration,
}

impl Default for SecretHandles {
    fn default() -> Self {
        Self::with_time(HANDLE_TIME)
    }
}

/// The kinds of places that the value of a handle may go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlePlace {
    /// The environment of a command, or an open file of it.
    Command,
    /// A field of a form on a web page.
    FormField,
    /// A header of requests to one site.
    Header,
}

impl fmt::Display for HandlePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Command => "a variable or a file of a command",
            Self::FormField => "a field of a web page",
            Self::Header => "a header of requests to a site",
        })
    }
}

#[derive(Clone)]
struct IssuedHandle {
    info: HandleInfo,
    source: HandleSource,
    expires: Instant,
    /// The agent that used it first; no other one may use it.
    used_by: Option<AgentName>,
}

#[derive(Clone)]
enum HandleSource {
    /// A secret of the vault, which is opened when it is used.
    Secret(KeyStore, EntryName),
    /// A text that was decrypted.
    Text(SecretBytes),
}

/// Describes what a handle stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandleInfo {
    /// The name of the secret, or what was decrypted.
    pub label: String,
    /// The conversation that it is bound to.
    pub session: SessionId,
    /// The agent that asked for it.
    pub agent: AgentName,
    /// What it was asked for.
    pub purpose: String,
    /// The only kind of place that it may go to; none for a decrypted text, which may go to any.
    pub place: Option<HandlePlace>,
    /// The only origin that it may go to, if there is one.
    pub origin: Option<String>,
}

/// Says what a handle is resolved for.
#[derive(Debug, Clone)]
pub struct HandleUse<'a> {
    /// The conversation.
    pub session: &'a SessionId,
    /// The agent that uses it.
    pub agent: &'a AgentName,
    /// The kind of place that it goes to.
    pub place: HandlePlace,
    /// The origin that it goes to, if it goes to one.
    pub origin: Option<&'a str>,
    /// What is done with it, for the record.
    pub what: String,
}

/// Says what a handle is asked for.
#[derive(Debug, Clone)]
pub struct HandleRequest<'a> {
    /// The conversation.
    pub session: &'a SessionId,
    /// The agent that asks.
    pub agent: &'a AgentName,
    /// The kind of place that the value may go to.
    pub place: HandlePlace,
    /// What it is needed for.
    pub purpose: &'a str,
    /// The only site that it may go to; none for the site of the secret, or any.
    pub origin: Option<&'a str>,
}

impl SecretHandles {
    /// Returns an empty set of handles, each of which is valid for this time.
    pub fn with_time(time: Duration) -> Self {
        Self { issued: Arc::default(), time }
    }

    /// Tells whether a text is a handle.
    pub fn is_handle(text: &str) -> bool {
        text.strip_prefix(PREFIX).is_some_and(|id| id.len() == 32)
    }

    /// Gives out a handle for a secret, and records it.
    pub async fn issue(
        &self,
        store: &KeyStore,
        name: &EntryName,
        request: HandleRequest<'_>,
    ) -> Result<String, KeyStoreError> {
        let HandleRequest { session, agent, place, purpose, origin: site } = request;
        let kind = EntryKind::Secret;
        let found = store.find(kind, name).await?;
        let missing = || KeyStoreError::NotFound { kind, name: name.clone() };
        let EntryAttributes { origin, .. } = found.ok_or_else(missing)?.attributes;
        if let (Some(site), Some(origin)) = (site, &origin)
            && site != origin
        {
            return Err(KeyStoreError::OtherOrigin { name: name.clone(), origin: origin.clone() });
        }
        let origin = origin.or_else(|| site.map(str::to_owned));
        if place == HandlePlace::Header && origin.is_none() {
            return Err(KeyStoreError::NoOrigin { name: name.clone() });
        }
        let actor = Actor {
            name: agent.to_string(),
            session: Some(session.clone()),
            purpose: purpose.to_owned(),
        };
        store.record(AuditAction::HandleIssued, kind, name, &actor).await?;
        let info = HandleInfo {
            label: name.to_string(),
            session: session.clone(),
            agent: agent.clone(),
            purpose: purpose.to_owned(),
            place: Some(place),
            origin,
        };
        Ok(self.insert(info, HandleSource::Secret(store.clone(), name.clone())))
    }

    /// Gives out a handle for a text that was decrypted.
    pub fn issue_text(
        &self,
        text: SecretBytes,
        label: &str,
        session: &SessionId,
        agent: &AgentName,
    ) -> String {
        let info = HandleInfo {
            label: label.to_owned(),
            session: session.clone(),
            agent: agent.clone(),
            purpose: String::new(),
            place: None,
            origin: None,
        };
        self.insert(info, HandleSource::Text(text))
    }

    /// Describes a handle that is valid now.
    pub fn describe(&self, handle: &str) -> Option<HandleInfo> {
        let issued = self.issued.lock();
        let found = issued.get(handle).filter(|found| Instant::now() < found.expires)?;
        Some(found.info.clone())
    }

    /// Returns the value of a handle for one use that was approved.
    pub async fn resolve(
        &self,
        handle: &str,
        use_: HandleUse<'_>,
    ) -> Result<SecretBytes, KeyStoreError> {
        let refused = |reason: &str| Err(KeyStoreError::Handle(reason.to_owned()));
        let found = self.issued.lock().get(handle).cloned();
        let Some(found) = found else {
            return refused("this program did not give it out");
        };
        if found.expires <= Instant::now() {
            return refused("it has expired");
        }
        if found.info.session != *use_.session {
            return refused("it belongs to another conversation");
        }
        if let Some(agent) = found.used_by.filter(|agent| agent != use_.agent) {
            return refused(&format!("the agent {agent} uses it"));
        }
        if let Some(place) = found.info.place
            && place != use_.place
        {
            return refused(&format!("it was given out for {place}, not for {}", use_.place));
        }
        if let Some(origin) = &found.info.origin
            && use_.origin != Some(origin.as_str())
        {
            return refused(&format!("the secret may go to {origin} only"));
        }
        if let Some(issued) = self.issued.lock().get_mut(handle) {
            issued.used_by = Some(use_.agent.clone());
        }
        match found.source {
            HandleSource::Text(text) => Ok(text),
            HandleSource::Secret(store, name) => {
                let actor = Actor {
                    name: use_.agent.to_string(),
                    session: Some(use_.session.clone()),
                    purpose: use_.what,
                };
                store.open_value(EntryKind::Secret, &name, &actor).await
            }
        }
    }

    fn insert(&self, info: HandleInfo, source: HandleSource) -> String {
        let handle = format!("{PREFIX}{}", Uuid::new_v4().simple());
        let mut issued = self.issued.lock();
        let now = Instant::now();
        issued.retain(|_, handle| now < handle.expires);
        if issued.len() >= MAX_HANDLE_COUNT {
            let oldest = issued.iter().min_by_key(|(_, handle)| handle.expires);
            let oldest = oldest.map(|(handle, _)| handle.clone());
            issued.retain(|handle, _| Some(handle) != oldest.as_ref());
        }
        let expires = now + self.time;
        issued.insert(handle.clone(), IssuedHandle { info, source, expires, used_by: None });
        handle
    }
}

impl fmt::Debug for SecretHandles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretHandles({})", self.issued.lock().len())
    }
}
