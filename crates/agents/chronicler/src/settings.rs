//! What can be set.

/// How much is remembered, and what it may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySettings {
    /// Unobserved conversation of a session is observed once it has so many tokens.
    pub message_token_threshold: u64,
    /// Observations of a session are condensed once they have so many tokens.
    pub observation_token_threshold: u64,
    /// The observer and the reflector together use at most so many tokens in one day.
    pub tokens_per_day: u64,
    /// What a prompt gets of all this, in tokens.
    pub memory_token_budget: u64,
    /// The most of a conversation that is observed at once, in tokens.
    pub input_tokens: u64,
    /// Turns of a conversation that agents see anyway.
    pub visible_turns: u32,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            message_token_threshold: 1_000,
            observation_token_threshold: 2_000,
            tokens_per_day: 200_000,
            memory_token_budget: 1_000,
            input_tokens: 6_000,
            visible_turns: 30,
        }
    }
}
