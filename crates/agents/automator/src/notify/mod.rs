//! Notifies people of the ends of work and of its questions: decides whom, once, and delivers it, with
//! further attempts, whichever process does.

mod notifier;
mod outbox;
mod routes;

pub(crate) use notifier::REMINDER;
pub use notifier::{ChannelOpener, NotificationMeans, Notifier};
pub use outbox::{DeliveryState, NotificationView};
pub use routes::NotificationRoutes;
