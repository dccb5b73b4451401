//! Defines the settings of memory.

/// Configures how much is remembered, and what it may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySettings {
    /// The number of tokens from which unobserved conversation of a session is observed.
    pub message_token_threshold: u64,
    /// The number of tokens from which observations of a session are condensed.
    pub observation_token_threshold: u64,
    /// The limit for observing and reflecting together, in tokens for each day.
    pub tokens_per_day: u64,
    /// The limit for memory in a prompt, in tokens.
    pub memory_token_budget: u64,
    /// The limit for the conversation that is observed at once, in tokens.
    pub input_tokens: u64,
    /// The number of turns of a conversation that agents see anyway.
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
