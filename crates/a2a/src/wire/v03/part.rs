//! Defines messages, parts and artifacts of 0.3.

use std::collections::HashMap;

use a2a::PartContent;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

type Metadata = Option<HashMap<String, Value>>;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The client.
    User,
    /// The agent.
    Agent,
}

/// A part of a message or of an artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Part {
    Text {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Metadata,
    },
    File {
        file: File,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Metadata,
    },
    Data {
        data: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Metadata,
    },
}

/// A file, by its content or its address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct File {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct Message {
    /// Always `message`.
    #[serde(default = "message_kind")]
    pub kind: String,
    pub message_id: String,
    pub role: Role,
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_task_ids: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Metadata,
}

fn message_kind() -> String {
    "message".to_owned()
}

/// A result of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct Artifact {
    pub artifact_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Metadata,
}

impl From<a2a::Part> for Part {
    fn from(part: a2a::Part) -> Self {
        let metadata = part.metadata;
        let (name, mime_type) = (part.filename, part.media_type);
        match part.content {
            PartContent::Text(text) => Self::Text { text, metadata },
            PartContent::Raw(bytes) => {
                let bytes = Some(BASE64.encode(bytes));
                Self::File { file: File { bytes, uri: None, name, mime_type }, metadata }
            }
            PartContent::Url(uri) => {
                let file = File { bytes: None, uri: Some(uri), name, mime_type };
                Self::File { file, metadata }
            }
            // Data is always an object in 0.3.
            PartContent::Data(data @ Value::Object(_)) => Self::Data { data, metadata },
            PartContent::Data(data) => Self::Data { data: json!({ "value": data }), metadata },
        }
    }
}

impl TryFrom<Part> for a2a::Part {
    type Error = String;

    fn try_from(part: Part) -> Result<Self, String> {
        let (content, filename, media_type, metadata) = match part {
            Part::Text { text, metadata } => (PartContent::Text(text), None, None, metadata),
            Part::Data { data, metadata } => (PartContent::Data(data), None, None, metadata),
            Part::File { file, metadata } => {
                let content = match (file.bytes, file.uri) {
                    (Some(bytes), _) => {
                        let bytes = BASE64.decode(bytes).map_err(|error| error.to_string())?;
                        PartContent::Raw(bytes)
                    }
                    (None, Some(uri)) => PartContent::Url(uri),
                    (None, None) => return Err("a file needs bytes or a uri".to_owned()),
                };
                (content, file.name, file.mime_type, metadata)
            }
        };
        Ok(Self { content, filename, media_type, metadata })
    }
}

impl From<a2a::Message> for Message {
    fn from(message: a2a::Message) -> Self {
        let role = if message.role == a2a::Role::User { Role::User } else { Role::Agent };
        Self {
            kind: message_kind(),
            message_id: message.message_id,
            role,
            parts: message.parts.into_iter().map(Part::from).collect(),
            context_id: message.context_id,
            task_id: message.task_id,
            reference_task_ids: message.reference_task_ids,
            extensions: message.extensions,
            metadata: message.metadata,
        }
    }
}

impl TryFrom<Message> for a2a::Message {
    type Error = String;

    fn try_from(message: Message) -> Result<Self, String> {
        let role = match message.role {
            Role::User => a2a::Role::User,
            Role::Agent => a2a::Role::Agent,
        };
        Ok(Self {
            message_id: message.message_id,
            context_id: message.context_id,
            task_id: message.task_id,
            role,
            parts: message.parts.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
            metadata: message.metadata,
            extensions: message.extensions,
            reference_task_ids: message.reference_task_ids,
        })
    }
}

impl From<a2a::Artifact> for Artifact {
    fn from(artifact: a2a::Artifact) -> Self {
        Self {
            artifact_id: artifact.artifact_id,
            name: artifact.name,
            description: artifact.description,
            parts: artifact.parts.into_iter().map(Part::from).collect(),
            extensions: artifact.extensions,
            metadata: artifact.metadata,
        }
    }
}

impl TryFrom<Artifact> for a2a::Artifact {
    type Error = String;

    fn try_from(artifact: Artifact) -> Result<Self, String> {
        Ok(Self {
            artifact_id: artifact.artifact_id,
            name: artifact.name,
            description: artifact.description,
            parts: artifact.parts.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
            metadata: artifact.metadata,
            extensions: artifact.extensions,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_as_they_were() {
        for part in [
            a2a::Part::text("hello"),
            a2a::Part::raw(vec![1, 2]).with_filename("a.bin").with_media_type("x/y"),
            a2a::Part::url("https://example.org/a.txt").with_filename("a.txt"),
            a2a::Part::data(json!({ "a": [1] })),
        ] {
            let old = Part::from(part.clone());
            let text = serde_json::to_string(&old).unwrap();
            let read: Part = serde_json::from_str(&text).unwrap();
            assert_eq!(a2a::Part::try_from(read).unwrap(), part, "{text}");
        }
    }
}
