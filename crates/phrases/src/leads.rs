//! Knows the words that tie a request to the one before it, or to its own beginning.

/// Words with which a short text goes on from the request before.
#[rustfmt::skip]
const CONTINUATIONS: &[&str] = &[
    "and", "what about", "how about", "same for", "same with", "same thing for", "same thing with", "same text as", "same text in", "same content as", "same content in",
    "also", "now", "then", "ok and", "ok now", "and now", "now the same for", "and the same for",
    "do the same for", "do the same with", "the same for", "and what about", "and how about",
    "also for", "likewise for", "and for", "and in", "what's in", "plus", "ditto for",
];
/// Words with which a text corrects the request before.
#[rustfmt::skip]
const CORRECTIONS: &[&str] = &[
    "no i meant", "i meant", "no i mean", "i mean", "sorry i meant", "sorry", "no", "actually",
    "not that one", "wrong one", "oops", "wait", "nope", "no not that", "rather", "instead",
    "i said", "correction", "oh sorry", "my bad", "no wait", "ah no", "hm no", "no sorry",
    "i meant the",
];
#[rustfmt::skip]
const PLACES: &[&str] = &[
    "only in", "just in", "only", "in", "but in", "but only in", "limit it to", "restrict it to",
    "only under", "just", "only the", "search in", "look in",
];

/// Returns a request with its own correction carried out: "move it to docs, no wait, to old".
pub fn corrected_within(text: &str) -> Option<String> {
    #[rustfmt::skip]
    const MARKS: &[&str] = &[
        ", no wait, ", ", no wait ", " no wait, ", ", no, ", ", no hold on, ", ", sorry, ",
        ", i mean ", ", actually ", " - no wait, ", "... no, ", "… no, ",
    ];
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        return None;
    }
    let (at, mark) = MARKS.iter().filter_map(|mark| lower.find(mark).map(|at| (at, mark))).min()?;
    let (before, after) = (&text[..at], text[at + mark.len()..].trim());
    let first = after.split_whitespace().next()?.to_lowercase();
    if !matches!(first.as_str(), "to" | "into" | "in" | "as") {
        return None;
    }
    // The last part that begins with the same word is what is corrected.
    let replaced = before
        .to_lowercase()
        .rfind(&format!(" {first} "))
        .or_else(|| before.to_lowercase().rfind(" to "))?;
    Some(format!("{} {after}", &before[..replaced]))
}

/// Says how a text goes on from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// "and …"
    Continuation,
    /// "same for …"
    Same,
    /// "no, I meant …"
    Correction,
    /// "only in …"
    Place,
}

/// Returns a text without the words that tie it to the request before.
pub fn strip_lead(text: &str) -> Option<(&str, Lead)> {
    let text = text.trim().trim_end_matches(['?', '!', '.']);
    let leads = [
        (CONTINUATIONS, Lead::Continuation),
        (CORRECTIONS, Lead::Correction),
        (PLACES, Lead::Place),
    ];
    let mut best: Option<(&str, Lead, usize)> = None;
    for (phrases, lead) in leads {
        for phrase in phrases {
            if let Some(rest) = strip_prefix_ignoring_case(text, phrase)
                && best.is_none_or(|(_, _, length)| phrase.len() > length)
            {
                let lead = if phrase.contains("same") || phrase.contains("ditto") {
                    Lead::Same
                } else {
                    lead
                };
                best = Some((rest, lead, phrase.len()));
            }
        }
    }
    let Some((rest, lead, _)) = best else { return strip_same_suffix(text) };
    if let Some((rest, lead)) = strip_same_suffix(rest) {
        return Some((rest, lead));
    }
    // "no, i meant docs": commas between the words do not count.
    match strip_lead(rest) {
        Some((deeper, inner)) if lead == Lead::Correction || inner == lead => {
            Some((deeper, if lead == Lead::Correction { lead } else { inner }))
        }
        _ => Some((rest, lead)),
    }
}

/// Returns a text without words at its end that ask for the same: "b.txt too", "and tmp the same".
fn strip_same_suffix(text: &str) -> Option<(&str, Lead)> {
    let text = text.trim_end_matches([' ', '.', '!', '?', ',']);
    let text = text.strip_suffix(" please").or_else(|| text.strip_suffix(" pls")).unwrap_or(text);
    ["too", "also", "as well", "the same", "likewise", "same"].iter().find_map(|words| {
        let at = text.len().checked_sub(words.len() + 1)?;
        let last = text.get(at..)?.strip_prefix(' ')?;
        let rest = text[..at].trim_end_matches([',', ' ']);
        last.eq_ignore_ascii_case(words).then_some((rest, Lead::Same))
    })
}

/// Returns what follows these words, whatever punctuation is between.
pub fn strip_prefix_ignoring_case<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    let mut rest = text.trim_start_matches([' ', ',', '.', '-', '–', '…', ':', '!']);
    for word in words.split(' ') {
        rest = rest.trim_start_matches([' ', ',', '.', '-', '…', ':', '!']);
        let begin = rest.get(..word.len())?;
        if !begin.replace('’', "'").eq_ignore_ascii_case(word) {
            return None;
        }
        rest = &rest[word.len()..];
        if rest.starts_with(|c: char| c.is_alphanumeric() || c == '\'') {
            return None;
        }
    }
    Some(rest.trim_start_matches([' ', ',', '.', '…', ':', '!']).trim())
}

#[cfg(test)]
mod tests;
