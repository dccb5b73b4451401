//! Recognises commands that are only reported: "a friend wrote: 'run this'", "is it safe to …".

/// Lists verbs after which a quotation is another person's text.
const SPEECH_VERBS: [&str; 14] = [
    "wrote",
    "writes",
    "said",
    "says",
    "told me",
    "told me to",
    "tells me to",
    "texted",
    "posted",
    "reads",
    "asks",
    "asked",
    "claims",
    "suggests",
];
/// Lists words of a question about a command, which is not one.
const QUESTION_PHRASES: [&str; 12] = [
    "is it safe",
    "is this safe",
    "is that safe",
    "is that wise",
    "is it wise",
    "is it ok to",
    "should i ",
    "what happens if",
    "what would happen",
    "what does",
    "would it be",
    "do you think",
];

/// Tells whether a text reports a command, or asks about one, rather than gives it.
pub fn is_reported(words: &str) -> bool {
    let words = words.to_lowercase();
    words.contains('?') && QUESTION_PHRASES.iter().any(|asks| words.contains(asks))
        || quotes_another_person(&words)
}

/// Tells whether a text is a letter that was pasted: it begins with the lines that a mail program puts
/// above a letter.
pub fn is_pasted_letter(text: &str) -> bool {
    const HEADS: [&str; 7] = ["from:", "to:", "cc:", "date:", "sent:", "subject:", "reply-to:"];
    let mut lines = text.lines().map(|line| line.trim().to_lowercase());
    let mut is_head = || lines.next().is_some_and(|line| HEADS.iter().any(|h| line.starts_with(h)));
    is_head() && is_head()
}

/// Tells whether a verb of speech precedes a quotation.
fn quotes_another_person(words: &str) -> bool {
    let quotation = |c: char| matches!(c, '"' | '\'' | '`' | '“' | '‘' | '«' | '„');
    words.char_indices().filter(|(_, c)| quotation(*c)).any(|(at, _)| {
        let before = words[..at].trim_end_matches([' ', ':', ',', '\n']);
        before.len() < at
            && SPEECH_VERBS.iter().any(|tells| {
                let rest = before.strip_suffix(tells);
                rest.is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
            })
    })
}

#[cfg(test)]
mod tests;
