//! The `[REJECT]` marker: found in what specialists say, and never shown to a user.

const MARKER: &str = "[reject]";

/// The reason, if `text` rejects a task: a line that begins with the marker, whatever its case
/// and however it is emphasised.
pub(crate) fn rejection_reason(text: &str) -> Option<String> {
    for line in text.lines() {
        let line = line.trim_start_matches([' ', '\t', '*', '_', '`', '>', '#', '-']);
        if starts_with_marker(line) {
            // Whoever says it twice means it once; the reason is shown to the user.
            let reason = without_marker(&line[MARKER.len()..]);
            let reason = reason.trim_matches([' ', '*', '_', '`', ':', '-']).trim();
            let reason = if reason.is_empty() { "it is not this agent's task" } else { reason };
            return Some(reason.chars().take(500).collect());
        }
    }
    None
}

/// The text without any marker in the middle of it, nor one that is left when others are taken
/// out.
pub(crate) fn without_marker(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut after_marker = false;
    for character in text.chars() {
        if after_marker && character == ' ' {
            continue;
        }
        kept.push(character);
        after_marker = character == ']' && ends_with_marker(&kept);
        if after_marker {
            kept.truncate(kept.len() - MARKER.len());
        }
    }
    kept
}

fn ends_with_marker(text: &str) -> bool {
    let start = text.len().checked_sub(MARKER.len());
    start.and_then(|start| text.get(start..)).is_some_and(starts_with_marker)
}

fn starts_with_marker(text: &str) -> bool {
    text.get(..MARKER.len()).is_some_and(|start| start.eq_ignore_ascii_case(MARKER))
}

fn find_marker(text: &str) -> Option<usize> {
    text.match_indices('[').map(|(at, _)| at).find(|at| starts_with_marker(&text[*at..]))
}

/// Passes streamed text on, but never a marker nor what follows it.
#[derive(Debug, Default)]
pub(crate) struct DeltaFilter {
    held: String,
    closed: bool,
}

impl DeltaFilter {
    /// What of `text` may be shown now.
    pub(crate) fn push(&mut self, text: &str) -> String {
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
        // An unfinished marker at the end waits for the next piece.
        let keep_from = self
            .held
            .match_indices('[')
            .map(|(at, _)| at)
            .find(|at| {
                let tail = &self.held[*at..];
                MARKER.get(..tail.len()).is_some_and(|start| start.eq_ignore_ascii_case(tail))
            })
            .unwrap_or(self.held.len());
        let later = self.held.split_off(keep_from);
        std::mem::replace(&mut self.held, later)
    }

    /// What was held back and turned out to be ordinary text.
    pub(crate) fn finish(self) -> String {
        if self.closed { String::new() } else { self.held }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rejections_are_found_however_a_model_dresses_them() {
        for text in [
            "[REJECT] not mine",
            "  [reject]: not mine",
            "**[REJECT]** not mine",
            "I looked at it.\n[REJECT] not mine",
        ] {
            assert_eq!(rejection_reason(text).as_deref(), Some("not mine"), "{text}");
        }
        assert!(rejection_reason("[REJECT]").is_some());
        assert_eq!(rejection_reason("The log says [REJECT] twice."), None);
        assert_eq!(without_marker("The log says [REJECT] twice."), "The log says twice.");
        assert_eq!(rejection_reason("ä[REJECTé"), None);
        assert_eq!(
            rejection_reason("[REJECT] [reject] not [REJECT] mine").as_deref(),
            Some("not mine")
        );
        assert_eq!(without_marker("[REJ[REJECT]ECT] no"), "no");
    }

    proptest! {
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
            prop_assume!(find_marker(&text).is_none());
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
