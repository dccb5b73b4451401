//! What helped before, when a failure comes back.

use lango_store::Statement;

use super::mask::mask;
use super::{COLUMNS, Learning, LearningOrigin, Learnings};
use crate::LibrarianError;
use crate::text::{likeness, telling_words};

/// An advice that has been tried this often may be dropped.
const ENOUGH_TRIES: u32 = 3;
/// Advice that helps less often than this is not given any more.
const LEAST_CONFIDENCE: f64 = 0.3;
/// Errors are taken for the same from here on.
const LEAST_LIKENESS: f64 = 0.6;
/// Lessons of one tool that are compared.
const COMPARED: u32 = 200;

/// What every advice begins with, followed by the lesson's id and `]`.
const MARK: &str = "\n\nThis error came up before [lesson ";

/// What helped before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The lesson's id.
    pub id: String,
    /// For the agent, to be put under the error after an empty line.
    pub text: String,
    /// For a person: what helped.
    pub remedy: String,
}

impl Learnings {
    /// The best lesson for a failure, if there is one that is worth trying.
    pub async fn advise(&self, tool: &str, error: &str) -> Result<Option<Advice>, LibrarianError> {
        let pattern = mask(without_advice(error));
        let sql = format!(
            "SELECT {COLUMNS} FROM learnings WHERE folded = $1 AND error_pattern IS NOT NULL \
             ORDER BY recorded_at DESC, id LIMIT $2"
        );
        let statement = Statement::new(sql).bind(tool.to_lowercase()).bind(COMPARED);
        let words = telling_words(&pattern);
        let mut best: Option<(f64, Learning)> = None;
        for row in self.database().query(statement).await? {
            let learning = Learning::read(&row)?;
            if learning.tries >= ENOUGH_TRIES && learning.confidence() < LEAST_CONFIDENCE {
                continue;
            }
            let known = learning.error_pattern.as_deref().unwrap_or_default();
            let fits = if known == pattern {
                1.0
            } else if !known.is_empty() && pattern.contains(known) {
                0.9
            } else {
                likeness(&words, &telling_words(known))
            };
            if fits < LEAST_LIKENESS {
                continue;
            }
            let value = fits * learning.confidence();
            if best.as_ref().is_none_or(|(other, _)| value > *other) {
                best = Some((value, learning));
            }
        }
        Ok(best.map(|(_, learning)| advice(&learning)))
    }

    /// Says whether an advice helped. False where there is no such lesson any more.
    pub async fn outcome(&self, id: &str, worked: bool) -> Result<bool, LibrarianError> {
        let changed = self.database().write(outcome(id, worked).into()).await?;
        Ok(changed.first() == Some(&1))
    }
}

pub(super) fn outcome(id: &str, worked: bool) -> Statement {
    Statement::new(
        "UPDATE learnings SET tries = tries + 1, successes = successes + $2 WHERE id = $1",
    )
    .bind(id)
    .bind(i64::from(worked))
}

fn advice(learning: &Learning) -> Advice {
    let Learning { id, fix, diagnosis, .. } = learning;
    // What was only observed has no reason, just an example of the error above.
    let diagnosis = diagnosis.as_ref().filter(|_| learning.origin == LearningOrigin::Told);
    let diagnosis = diagnosis.map(|text| format!(" (why: {text})")).unwrap_or_default();
    let known = match learning.tries {
        0 => "not tried yet".to_owned(),
        tries => format!("helped {} of {tries} times", learning.successes),
    };
    let remedy = format!("{fix}{diagnosis}");
    let text = format!("{MARK}{id}], {known}. What helped: {remedy}");
    Advice { id: id.clone(), text: text.trim_start().to_owned(), remedy }
}

/// An error without the advice under it.
pub(super) fn without_advice(output: &str) -> &str {
    output.rfind(MARK).map_or(output, |start| &output[..start])
}

/// The lesson that was offered under an error.
pub(super) fn advice_in(output: &str) -> Option<&str> {
    let start = output.rfind(MARK)? + MARK.len();
    let rest = &output[start..];
    rest.find(']').map(|end| &rest[..end])
}
