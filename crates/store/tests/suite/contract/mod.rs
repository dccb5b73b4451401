//! Tests what holds on every engine.

pub(crate) mod approvals;
pub(crate) mod backups;
pub(crate) mod batches;
pub(crate) mod claims;
pub(crate) mod events;
pub(crate) mod folds;
pub(crate) mod migrations;
pub(crate) mod queue;
pub(crate) mod redactions;
pub(crate) mod sessions;
pub(crate) mod work;
