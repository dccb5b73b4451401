//! Refuses what a recording cannot hold. A tape records what goes over a wire, and the embedded
//! model uses none: its decisions would be missing from the replay.

use lango_embedded::EMBEDDED;

use super::{ModelChoice, ModelPurpose};
use crate::AppError;
use crate::config::{Config, RouterName};

/// Refuses models that would not be in the recording.
pub(super) fn check_recordable(
    config: &Config,
    choice: &ModelChoice,
    purpose: ModelPurpose<'_>,
) -> Result<(), AppError> {
    if choice.is_embedded() {
        return Err(AppError::usage(
            "the embedded model cannot be recorded: it is asked over no wire, and says the same \
             to the same words anyway. Leave out --record, or name another model: --model \
             PROVIDER/NAME",
        ));
    }
    let for_all = matches!(purpose, ModelPurpose::Work { for_all: true, .. });
    let mut own = config.agents.iter().filter(|_| !for_all);
    match own.find(|(_, agent)| agent.model.as_deref() == Some(EMBEDDED)) {
        None => Ok(()),
        Some((name, _)) => Err(AppError::usage(format!(
            "agents.{name}.model is the embedded model, which cannot be recorded. Leave out \
             --record, or name one model for all agents: --model PROVIDER/NAME"
        ))),
    }
}

/// Returns a notice that the fast path is not taken.
pub(super) fn router_notice(config: &Config) -> Option<String> {
    (config.agent.router == RouterName::Auto).then(|| {
        "agent.router is off for this run: what the embedded model decides cannot be recorded"
            .to_owned()
    })
}

/// Returns a notice that the embedded model is not a fallback.
pub(super) fn fallback_notice(wanted: &str) -> String {
    format!("{wanted} does not stand in for this run: it cannot be recorded")
}
