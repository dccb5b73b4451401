//! Parses Markdown files with front matter: YAML between two `---` lines, then a body.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};

use crate::OrchestrationError;

const FENCE: &str = "---";

/// Reads the front matter of `text` as `T` and returns it with the trimmed body.
///
/// Field names are checked against `known` before anything else, because a misspelt optional field
/// would otherwise be ignored.
pub(crate) fn parse<T: DeserializeOwned>(
    file: &str,
    text: &str,
    known: &[&'static str],
) -> Result<(T, String), OrchestrationError> {
    let (front, body) = split(file, text)?;
    let invalid = |error: serde_saphyr::Error| OrchestrationError::InvalidFrontMatter {
        file: file.to_owned(),
        reason: error.without_snippet().render_with_formatter(&serde_saphyr::UserMessageFormatter),
    };
    #[expect(clippy::zero_sized_map_values, reason = "YAML holds a mapping; only keys matter")]
    let fields: BTreeMap<String, IgnoredAny> = serde_saphyr::from_str(front).map_err(invalid)?;
    for field in fields.into_keys() {
        if !known.contains(&field.as_str()) {
            let nearest = nearest(&field, known);
            return Err(OrchestrationError::UnknownField { file: file.to_owned(), field, nearest });
        }
    }
    let value = serde_saphyr::from_str(front).map_err(invalid)?;
    Ok((value, body.trim().replace("\r\n", "\n")))
}

fn split<'a>(file: &str, text: &'a str) -> Result<(&'a str, &'a str), OrchestrationError> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let mut lines = text.split_inclusive('\n');
    let opening = lines.next().filter(|line| line.trim_end() == FENCE);
    let Some(opening) = opening else {
        return Err(OrchestrationError::NoFrontMatter { file: file.to_owned() });
    };
    // The opening line stays: it is valid YAML, and the parser's line numbers are the file's.
    let mut end = opening.len();
    for line in lines {
        if line.trim_end() == FENCE {
            return Ok((&text[..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    Err(OrchestrationError::UnclosedFrontMatter { file: file.to_owned() })
}

fn nearest(field: &str, known: &[&'static str]) -> &'static str {
    let likeness = |candidate: &str| strsim::jaro_winkler(&field.to_lowercase(), candidate);
    known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).unwrap_or_default()
}
