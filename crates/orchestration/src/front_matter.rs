//! Parses Markdown files with front matter: YAML between two `---` lines, then a body.

use std::collections::BTreeMap;

use lango_text::{FrontMatterError, split_front_matter};
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::OrchestrationError;

/// Reads the front matter of `text` as `T` and returns it with the trimmed body.
///
/// Field names are checked against `known` before anything else, because a misspelt optional field
/// would otherwise be ignored.
pub(crate) fn parse_front_matter<T: DeserializeOwned>(
    file: &str,
    text: &str,
    known: &[&'static str],
) -> Result<(T, String), OrchestrationError> {
    let (front, body) = split_front_matter(text).map_err(|error| match error {
        FrontMatterError::Missing => OrchestrationError::NoFrontMatter { file: file.to_owned() },
        FrontMatterError::Unclosed => {
            OrchestrationError::UnclosedFrontMatter { file: file.to_owned() }
        }
    })?;
    let invalid = |error: serde_saphyr::Error| OrchestrationError::InvalidFrontMatter {
        file: file.to_owned(),
        reason: error.without_snippet().render_with_formatter(&serde_saphyr::UserMessageFormatter),
    };
    #[expect(clippy::zero_sized_map_values, reason = "YAML holds a mapping; only keys matter")]
    let fields: BTreeMap<String, IgnoredAny> = serde_saphyr::from_str(front).map_err(invalid)?;
    for field in fields.into_keys() {
        if !known.contains(&field.as_str()) {
            let nearest = find_nearest_field(&field, known);
            return Err(OrchestrationError::UnknownField { file: file.to_owned(), field, nearest });
        }
    }
    let value = serde_saphyr::from_str(front).map_err(invalid)?;
    Ok((value, body.trim().replace("\r\n", "\n")))
}

fn find_nearest_field(field: &str, known: &[&'static str]) -> &'static str {
    let likeness = |candidate: &str| strsim::jaro_winkler(&field.to_lowercase(), candidate);
    known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).unwrap_or_default()
}
