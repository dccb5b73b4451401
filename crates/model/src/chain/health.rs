//! Tracks the health of a provider.

use std::sync::Arc;
use std::time::Duration;

use lango_egress::{BackoffPolicy, BreakerPolicy, CircuitBreaker, Permit};

/// After five failures in a row the provider is not asked for a while. The pauses grow with each
/// attempt that fails.
const BREAKER: BreakerPolicy = BreakerPolicy {
    pause_threshold: 5,
    pauses: BackoffPolicy::doubling(Duration::from_secs(15), Duration::from_mins(2)),
    isolation_threshold: None,
};

/// Tracks the health of one provider. After a few failures in a row the provider is not asked for a
/// while; then one request may try, and its outcome decides for all.
#[derive(Debug)]
pub struct ProviderHealth(Arc<CircuitBreaker>);

impl Default for ProviderHealth {
    fn default() -> Self {
        Self(Arc::new(CircuitBreaker::new(BREAKER)))
    }
}

impl ProviderHealth {
    /// Permits a request, or returns the time that is left until one is permitted.
    pub(super) fn admit(&self) -> Result<Permit, Duration> {
        self.0.admit()
    }

    /// Tells whether a request would be refused now.
    pub fn is_paused(&self) -> bool {
        self.0.is_open()
    }
}
