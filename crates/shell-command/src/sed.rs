//! Handles `sed`: separates scripts that only print and replace from those that run and write.

use super::invocation::Invocation;
use super::word::ShellWord;
use super::wrappers::skip_options;

const FLAGS: [&str; 12] = [
    "-n",
    "-E",
    "-r",
    "-s",
    "-u",
    "-z",
    "--quiet",
    "--silent",
    "--regexp-extended",
    "--separate",
    "--null-data",
    "--debug",
];

impl Invocation<'_> {
    /// Reads a call of `sed`.
    pub(super) fn read_sed(&mut self, words: &[ShellWord]) {
        let reason = "its script can run commands or write to files";
        if are_scripts_harmless(words) == Some(true) {
            return self.add_step(words, None);
        }
        self.add_files_of_option("-f", words);
        self.add_step(words, Some(reason.to_owned()));
    }
}

/// Tells whether all scripts are harmless; none if it is not sure which words are scripts.
fn are_scripts_harmless(words: &[ShellWord]) -> Option<bool> {
    let start = skip_options(words, &FLAGS, &["-e"]).ok()?;
    let mut scripts = Vec::new();
    let mut options = words[1..start].iter();
    while let Some(option) = options.next() {
        // A script in the same word as its option is not supported.
        match option.text.strip_prefix('-').and_then(|letters| letters.split_once('e')) {
            Some((letters, "")) if !letters.starts_with('-') => scripts.push(options.next()?),
            Some((letters, _)) if !letters.starts_with('-') => return Some(false),
            _ => {}
        }
    }
    let mut files = words[start..].iter();
    if scripts.is_empty() {
        scripts.push(files.next()?);
    }
    // Options may follow the script.
    let more = files.any(|word| word.text.starts_with('-'));
    Some(!more && scripts.iter().all(|script| script.is_static() && is_harmless(&script.text)))
}

/// Tells whether a script consists of commands that print, delete and replace.
fn is_harmless(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        if rest.is_empty() {
            return true;
        }
        let Some(behind) = skip_address(rest) else { return false };
        let Some(behind) = skip_harmless_command(behind) else { return false };
        rest = behind.trim_start_matches([' ', '\t']);
        if !rest.is_empty() && !rest.starts_with([';', '\n', '}']) {
            return false;
        }
    }
}

/// Skips an address, if there is one.
fn skip_address(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|part: char| {
            part.is_ascii_digit() || matches!(part, ',' | '$' | '+' | '~' | '!' | ' ')
        });
        match rest.strip_prefix('/') {
            Some(pattern) => rest = skip_delimited(pattern, '/')?,
            None => return Some(rest),
        }
    }
}

/// Skips one command that is known to be harmless.
fn skip_harmless_command(text: &str) -> Option<&str> {
    let mut characters = text.chars();
    match characters.next()? {
        '{' | 'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' => {
            Some(characters.as_str())
        }
        'q' => Some(characters.as_str().trim_start_matches(|part: char| part.is_ascii_digit())),
        's' => {
            let delimiter = characters.next().filter(char::is_ascii_punctuation)?;
            let rest = skip_delimited(skip_delimited(characters.as_str(), delimiter)?, delimiter)?;
            Some(rest.trim_start_matches(|flag: char| {
                flag.is_ascii_digit() || matches!(flag, 'g' | 'p' | 'i' | 'I')
            }))
        }
        _ => None,
    }
}

/// Skips a text and the delimiter after it. Implementations differ on delimiters in brackets and on
/// lines that end in it, so none of these may be in it.
fn skip_delimited(text: &str, delimiter: char) -> Option<&str> {
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            found if found == delimiter => {
                return (delimiter != '\\').then_some(characters.as_str());
            }
            '\\' => {
                characters.next().filter(|escaped| *escaped != '\n')?;
            }
            '[' | '\n' => return None,
            _ => {}
        }
    }
}
