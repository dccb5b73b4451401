//! Defines tasks and the events of a stream in 0.3.

use std::collections::HashMap;

use a2a::{StreamResponse, TaskState};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::part::{Artifact, Message};

type Metadata = Option<HashMap<String, Value>>;

/// The states of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum State {
    Submitted,
    Working,
    InputRequired,
    Completed,
    Canceled,
    Failed,
    Rejected,
    AuthRequired,
    Unknown,
}

/// The status of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Status {
    pub state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<DateTime<Utc>>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct Task {
    /// Always `task`.
    #[serde(default = "task_kind")]
    pub kind: String,
    pub id: String,
    pub context_id: String,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<Vec<Artifact>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<Message>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Metadata,
}

fn task_kind() -> String {
    "task".to_owned()
}

/// A change of the status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct StatusUpdate {
    pub task_id: String,
    pub context_id: String,
    pub status: Status,
    /// True if no more updates follow.
    #[serde(default)]
    pub r#final: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Metadata,
}

/// A piece of an artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct ArtifactUpdate {
    pub task_id: String,
    pub context_id: String,
    pub artifact: Artifact,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_chunk: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Metadata,
}

/// An event of a stream, or the answer to a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Event {
    Tagged(TaggedUpdate),
    Task(Task),
    Message(Message),
}

/// The two kinds whose types do not carry their kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum TaggedUpdate {
    StatusUpdate(StatusUpdate),
    ArtifactUpdate(ArtifactUpdate),
}

impl From<&TaskState> for State {
    fn from(state: &TaskState) -> Self {
        match state {
            TaskState::Unspecified => Self::Unknown,
            TaskState::Submitted => Self::Submitted,
            TaskState::Working => Self::Working,
            TaskState::Completed => Self::Completed,
            TaskState::Failed => Self::Failed,
            TaskState::Canceled => Self::Canceled,
            TaskState::InputRequired => Self::InputRequired,
            TaskState::Rejected => Self::Rejected,
            TaskState::AuthRequired => Self::AuthRequired,
        }
    }
}

impl From<State> for TaskState {
    fn from(state: State) -> Self {
        match state {
            State::Submitted => Self::Submitted,
            State::Working => Self::Working,
            State::InputRequired => Self::InputRequired,
            State::Completed => Self::Completed,
            State::Canceled => Self::Canceled,
            State::Failed => Self::Failed,
            State::Rejected => Self::Rejected,
            State::AuthRequired => Self::AuthRequired,
            State::Unknown => Self::Unspecified,
        }
    }
}

impl From<a2a::TaskStatus> for Status {
    fn from(status: a2a::TaskStatus) -> Self {
        Self {
            state: State::from(&status.state),
            message: status.message.map(Message::from),
            timestamp: status.timestamp,
        }
    }
}

impl TryFrom<Status> for a2a::TaskStatus {
    type Error = String;

    fn try_from(status: Status) -> Result<Self, String> {
        Ok(Self {
            state: status.state.into(),
            message: status.message.map(TryInto::try_into).transpose()?,
            timestamp: status.timestamp,
        })
    }
}

impl From<a2a::Task> for Task {
    fn from(task: a2a::Task) -> Self {
        let all =
            |artifacts: Vec<a2a::Artifact>| artifacts.into_iter().map(Artifact::from).collect();
        let said = |messages: Vec<a2a::Message>| messages.into_iter().map(Message::from).collect();
        Self {
            kind: task_kind(),
            id: task.id,
            context_id: task.context_id,
            status: task.status.into(),
            artifacts: task.artifacts.map(all),
            history: task.history.map(said),
            metadata: task.metadata,
        }
    }
}

impl TryFrom<Task> for a2a::Task {
    type Error = String;

    fn try_from(task: Task) -> Result<Self, String> {
        fn each<T, U: TryFrom<T, Error = String>>(all: Vec<T>) -> Result<Vec<U>, String> {
            all.into_iter().map(U::try_from).collect()
        }
        Ok(Self {
            id: task.id,
            context_id: task.context_id,
            status: task.status.try_into()?,
            artifacts: task.artifacts.map(each).transpose()?,
            history: task.history.map(each).transpose()?,
            metadata: task.metadata,
        })
    }
}

impl From<StreamResponse> for Event {
    fn from(update: StreamResponse) -> Self {
        match update {
            StreamResponse::Task(task) => Self::Task(task.into()),
            StreamResponse::Message(message) => Self::Message(message.into()),
            StreamResponse::StatusUpdate(update) => {
                let waits = [TaskState::InputRequired, TaskState::AuthRequired];
                let state = &update.status.state;
                let r#final = state.is_terminal() || waits.contains(state);
                Self::Tagged(TaggedUpdate::StatusUpdate(StatusUpdate {
                    task_id: update.task_id,
                    context_id: update.context_id,
                    status: update.status.into(),
                    r#final,
                    metadata: update.metadata,
                }))
            }
            StreamResponse::ArtifactUpdate(update) => {
                Self::Tagged(TaggedUpdate::ArtifactUpdate(ArtifactUpdate {
                    task_id: update.task_id,
                    context_id: update.context_id,
                    artifact: update.artifact.into(),
                    append: update.append,
                    last_chunk: update.last_chunk,
                    metadata: update.metadata,
                }))
            }
        }
    }
}

impl TryFrom<Event> for StreamResponse {
    type Error = String;

    fn try_from(event: Event) -> Result<Self, String> {
        Ok(match event {
            Event::Task(task) => Self::Task(task.try_into()?),
            Event::Message(message) => Self::Message(message.try_into()?),
            Event::Tagged(TaggedUpdate::StatusUpdate(update)) => {
                Self::StatusUpdate(a2a::TaskStatusUpdateEvent {
                    task_id: update.task_id,
                    context_id: update.context_id,
                    status: update.status.try_into()?,
                    metadata: update.metadata,
                })
            }
            Event::Tagged(TaggedUpdate::ArtifactUpdate(update)) => {
                Self::ArtifactUpdate(a2a::TaskArtifactUpdateEvent {
                    task_id: update.task_id,
                    context_id: update.context_id,
                    artifact: update.artifact.try_into()?,
                    append: update.append,
                    last_chunk: update.last_chunk,
                    metadata: update.metadata,
                })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_event_is_told_apart_and_comes_back() {
        let events = [
            json!({ "kind": "task", "id": "t", "contextId": "c", "status": { "state": "input-required" } }),
            json!({ "kind": "message", "messageId": "m", "role": "agent",
                    "parts": [{ "kind": "text", "text": "hi" }] }),
            json!({ "kind": "status-update", "taskId": "t", "contextId": "c", "final": true,
                    "status": { "state": "completed", "timestamp": "2026-01-01T00:00:00.123Z" } }),
            json!({ "kind": "artifact-update", "taskId": "t", "contextId": "c", "append": true,
                    "artifact": { "artifactId": "a", "parts": [{ "kind": "data", "data": { "x": 1 } }] } }),
        ];
        for value in events {
            let event: Event = serde_json::from_value(value.clone()).unwrap();
            let new = StreamResponse::try_from(event).unwrap();
            assert_eq!(serde_json::to_value(Event::from(new)).unwrap(), value);
        }
    }
}
