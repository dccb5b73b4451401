//! Defines the required probabilities. They were chosen on `training/data/written/test_dev.jsonl`;
//! `training/MODEL_CARD.md` has the diagram, and their effect on requests that they were not chosen
//! on.

/// The minimum probability of an agent's tools together for a transfer to it.
pub(crate) const TRANSFER: f32 = 0.35;
/// The minimum probability for a call of a tool that is not dangerous.
pub(crate) const CALL: f32 = 0.35;
/// The minimum probability for a call of a dangerous tool, though a person may still be asked.
pub(crate) const CALL_DANGEROUS: f32 = 0.70;
/// The same for a tool that the training never saw: most are rated dangerous because they
/// declare nothing else, and a person is asked. It does not hold for a tool whose name says that
/// its effect is final.
pub(crate) const CALL_UNKNOWN: f32 = 0.50;
/// The minimum probability of a step of a plan by itself.
pub(crate) const STEP: f32 = 0.60;
/// The minimum probability at which a text after a question is a new request, and not its
/// answer.
pub(crate) const NEW_REQUEST: f32 = 0.90;
/// The same for two or three words, which are more often a name.
pub(crate) const NEW_SHORT_REQUEST: f32 = 0.99;
/// The minimum probability at which the orchestrator's choice is made without its model.
pub(crate) const FAST_PATH: f32 = 0.95;
