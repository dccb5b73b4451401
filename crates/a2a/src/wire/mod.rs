//! What is said on the wire beside the official types: the errors in both bindings, names as other
//! writers spell them, and protocol 0.3. JSON values live here and nowhere else.

pub mod canonical;
pub mod error;
pub mod names;
pub mod v03;

/// The version of the protocol that is spoken first.
pub const VERSION_1: &str = "1.0";
/// The version that many deployed agents still speak, and the one meant where none is named.
pub const VERSION_03: &str = "0.3";
/// The header that names the version.
pub const VERSION_HEADER: &str = "A2A-Version";
/// The header that names extensions.
pub const EXTENSIONS_HEADER: &str = "A2A-Extensions";
/// Where a card is found.
pub const CARD_PATH: &str = "/.well-known/agent-card.json";
/// The header that carries the token of a push notification.
pub const NOTIFICATION_TOKEN_HEADER: &str = "X-A2A-Notification-Token";
/// The media type of the HTTP+JSON binding and of push notifications.
pub const MEDIA_TYPE: &str = "application/a2a+json";
