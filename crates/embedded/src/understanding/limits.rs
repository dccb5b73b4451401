//! Recognises what needs a model that writes, and other languages than English.

use super::file_names::FileNames;
use super::words::RequestWords;
use crate::talk;

/// Verbs for work with language. In a request for a file they are the work, whatever else it names.
#[rustfmt::skip]
const WRITING: &[&str] = &[
    "summarise", "summarize", "summary", "translate", "translation", "explain", "proofread",
    "rewrite", "rephrase", "paraphrase", "compose", "implement", "refactor", "brainstorm", "tldr",
    "tl;dr", "critique", "elaborate", "reword", "shorten", "übersetze", "traduce", "traduire",
    "redactar",
];
#[rustfmt::skip]
const WRITING_PHRASES: &[&str] = &[
    "root cause", "finish the letter", "finish my letter", "write me a", "write a poem",
    "write an email", "write a story", "draft a", "draft an", "sum up", "grammar check",
    "make it sound", "sound more", "in your own words", "what do you think", "give me ideas",
    "give me some ideas", "turn it into a",
];

/// Words of other languages that are not English words.
#[rustfmt::skip]
const FOREIGN: &[&str] = &[
    "der", "das", "und", "ich", "bitte", "mir", "einen", "eine", "für", "können", "sie", "nicht",
    "wie", "ist", "zeig", "schreiben", "den", "dem", "mit", "auf", "el", "los", "las", "puedes",
    "para", "una", "por", "favor", "que", "qué", "cuántas", "cuántos", "muéstrame", "correo",
    "tiene", "mi", "está", "le", "les", "une", "s'il", "plaît", "te", "vous", "pouvez", "moi",
    "alle", "als", "sind", "ein", "von", "zu", "nach", "kannst", "wird", "werden", "datei", "dateien",
    "ordner", "zeige", "lösche", "löschen", "mein", "meine", "auch", "noch", "wenn", "aus", "bei", "wir",
    "borra", "archivo", "archivos", "carpeta", "todos", "todas", "del", "año", "cuáles", "muestra",
    "quiero", "mis", "supprime", "tous", "toutes", "des", "du", "pour", "avec", "sur", "qui", "fichiers",
    "dossier", "montre", "tutti", "tutte", "cartella", "della", "gli", "mostra", "het", "een", "van",
    "voor", "bestanden", "graag", "arquivo", "arquivos", "pasta", "não", "você", "os", "uma",
    "dans", "fichier", "ouvre", "est", "je", "mon", "ma", "il", "di", "che", "per", "con", "un",
];

/// Returns what to say to a request that cannot be done here; none if it can.
pub(super) fn decline(request: &RequestWords<'_>, files: &FileNames<'_>) -> Option<String> {
    if has_wish(request, WRITING) || request.has_phrase(WRITING_PHRASES) {
        return Some(talk::needs_bigger_model().to_owned());
    }
    if asks_for_secret_value(request) {
        return Some(talk::secret_value_line().to_owned());
    }
    if request.has_phrase(&[
        "not remember",
        "don't remember this",
        "dont remember this",
        "not save this",
        "don't save this",
        "not store this",
        "don't keep this",
    ]) {
        return Some("All right, I do not keep that.".to_owned());
    }
    let names_file =
        request.words.iter().any(|word| files.kind_of(&request.text[word.range.clone()]).is_some());
    (is_foreign(request) && !names_file).then(|| talk::only_english_line().to_owned())
}

/// Tells whether the value of a secret shall be shown: "print the secret X in plain text".
fn asks_for_secret_value(request: &RequestWords<'_>) -> bool {
    let shows = request.has_any(&[
        "show", "print", "reveal", "display", "tell", "give", "what", "what's", "whats", "read",
        "see", "echo", "paste", "output", "need", "want", "dump", "get", "view", "decrypt",
        "unmask",
    ]);
    let value =
        request.has_any(&["value", "plaintext", "cleartext", "unmasked", "contents", "content"])
            || request.has_phrase(&[
                "plain text",
                "clear text",
                "in the clear",
                "in clear",
                "actual secret",
                "actual password",
                "actual key",
                "actual token",
                "secret itself",
                "password itself",
                "token itself",
                "key itself",
                "what it says",
            ]);
    let stores =
        request.has_any(&["store", "set", "save", "delete", "rotate", "change", "add", "keep"]);
    request.has_any(&["secret", "secrets"]) && shows && value && !stores
}

/// Tells whether one of these verbs is said, and not negated: "don't rewrite the thing".
fn has_wish(request: &RequestWords<'_>, verbs: &[&str]) -> bool {
    let words: Vec<&str> = request.unquoted().collect();
    words.iter().enumerate().any(|(at, word)| {
        let is_negated = words[at.saturating_sub(4)..at].iter().any(|before| {
            ["don't", "dont", "not", "never", "no", "refuse", "without"].contains(before)
        });
        verbs.contains(word) && !is_negated
    })
}

/// Tells whether a text is in another language than English.
fn is_foreign(request: &RequestWords<'_>) -> bool {
    let outside: String = request
        .words
        .iter()
        .filter(|word| !word.is_quoted)
        .map(|word| word.text.as_str())
        .collect();
    let letters = outside.chars().filter(|c| c.is_alphabetic()).count();
    let other =
        outside.chars().filter(|c| c.is_alphabetic() && !c.is_ascii() && !is_latin(*c)).count();
    if letters >= 6 && 2 * other > letters {
        return true;
    }
    let words = request.unquoted().count();
    let foreign = request.unquoted().filter(|word| FOREIGN.contains(word)).count();
    foreign >= 3 && 3 * foreign >= words
}

fn is_latin(c: char) -> bool {
    ('\u{00c0}'..='\u{024f}').contains(&c)
}

#[cfg(test)]
mod tests;
