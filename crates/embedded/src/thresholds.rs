//! How sure is sure enough. Chosen on `training/data/written/test_dev.jsonl`; `training/MODEL_CARD.md`
//! has the diagram, and what they cost and save on requests that nobody chose them on.

/// An agent is handed a request when its tools together are at least this likely.
pub(crate) const HAND_OVER: f32 = 0.35;
/// A tool that cannot do much harm is called when it is at least this likely.
pub(crate) const CALL: f32 = 0.35;
/// A dangerous tool, though a person may still be asked, is called only when it is this likely.
pub(crate) const CALL_DANGEROUS: f32 = 0.70;
/// The same for a tool that the training never saw: most are called dangerous because nobody said
/// otherwise, and a person is asked. Not for those whose name says that what they do is final.
pub(crate) const CALL_UNKNOWN: f32 = 0.50;
/// A step of a plan has to be this clear by itself.
pub(crate) const STEP: f32 = 0.60;
/// Words after a question are a new request, and not its answer, when they are this clear.
pub(crate) const NEW_REQUEST: f32 = 0.90;
/// The same for two or three words, which are more often a name.
pub(crate) const NEW_SHORT_REQUEST: f32 = 0.99;
/// The orchestrator's choice is made without its model when it is this clear.
pub(crate) const FAST_PATH: f32 = 0.95;
