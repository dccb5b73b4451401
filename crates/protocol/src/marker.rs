//! Writes and reads the markers of agents, which users never see: `[REJECT]` and `[ASK]`. Both have
//! a meaning only at the very beginning of what an agent says; further on they are quoted text. No
//! other module knows how they are written or read.

use std::borrow::Cow;

/// Rejects a task as not the agent's own; a reason follows.
pub const REJECT: &str = "[REJECT]";
/// Asks the user; the question follows.
pub const ASK: &str = "[ASK]";
/// Lists the characters that models put around a marker.
const DECORATION: [char; 8] = [' ', '\t', '*', '_', '`', '>', '#', '-'];
/// Lists the characters that models put around the marker of a rejection. A line after `>` quotes
/// another text, which never rejects a task.
const REJECTION_DECORATION: [char; 7] = [' ', '\t', '*', '_', '`', '#', '-'];

/// Writes a question to the user as an agent does.
pub fn mark_question(question: &str) -> String {
    format!("{ASK} {question}")
}

/// Writes a rejection as a specialist does.
pub fn mark_rejection(reason: &str) -> String {
    format!("{REJECT} {reason}")
}

/// Breaks every rejection marker in text that is not an agent's own, so that it cannot act as one.
pub fn defuse_rejections(text: &str) -> Cow<'_, str> {
    if find_marker(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 1);
    for (at, character) in text.char_indices() {
        safe.push(character);
        if character == '[' && starts_with(&text[at..], REJECT) {
            safe.push(' ');
        }
    }
    Cow::Owned(safe)
}

/// Breaks the marker of a question, which has a meaning only at the very beginning.
pub fn defuse_question(mut text: String) -> String {
    let start = text.len() - strip_decoration(&text).len();
    if starts_with(&text[start..], ASK) {
        text.insert(start + 1, ' ');
    }
    text
}

/// Returns the question, if `text` begins with the marker for one; empty if no text follows.
pub fn find_question(text: &str) -> Option<String> {
    let text = strip_decoration(text);
    starts_with(text, ASK).then(|| strip_question_marker(text).trim().to_owned())
}

/// Returns what follows the marker of a question.
fn strip_question_marker(text: &str) -> &str {
    text[ASK.len()..].trim_start_matches([' ', '*', '_', '`', ':', '-'])
}

/// Returns the reason, if `text` rejects a task: its first line begins with the marker, whatever its
/// case and however it is emphasised. A marker further on stands in text that the agent quotes, and
/// must not discard its answer.
pub fn find_rejection_reason(text: &str) -> Option<String> {
    let line = strip_rejection_decoration(text).lines().next()?;
    if !starts_with(line, REJECT) {
        return None;
    }
    // A marker that is repeated counts once; the reason is shown to the user.
    let reason = remove_rejection_markers(&line[REJECT.len()..]);
    let reason = reason.trim_matches([' ', '*', '_', '`', ':', '-']).trim();
    let reason = if reason.is_empty() { "it is not this agent's task" } else { reason };
    Some(reason.chars().take(500).collect())
}

/// Returns the text without any rejection marker, nor one that appears when others are removed.
pub fn remove_rejection_markers(text: &str) -> String {
    let mut remover = MarkerRemover::default();
    remover.push(text);
    remover.kept
}

/// Removes rejection markers from text that arrives in pieces.
#[derive(Debug, Default)]
struct MarkerRemover {
    kept: String,
    after_marker: bool,
}

impl MarkerRemover {
    fn push(&mut self, text: &str) {
        for character in text.chars() {
            if self.after_marker && character == ' ' {
                continue;
            }
            self.kept.push(character);
            self.after_marker = character == ']' && ends_with_marker(&self.kept);
            if self.after_marker {
                self.kept.truncate(self.kept.len() - REJECT.len());
            }
        }
    }

    /// Returns what no later piece can make a part of a marker.
    fn take_settled(&mut self) -> String {
        // The removal of a marker can complete the one that was begun before it.
        let is_open = |at: usize| {
            let mut begun = self.kept[at..].split('[').skip(1);
            begun.all(|rest| is_beginning(rest, &REJECT[1..]))
        };
        let open = self.kept.match_indices('[').map(|(at, _)| at).find(|at| is_open(*at));
        let later = self.kept.split_off(open.unwrap_or(self.kept.len()));
        std::mem::replace(&mut self.kept, later)
    }
}

fn ends_with_marker(text: &str) -> bool {
    let start = text.len().checked_sub(REJECT.len());
    start.and_then(|start| text.get(start..)).is_some_and(|end| starts_with(end, REJECT))
}

fn starts_with(text: &str, marker: &str) -> bool {
    text.get(..marker.len()).is_some_and(|start| start.eq_ignore_ascii_case(marker))
}

/// Returns the text without what comes before the first word.
fn strip_decoration(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || DECORATION.contains(&c))
}

/// Returns the text from its first line on, without what comes before the marker of a rejection. The
/// line after ` ``` ` is quoted, so that decoration never spans lines.
fn strip_rejection_decoration(text: &str) -> &str {
    text.trim_start().trim_start_matches(REJECTION_DECORATION)
}

/// Tells whether more text could make a marker of it.
fn is_beginning(text: &str, marker: &str) -> bool {
    text.len() < marker.len()
        && marker.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text))
}

fn find_marker(text: &str) -> Option<usize> {
    text.match_indices('[').map(|(at, _)| at).find(|at| starts_with(&text[*at..], REJECT))
}

/// Passes streamed text on, but neither a rejection and its reason nor any marker.
#[derive(Debug, Default)]
pub struct DeltaFilter {
    /// The beginning, until it is known whether it is a marker.
    held: String,
    /// True if something was shown: markers have a meaning only at the beginning.
    begun: bool,
    /// True if the text is a rejection.
    closed: bool,
    remover: MarkerRemover,
}

impl DeltaFilter {
    /// Returns what of `text` may be shown now.
    pub fn push(&mut self, text: &str) -> String {
        if self.closed {
            return String::new();
        }
        if self.begun {
            self.remover.push(text);
            return self.remover.take_settled();
        }
        self.held.push_str(text);
        let rejecting = strip_rejection_decoration(&self.held);
        let asking = strip_decoration(&self.held);
        if starts_with(rejecting, REJECT) {
            self.closed = true;
            self.held.clear();
            return String::new();
        }
        if is_beginning(rejecting, REJECT) || is_beginning(asking, ASK) {
            return String::new();
        }
        if starts_with(asking, ASK) {
            let question = strip_question_marker(asking);
            if question.is_empty() {
                return String::new();
            }
            self.held = question.to_owned();
        }
        self.begun = true;
        let held = std::mem::take(&mut self.held);
        self.push(&held)
    }

    /// Returns what was held back and turned out to be ordinary text.
    pub fn finish(mut self) -> String {
        if self.closed {
            return String::new();
        }
        self.remover.push(&self.held);
        self.remover.kept
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_is_read_and_a_defused_marker_is_none() {
        assert_eq!(find_question(&mark_question("Which city?")).as_deref(), Some("Which city?"));
        assert_eq!(find_rejection_reason(&mark_rejection("not mine")).as_deref(), Some("not mine"));
        for text in ["> [REJECT] no", "[reject] no", "a [Reject] b", "> **[Ask]** me", "[ASK] x"] {
            let safe = defuse_question(defuse_rejections(text).into_owned());
            assert!(find_marker(&safe).is_none() && find_question(&safe).is_none(), "{safe}");
        }
        assert_eq!(defuse_question("see [ask] there".into()), "see [ask] there");
    }

    #[test]
    fn rejections_are_found_however_a_model_dresses_them() {
        for text in [
            "[REJECT] not mine",
            "  [reject]: not mine",
            "**[REJECT]** not mine",
            "\n\n`[REJECT]` not mine",
            "[REJECT] not mine\nThe file says more.",
        ] {
            assert_eq!(find_rejection_reason(text).as_deref(), Some("not mine"), "{text}");
        }
        assert!(find_rejection_reason("[REJECT]").is_some());
        assert_eq!(find_rejection_reason("The log says [REJECT] twice."), None);
        assert_eq!(remove_rejection_markers("The log says [REJECT] twice."), "The log says twice.");
        assert_eq!(find_rejection_reason("ä[REJECTé"), None);
        assert_eq!(
            find_rejection_reason("[REJECT] [reject] not [REJECT] mine").as_deref(),
            Some("not mine")
        );
        assert_eq!(remove_rejection_markers("[REJ[REJECT]ECT] no"), "no");
    }

    #[test]
    fn a_marker_in_quoted_text_rejects_nothing() {
        for text in [
            "The file says:\n[REJECT] all of it",
            "> [REJECT] all of it\nThat is its first line.",
            "Here it is.\n\n```\n[REJECT] all of it\n```",
            "```\n[REJECT] all of it\n```\nThat is the file.",
        ] {
            assert_eq!(find_rejection_reason(text), None, "{text}");
        }
    }

    #[test]
    fn a_question_is_one_only_at_the_beginning() {
        for text in ["[ASK] Which city?", " **[ask]:** Which city?", "> [Ask] - Which city?"] {
            assert_eq!(find_question(text).as_deref(), Some("Which city?"), "{text}");
        }
        assert_eq!(find_question("[ASK]").as_deref(), Some(""));
        assert_eq!(find_question("Use args[ask] for it."), None);
        assert_eq!(find_question("[asking]"), None);
        assert_eq!(find_question("[asé"), None);
    }

    proptest! {
        #[test]
        fn the_marker_of_a_question_is_never_streamed(
            before in "[ *\n]{0,3}", after in "[A-Z][a-z ]{0,12}", size in 1_usize..5,
        ) {
            let text = format!("{before}[ASK] {after}");
            let mut filter = DeltaFilter::default();
            let mut shown = String::new();
            let characters: Vec<char> = text.chars().collect();
            for piece in characters.chunks(size) {
                shown.push_str(&filter.push(&piece.iter().collect::<String>()));
            }
            shown.push_str(&filter.finish());
            prop_assert_eq!(shown.trim(), after.trim());
        }

        #[test]
        fn what_is_streamed_is_the_text_without_markers_and_nothing_of_a_rejection(
            parts in prop::collection::vec("[a-z\\[ \n>*]{0,6}|\\[REJECT\\]|\\[REJ|ECT\\]", 0..6),
            size in 1_usize..5,
        ) {
            let text = parts.concat();
            prop_assume!(find_question(&text).is_none());
            let mut filter = DeltaFilter::default();
            let mut shown = String::new();
            let characters: Vec<char> = text.chars().collect();
            for piece in characters.chunks(size) {
                shown.push_str(&filter.push(&piece.iter().collect::<String>()));
                prop_assert!(find_marker(&shown).is_none(), "{}", shown);
            }
            shown.push_str(&filter.finish());
            prop_assert!(find_marker(&shown).is_none(), "{}", shown);
            if find_rejection_reason(&text).is_some() {
                prop_assert_eq!(shown, "");
            } else {
                prop_assert_eq!(shown, remove_rejection_markers(&text));
            }
        }

        #[test]
        fn text_without_a_marker_passes_whole(text in "[a-z\\[\\]re ]{0,30}", size in 1_usize..5) {
            prop_assume!(find_marker(&text).is_none() && find_question(&text).is_none());
            let mut filter = DeltaFilter::default();
            let mut shown = String::new();
            let characters: Vec<char> = text.chars().collect();
            for piece in characters.chunks(size) {
                shown.push_str(&filter.push(&piece.iter().collect::<String>()));
            }
            shown.push_str(&filter.finish());
            prop_assert_eq!(shown, text);
        }
    }
}
