//! Reads changes of settings: "set the port to 80", "port should be 80 and debug false", "s/old/new/".

use crate::words::RequestWords;

/// The endings of files whose lines are settings.
const DATA: [&str; 11] =
    ["yaml", "yml", "toml", "json", "ini", "conf", "cfg", "env", "properties", "config", "csv"];
/// Limits the words between a setting and its value: "the port in config.yaml to 80".
const MAX_WORDS_BETWEEN: usize = 3;

/// Tells whether a file has settings, by its name.
pub fn is_of_data(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    DATA.contains(&extension.to_lowercase().as_str())
}

/// Returns every setting for which a request names a value, with its line now and then: "port to 3000 and
/// debug to false".
pub fn list_named_settings(request: &RequestWords<'_>, content: &str) -> Vec<(String, String)> {
    let words = &request.words;
    let pair = |at: usize| {
        let key = words.get(at).filter(|key| !key.is_quoted)?;
        let mut next = at + 1;
        // "port in config.yaml to 80"
        if matches!(words.get(next)?.text.as_str(), "in" | "of" | "inside" | "within") {
            next = (next + 1..=next + MAX_WORDS_BETWEEN)
                .find(|at| words.get(*at).is_some_and(|word| is_link(&word.text)))?;
        }
        let is = |at: usize, text: &str| words.get(at).is_some_and(|word| word.text == text);
        let value = match words.get(next)?.text.as_str() {
            "should" | "must" | "shall" | "to" if is(next + 1, "be") => {
                // "is to be bumped to 1.5.0"
                let is_changed = words.get(next + 2).is_some_and(|word| word.text.ends_with("ed"))
                    && is(next + 3, "to");
                words.get(if is_changed { next + 4 } else { next + 2 })?
            }
            link if is_link(link) => words.get(next + 1)?,
            _ => return None,
        };
        // A value of several words ends where nothing says.
        let rest = &request.text[value.range.end..];
        let follows = words.iter().find(|word| word.range.start >= value.range.end);
        let ends = rest.trim_start_matches(['"', '\'', '`']).starts_with([',', '.', ';', '!'])
            || follows.is_none_or(|word| AFTER_VALUE.contains(&word.text.as_str()));
        let value = &request.text[value.range.clone()];
        ends.then(|| setting(content, &key.text, value)).flatten()
    };
    let mut settings: Vec<(String, String)> =
        (0..words.len()).filter_map(pair).filter(|(old, new)| old != new).collect();
    settings.dedup();
    settings
}

/// Words after a value that are no part of it.
const AFTER_VALUE: [&str; 18] = [
    "and", "in", "please", "pls", "plz", "now", "then", "instead", "thanks", "not", "but", "as",
    "for", "inside", "within", "of", "too", "rather",
];

fn is_link(word: &str) -> bool {
    matches!(word, "to" | "=" | "->" | "→" | "as")
}

/// Returns the line of a setting and the same line with another value: `key: value`, `key = value`,
/// `"key": "value"`.
pub fn setting(content: &str, key: &str, new: &str) -> Option<(String, String)> {
    let key = key.trim().trim_matches(['"', '\'']).replace(' ', "_").to_lowercase();
    if key.is_empty() {
        return None;
    }
    let mut found = content.lines().filter_map(|line| {
        let at = line.find([':', '='])?;
        let name = line[..at]
            .trim()
            .trim_start_matches('{')
            .trim()
            .trim_matches(['"', '\''])
            .to_lowercase();
        if name != key {
            return None;
        }
        let value = line[at + 1..].trim();
        let (value, end) = match value.strip_suffix(',') {
            Some(value) => (value, ","),
            None => (value, ""),
        };
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let new = new.trim_matches(['"', '\'']);
        let new = quote.map_or_else(|| new.to_owned(), |quote| format!("{quote}{new}{quote}"));
        let space = if line[at + 1..].starts_with(' ') { " " } else { "" };
        Some((line.to_owned(), format!("{}{space}{new}{end}", &line[..=at])))
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Reads "s/old/new/g".
pub fn substitution(text: &str) -> Option<(String, String)> {
    let at = text.find("s/")?;
    if at > 0 && !text[..at].ends_with([' ', '\'', '"', '`']) {
        return None;
    }
    let mut parts = text[at + 2..].splitn(3, '/');
    let (old, new) = (parts.next()?, parts.next()?);
    parts.next()?;
    (!old.is_empty()).then(|| (old.to_owned(), new.to_owned()))
}

#[cfg(test)]
mod tests;
