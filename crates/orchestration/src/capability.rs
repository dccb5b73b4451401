//! Describes in words what tools can do. Prompts and listings use these phrases instead of tool
//! names, because a model that reads tool names takes them for agents.

use std::sync::Arc;

use lango_protocol::InstructionText;
use lango_tool::RegisteredTool;

/// The capability of a tool whose prefix is not in the map.
pub const GENERAL_ACTIONS: &str = "general actions";

/// Maps prefixes to phrases. The order of the entries is the order of the phrases in every
/// description.
const CAPABILITY_MAP: &[(&str, &str)] = &[
    ("exec", "command execution"),
    ("fs_", "file operations"),
    ("skill_", "skill execution"),
    ("browser_", "web browsing"),
    ("crypto_", "cryptography"),
    ("secrets_", "secret management"),
    ("payment_", "blockchain payments (USDC on Base)"),
    ("search_", "information search"),
    ("rag_", "document retrieval"),
    ("graph_", "knowledge graph queries"),
    ("save_knowledge", "knowledge storage"),
    ("save_learning", "storage of lessons learned"),
    ("create_skill", "skill creation"),
    ("list_skills", "skill listing"),
    ("librarian_", "knowledge inquiries and gap detection"),
    ("memory_", "memory storage and recall"),
    ("observe_", "recording of observations"),
    ("reflect_", "reflection and summaries"),
    ("cron_", "cron job scheduling"),
    ("bg_", "background tasks"),
    ("workflow_", "multi-step workflows"),
];

/// Returns the phrase for one tool. The longest matching prefix decides.
pub fn tool_capability(name: &str) -> &'static str {
    let matching = CAPABILITY_MAP.iter().filter(|(prefix, _)| name.starts_with(prefix));
    matching.max_by_key(|(prefix, _)| prefix.len()).map_or(GENERAL_ACTIONS, |(_, phrase)| phrase)
}

/// Returns the phrases for a set of tools: each once, in the order of the map, then the tools' own
/// phrases, and "general actions" last.
pub fn capability_description(tools: &[Arc<RegisteredTool>]) -> InstructionText {
    let plain = || tools.iter().filter(|tool| tool.capability.is_none());
    let has = |phrase: &str| plain().any(|tool| tool_capability(tool.name()) == phrase);
    let known = CAPABILITY_MAP.iter().map(|(_, phrase)| *phrase).filter(|phrase| has(phrase));
    let mut phrases: Vec<InstructionText> = known.map(InstructionText::from).collect();
    for own in tools.iter().filter_map(|tool| tool.capability.as_ref()) {
        if !phrases.contains(own) {
            phrases.push(own.clone());
        }
    }
    phrases.extend(has(GENERAL_ACTIONS).then(|| GENERAL_ACTIONS.into()));
    InstructionText::join(phrases, ", ")
}
