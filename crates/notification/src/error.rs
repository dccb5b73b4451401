//! Defines why a notification was not delivered.

/// Says why an attempt failed. The words hold no address and no credentials.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// A later attempt may succeed.
    #[error("{0}")]
    Later(String),
    /// Another attempt would fail in the same way; the user has to change something.
    #[error("{0}")]
    Never(String),
}

impl DeliveryError {
    /// Tells whether another attempt makes sense.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Later(_))
    }
}
