//! Knows the words without which a request is hardly for a tool.
//!
//! Some tools need no argument, so that a question about anything else can seem near to them: "the to
//! do list" is no list of background tasks. Without a word of its topic such a tool is less likely.

use lango_text::split_words;

/// How much less likely a tool is, as a logarithm, where no word of its topic is said.
const PENALTY: f32 = 3.0;

/// Tools, by the beginning of their names, and how words of their topics begin.
#[rustfmt::skip]
const TOPICS: &[(&str, &[&str])] = &[
    ("payment_", &[
        "pay", "paid", "usd", "wallet", "spen", "balance", "transact", "money", "crypto", "fee",
        "x402", "402", "address", "send", "sent", "dollar", "fund", "transfer", "coin", "bucks",
        "stable", "eth", "0x", "afford", "allowance", "tx", "network", "chain", "broke",
    ]),
    ("bg_list", &[
        "background", "task", "job", "run", "queue", "progress", "pending", "busy", "going", "bg",
        "working", "start", "behind",
    ]),
    ("bg_submit", &[
        "background", "mean", "while", "later", "wait", "back", "bg", "queue", "parallel", "quiet",
        "overnight", "start", "off", "done", "finish", "ready", "task", "async", "leave", "busy",
    ]),
    ("cron_list", &[
        "schedul", "job", "remind", "every", "daily", "nightly", "weekly", "cron", "timer", "recur",
        "automat", "regular", "tomorrow", "upcoming", "planned", "itself", "alarm", "set", "run", "next",
    ]),
    ("rag_ingest", &[
        "ingest", "index", "learn", "load", "import", "feed", "study", "document", "read", "absorb",
        "crawl", "library", "knowledge", "search", "collection", "pdf", "http", "know", "add",
        "memor", "digest", "take", "scan",
    ]),
    ("list_skills", &["skill", "abilit", "taught", "trick", "know", "learn"]),
    ("memory_list_observations", &[
        "observ", "obs", "notic", "jot", "pick", "track", "scribbl", "notebook", "session",
        "conversation", "talk", "chat",
    ]),
    ("save_learning", &[
        "lesson", "learn", "fix", "solution", "solve", "save", "remember", "note", "record", "next",
        "whenever", "twice", "again", "turns", "keep",
    ]),
];

/// Returns by how much a tool is less likely for a text than the encoder says.
pub(crate) fn missing_topic_penalty(tool: &str, words: &[String]) -> f32 {
    let Some((_, topic)) = TOPICS.iter().find(|(prefix, _)| tool.starts_with(prefix)) else {
        return 0.0;
    };
    let is_said = words.iter().any(|word| topic.iter().any(|begin| word.starts_with(begin)));
    if is_said { 0.0 } else { PENALTY }
}

/// Returns the words of a text, as topics are compared with them.
pub(crate) fn topic_words(text: &str) -> Vec<String> {
    split_words(text).map(|word| word.to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_something_else_is_hardly_one_of_background_tasks() {
        let penalty = |tool: &str, text: &str| missing_topic_penalty(tool, &topic_words(text));
        assert!(penalty("bg_list", "show me the to do list") > 0.0);
        assert!(penalty("payment_history", "how much did we earn in March?") > 0.0);
        for (tool, text) in [
            ("bg_list", "which tasks run in the background?"),
            ("payment_history", "how much did I spend this week?"),
            ("payment_wallet", "send it to 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"),
            ("fs_read", "show me the to do list"),
        ] {
            assert!(penalty(tool, text).abs() < f32::EPSILON, "{tool}: {text}");
        }
    }
}
