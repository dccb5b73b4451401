//! Defines protocol 0.3 on the wire and its mapping to 1.0, in both directions: the server reads
//! its requests and writes its answers, a client does the reverse.

mod part;
mod request;
mod task;

pub use part::{Artifact, File, Message, Part, Role};
pub use request::{
    Authentication, Configuration, DeleteNotification, ListNotifications, NotificationConfig,
    SendParams, TaskId, TaskNotification, TaskQuery,
};
pub use task::{ArtifactUpdate, Event, State, Status, StatusUpdate, TaggedUpdate, Task};

/// The methods of JSON-RPC.
pub mod methods {
    #![allow(missing_docs, reason = "the names say it")]
    pub const SEND: &str = "message/send";
    pub const STREAM: &str = "message/stream";
    pub const GET: &str = "tasks/get";
    pub const CANCEL: &str = "tasks/cancel";
    pub const RESUBSCRIBE: &str = "tasks/resubscribe";
    pub const SET_NOTIFICATION: &str = "tasks/pushNotificationConfig/set";
    pub const GET_NOTIFICATION: &str = "tasks/pushNotificationConfig/get";
    pub const LIST_NOTIFICATIONS: &str = "tasks/pushNotificationConfig/list";
    pub const DELETE_NOTIFICATION: &str = "tasks/pushNotificationConfig/delete";
    pub const EXTENDED_CARD: &str = "agent/getAuthenticatedExtendedCard";
}
