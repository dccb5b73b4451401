//! Defines the shape that every agent crate has.
//!
//! An agent crate exports a settings struct and an agent that is opened with it. What the agent
//! contributes to turns is its [`AgentParts`], so that assembly treats all agents alike.

use std::sync::Arc;

use lango_tool::RegisteredTool;

use crate::{Advisor, ContextSource, SpendGuard, TurnObserver};

/// Holds everything that an agent crate contributes to turns.
#[derive(Default)]
pub struct AgentParts {
    /// The tools that the agent brings. Which agent of the team owns them is decided by the
    /// topology.
    pub tools: Vec<RegisteredTool>,
    /// The context that agents get in addition to their instructions, in this order.
    pub context: Vec<AgentContext>,
    /// Quick work that follows from a turn, done from the journal.
    pub observers: Vec<Arc<dyn TurnObserver>>,
    /// The source of advice about calls that failed before.
    pub advisor: Option<Arc<dyn Advisor>>,
    /// Limits what turns that begin by themselves may spend.
    pub spend_guard: Option<Arc<dyn SpendGuard>>,
    /// Work that may ask a model or take seconds. It runs after the observers of every agent.
    pub background: Vec<Arc<dyn TurnObserver>>,
}

/// Pairs a source of context with the condition under which a team sees it.
#[derive(Clone)]
pub struct AgentContext {
    /// The source.
    pub source: Arc<dyn ContextSource>,
    /// The source is left out of teams that have no tool with this prefix, because agents must not
    /// see what they cannot reach.
    pub tool_prefix: &'static str,
}
