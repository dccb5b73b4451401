//! Records lessons.

use lango_protocol::{CallId, Timestamp};
use lango_retrieval::{EntryKey, EntryKind, NewEntry};
use lango_store::{Batch, Statement};

use super::mask::mask;
use super::{Learning, LearningOrigin, Learnings};
use crate::text::{check_line, check_text, cut_into_passages};
use crate::{LibrarianError, Provenance};

const MAX_TRIGGER_CHARACTERS: usize = 300;
const MAX_TEXT_CHARACTERS: usize = 4_000;

/// Represents a lesson to record.
#[derive(Debug, Clone)]
pub struct NewLearning {
    /// The trigger: the name of a tool, or a situation in words.
    pub trigger: String,
    /// The error it helps against.
    pub error_pattern: Option<String>,
    /// The cause of the error.
    pub diagnosis: Option<String>,
    /// The remedy.
    pub fix: String,
    /// The origin.
    pub origin: LearningOrigin,
    /// The provenance.
    pub provenance: Provenance,
}

impl Learnings {
    /// Records a lesson and returns its id, or the id of an existing lesson that says the same.
    pub async fn save(&self, new: NewLearning) -> Result<String, LibrarianError> {
        let learning = check(new)?;
        if let Some(id) = self.find_same(&learning).await? {
            return Ok(id);
        }
        let mut batch = Batch::new();
        for statement in self.insertion(&learning).await? {
            batch.push(statement);
        }
        self.database().write(batch).await?;
        Ok(learning.id)
    }

    /// Returns the id of a lesson that says the same.
    pub(super) async fn find_same(
        &self,
        learning: &Learning,
    ) -> Result<Option<String>, LibrarianError> {
        let statement = Statement::new(
            "SELECT id FROM learnings WHERE folded = $1 AND COALESCE(error_pattern, '') = $2 \
             AND fix = $3 AND client = $4 ORDER BY recorded_at LIMIT 1",
        )
        .bind(learning.trigger.to_lowercase())
        .bind(learning.error_pattern.as_deref().unwrap_or_default())
        .bind(learning.fix.as_str())
        .bind(self.client());
        let rows = self.database().query(statement).await?;
        Ok(rows.first().map(|row| row.text(0).map(str::to_owned)).transpose()?)
    }

    /// Returns the statements that record a lesson, in its table and in the index.
    pub(super) async fn insertion(
        &self,
        learning: &Learning,
    ) -> Result<Vec<Statement>, LibrarianError> {
        let Learning { id, trigger, error_pattern, diagnosis, fix, origin, .. } = learning;
        let mut statements = vec![
            Statement::new(
                "INSERT INTO learnings (id, trigger_name, folded, error_pattern, diagnosis, fix, \
                 origin, successes, tries, source, session, turn, author, recorded_at, client) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, $8, $9, $10, $11, $12, $13)",
            )
            .bind(id.as_str())
            .bind(trigger.as_str())
            .bind(trigger.to_lowercase())
            .bind(error_pattern.as_deref())
            .bind(diagnosis.as_deref())
            .bind(fix.as_str())
            .bind(origin.as_str())
            .bind(learning.provenance.source.as_deref())
            .bind(learning.provenance.session.as_deref())
            .bind(learning.provenance.turn.as_deref())
            .bind(learning.provenance.by.as_str())
            .bind(learning.recorded_at.as_microseconds())
            .bind(self.client()),
        ];
        let parts = [error_pattern.as_deref(), diagnosis.as_deref(), Some(fix.as_str())];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join("\n");
        let entry = NewEntry {
            key: EntryKey::new(EntryKind::Learnings, origin.as_str(), id.as_str()),
            title: trigger.clone(),
            source: learning.provenance.by.clone(),
            digest: id.clone(),
            passages: cut_into_passages(&text),
        };
        statements.extend(self.retrieval.prepare(&entry).await?.into_statements());
        Ok(statements)
    }
}

/// Checks a lesson and gives it an id.
pub(super) fn check(new: NewLearning) -> Result<Learning, LibrarianError> {
    let optional = |what, text: Option<String>| {
        text.filter(|text| !text.trim().is_empty())
            .map(|text| check_text(what, &text, MAX_TEXT_CHARACTERS))
            .transpose()
    };
    Ok(Learning {
        id: CallId::generate().to_string(),
        trigger: check_line("trigger", &new.trigger, MAX_TRIGGER_CHARACTERS)?,
        error_pattern: optional("error_pattern", new.error_pattern)?.map(|text| mask(&text)),
        diagnosis: optional("diagnosis", new.diagnosis)?,
        fix: check_text("fix", &new.fix, MAX_TEXT_CHARACTERS)?,
        origin: new.origin,
        successes: 0,
        tries: 0,
        provenance: new.provenance,
        recorded_at: Timestamp::now(),
    })
}
