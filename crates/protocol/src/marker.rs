//! Writes and reads the markers of agents, which users never see: `[REJECT]`, found anywhere in
//! what a specialist says, and `[ASK]`, which has a meaning only at the very beginning. No other
//! module knows how they are written or read.

use std::borrow::Cow;

/// Rejects a task as not the agent's own; a reason follows.
pub const REJECT: &str = "[REJECT]";
/// Asks the user; the question follows.
pub const ASK: &str = "[ASK]";
/// Lists the characters that models put around a marker.
const DECORATION: [char; 8] = [' ', '\t', '*', '_', '`', '>', '#', '-'];

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

/// Returns the reason, if `text` rejects a task: a line that begins with the marker, whatever its
/// case and however it is emphasised.
pub fn find_rejection_reason(text: &str) -> Option<String> {
    for line in text.lines() {
        let line = line.trim_start_matches(DECORATION);
        if starts_with(line, REJECT) {
            // A marker that is repeated counts once; the reason is shown to the user.
            let reason = remove_rejection_markers(&line[REJECT.len()..]);
            let reason = reason.trim_matches([' ', '*', '_', '`', ':', '-']).trim();
            let reason = if reason.is_empty() { "it is not this agent's task" } else { reason };
            return Some(reason.chars().take(500).collect());
        }
    }
    None
}

/// Returns the text without any rejection marker, nor one that appears when others are removed.
pub fn remove_rejection_markers(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut after_marker = false;
    for character in text.chars() {
        if after_marker && character == ' ' {
            continue;
        }
        kept.push(character);
        after_marker = character == ']' && ends_with_marker(&kept);
        if after_marker {
            kept.truncate(kept.len() - REJECT.len());
        }
    }
    kept
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

/// Tells whether more text could make a marker of it.
fn is_beginning(text: &str, marker: &str) -> bool {
    text.len() < marker.len()
        && marker.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text))
}

fn find_marker(text: &str) -> Option<usize> {
    text.match_indices('[').map(|(at, _)| at).find(|at| starts_with(&text[*at..], REJECT))
}

/// Passes streamed text on, but never a rejection nor what follows it, nor the marker of a
/// question.
#[derive(Debug, Default)]
pub struct DeltaFilter {
    held: String,
    /// True if something was shown: a question can only be at the beginning.
    begun: bool,
    closed: bool,
}

impl DeltaFilter {
    /// Returns what of `text` may be shown now.
    pub fn push(&mut self, text: &str) -> String {
        if self.closed {
            return String::new();
        }
        self.held.push_str(text);
        if let Some(at) = find_marker(&self.held) {
            self.closed = true;
            let shown = self.held[..at].to_owned();
            self.held.clear();
            return shown;
        }
        if !self.begun {
            let bare = strip_decoration(&self.held);
            if is_beginning(bare, ASK) {
                return String::new();
            }
            if starts_with(bare, ASK) {
                self.held = strip_question_marker(bare).to_owned();
                if self.held.is_empty() {
                    return String::new();
                }
            }
            self.begun = true;
        }
        // An unfinished marker at the end waits for the next piece.
        let keep_from = self
            .held
            .match_indices('[')
            .map(|(at, _)| at)
            .find(|at| is_beginning(&self.held[*at..], REJECT))
            .unwrap_or(self.held.len());
        let later = self.held.split_off(keep_from);
        std::mem::replace(&mut self.held, later)
    }

    /// Returns what was held back and turned out to be ordinary text.
    pub fn finish(self) -> String {
        if self.closed { String::new() } else { self.held }
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
            "I looked at it.\n[REJECT] not mine",
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
        fn a_marker_is_never_streamed(before in "[a-z\\[ ]{0,12}", after in ".{0,12}", size in 1_usize..5) {
            let text = format!("{before}[REJECT]{after}");
            let mut filter = DeltaFilter::default();
            let mut shown = String::new();
            let characters: Vec<char> = text.chars().collect();
            for piece in characters.chunks(size) {
                shown.push_str(&filter.push(&piece.iter().collect::<String>()));
            }
            shown.push_str(&filter.finish());
            prop_assert!(find_marker(&shown).is_none(), "{}", shown);
            prop_assert!(text.starts_with(&shown));
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
