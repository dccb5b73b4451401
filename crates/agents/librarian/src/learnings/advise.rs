//! Finds advice for a failure that happened before.

use lango_store::Statement;
use lango_text::jaccard_similarity;

use super::mask::mask;
use super::{COLUMNS, Learning, LearningOrigin, Learnings};
use crate::LibrarianError;
use crate::text::significant_words;

/// Sets how often advice must have been tried before it may be dropped.
const MIN_TRIES: u32 = 3;
/// Sets the confidence below which advice is not given any more.
const MIN_CONFIDENCE: f64 = 0.3;
/// Sets the similarity from which two errors are taken for the same.
const MIN_ERROR_SIMILARITY: f64 = 0.6;
/// Limits the lessons of one tool that are compared.
const MAX_COMPARED_COUNT: u32 = 200;

/// Begins every advice, followed by the lesson's id and `]`.
const ADVICE_PREFIX: &str = "\n\nThis error came up before [lesson ";

/// Is advice on an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The lesson's id.
    pub id: String,
    /// The text for the agent, to be put under the error after an empty line.
    pub text: String,
    /// The text for a person: what helped.
    pub remedy: String,
}

impl Learnings {
    /// Returns the best lesson for a failure, if one is worth trying.
    pub async fn advise(&self, tool: &str, error: &str) -> Result<Option<Advice>, LibrarianError> {
        let pattern = mask(without_advice(error));
        let sql = format!(
            "SELECT {COLUMNS} FROM learnings WHERE folded = $1 AND client = $3 \
             AND error_pattern IS NOT NULL ORDER BY recorded_at DESC, id LIMIT $2"
        );
        let statement = Statement::new(sql)
            .bind(tool.to_lowercase())
            .bind(MAX_COMPARED_COUNT)
            .bind(self.client());
        let words = significant_words(&pattern);
        let mut best: Option<(f64, Learning)> = None;
        for row in self.database().query(statement).await? {
            let learning = Learning::read(&row)?;
            if learning.tries >= MIN_TRIES && learning.confidence() < MIN_CONFIDENCE {
                continue;
            }
            let known = learning.error_pattern.as_deref().unwrap_or_default();
            let fits = if known == pattern {
                1.0
            } else if !known.is_empty() && pattern.contains(known) {
                0.9
            } else {
                jaccard_similarity(&words, &significant_words(known))
            };
            if fits < MIN_ERROR_SIMILARITY {
                continue;
            }
            let value = fits * learning.confidence();
            if best.as_ref().is_none_or(|(other, _)| value > *other) {
                best = Some((value, learning));
            }
        }
        Ok(best.map(|(_, learning)| advice(&learning)))
    }

    /// Records whether advice helped. Returns false if the lesson no longer exists.
    pub async fn outcome(&self, id: &str, worked: bool) -> Result<bool, LibrarianError> {
        let changed = self.database().write(self.build_outcome(id, worked).into()).await?;
        Ok(changed.first() == Some(&1))
    }

    pub(super) fn build_outcome(&self, id: &str, worked: bool) -> Statement {
        Statement::new(
            "UPDATE learnings SET tries = tries + 1, successes = successes + $2 \
             WHERE id = $1 AND client = $3",
        )
        .bind(id)
        .bind(i64::from(worked))
        .bind(self.client())
    }
}

fn advice(learning: &Learning) -> Advice {
    let Learning { id, fix, diagnosis, .. } = learning;
    // An observed lesson has no diagnosis, only an example of the error above.
    let diagnosis = diagnosis.as_ref().filter(|_| learning.origin == LearningOrigin::Told);
    let diagnosis = diagnosis.map(|text| format!(" (why: {text})")).unwrap_or_default();
    let known = match learning.tries {
        0 => "not tried yet".to_owned(),
        tries => format!("helped {} of {tries} times", learning.successes),
    };
    let remedy = format!("{fix}{diagnosis}");
    let text = format!("{ADVICE_PREFIX}{id}], {known}. What helped: {remedy}");
    Advice { id: id.clone(), text: text.trim_start().to_owned(), remedy }
}

/// Returns an error without the advice under it.
pub(super) fn without_advice(output: &str) -> &str {
    output.rfind(ADVICE_PREFIX).map_or(output, |start| &output[..start])
}

/// Returns the id of the lesson that was offered under an error.
pub(super) fn advice_in(output: &str) -> Option<&str> {
    let start = output.rfind(ADVICE_PREFIX)? + ADVICE_PREFIX.len();
    let rest = &output[start..];
    rest.find(']').map(|end| &rest[..end])
}
