//! Recognises questions about Lango that the encoder takes for something else.

use super::decision::{RequestMeaning, TeamPart, WeightedMeanings};
use super::help::answer_like_question;
use super::recall;
use super::topics::{missing_topic_penalty, topic_words};

/// The likeness to a question of the help page from which a request about the program is that question,
/// although the encoder takes it for something that cannot be done.
const LIKE_ABOUT_PROGRAM: f32 = 0.55;
/// The same for a request that would be looked up among memories and documents.
const LIKE_ANY_QUESTION: f32 = 0.88;
/// The same for such a request that says nothing of the user.
const LIKE_GENERAL_QUESTION: f32 = 0.75;

/// The same for a question that no store answers.
pub(crate) const LIKE_UNKNOWN_QUESTION: f32 = 0.60;

/// Answers a question about Lango that the encoder takes for something else: what cannot be done anyway, or
/// what would be looked up where it is not.
pub(crate) fn answer_misread_question(
    words: &str,
    part: TeamPart<'_>,
    readings: &WeightedMeanings<'_>,
) -> Option<&'static str> {
    let is_lookup = |name: &str| {
        ["memory_search", "search_", "rag_", "memory_list"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
    };
    let is_off_topic = |name: &str| missing_topic_penalty(name, &topic_words(words)) > 0.0;
    let likeness = match part {
        TeamPart::Writing | TeamPart::Missing(_) if is_about_program(words) => LIKE_ABOUT_PROGRAM,
        TeamPart::Agent(_) => match readings.all.first()?.meaning {
            RequestMeaning::Tool { tool, .. }
                if is_off_topic(&tool.name) && is_about_program(words) =>
            {
                LIKE_ABOUT_PROGRAM
            }
            RequestMeaning::Tool { tool, .. } if is_lookup(&tool.name) && is_personal(words) => {
                LIKE_ANY_QUESTION
            }
            RequestMeaning::Tool { tool, .. }
                if is_lookup(&tool.name) && recall::is_open_question(words) =>
            {
                LIKE_GENERAL_QUESTION
            }
            _ => return None,
        },
        _ => return None,
    };
    answer_like_question(words, likeness)
}

/// Tells whether a text speaks of the user and what is theirs.
fn is_personal(words: &str) -> bool {
    words.split(|c: char| !c.is_alphanumeric()).any(|word| {
        ["i", "me", "my", "mine", "we", "our", "us"]
            .iter()
            .any(|own| word.eq_ignore_ascii_case(own))
    })
}

/// Tells whether a text speaks of the program or its agents.
fn is_about_program(words: &str) -> bool {
    words.split(|c: char| !c.is_alphanumeric()).any(|word| {
        ["you", "u", "your", "lango", "agents"].iter().any(|own| word.eq_ignore_ascii_case(own))
    })
}
