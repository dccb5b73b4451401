//! Holds what is needed on the wire in addition to the official types: the errors in both bindings,
//! alternative spellings of member names, and protocol 0.3. Untyped JSON is handled only here.

pub mod canonical;
pub mod error;
pub mod names;
pub mod v03;

/// The preferred version of the protocol.
pub const VERSION_1: &str = "1.0";
/// The version that many deployed agents still use, and the default if a request names none.
pub const VERSION_03: &str = "0.3";
/// The header that names the version.
pub const VERSION_HEADER: &str = "A2A-Version";
/// The header that names extensions.
pub const EXTENSIONS_HEADER: &str = "A2A-Extensions";
/// The path of a card.
pub const CARD_PATH: &str = "/.well-known/agent-card.json";
/// The header that carries the token of a push notification.
pub const NOTIFICATION_TOKEN_HEADER: &str = "X-A2A-Notification-Token";
/// The media type of the HTTP+JSON binding and of push notifications.
pub const MEDIA_TYPE: &str = "application/a2a+json";
