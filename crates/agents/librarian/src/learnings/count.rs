//! Counts failures across turns; the second one makes a lesson.

use std::time::Duration;

use lango_protocol::{SessionId, Timestamp, TurnId};
use lango_store::{Batch, Statement, StoreError};

use super::save::check;
use super::{Failure, LearningOrigin, Learnings, NewLearning, Observation};
use crate::{LibrarianError, Provenance};

/// Sets how often a failure must have been seen to make a lesson.
const MIN_FAILURE_COUNT: i64 = 2;
/// Sets how long the record of a processed turn is kept. Older turns are never processed again.
const TURN_RETENTION: Duration = Duration::from_hours(30 * 24);

impl Learnings {
    /// Processes the observation of a turn, once: counts failures, records lessons, updates
    /// confidence, in one transaction. Returns the ids of new lessons.
    pub async fn learn(
        &self,
        session: &SessionId,
        turn: TurnId,
        seen: &Observation,
    ) -> Result<Vec<String>, LibrarianError> {
        if seen.failures.is_empty() && seen.advice.is_empty() {
            return Ok(Vec::new());
        }
        let now = Timestamp::now().as_microseconds();
        let mut batch = Batch::new();
        batch.push(
            Statement::new(
                "INSERT INTO learning_turns (turn, at) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            )
            .bind(turn.to_string())
            .bind(now)
            .expect_rows(1),
        );
        batch.push(
            Statement::new("DELETE FROM learning_turns WHERE at < $1")
                .bind(now.saturating_sub(i64::try_from(TURN_RETENTION.as_micros()).unwrap_or(0))),
        );
        for advice in &seen.advice {
            batch.push(self.build_outcome(&advice.id, advice.worked));
        }
        let mut learnt = Vec::new();
        for failure in &seen.failures {
            batch.push(count(self.client(), failure, now));
            let (times, earlier_fix) = self.counted(failure).await?;
            let fix = failure.fix.clone().or(earlier_fix);
            let times = times.saturating_add(i64::from(failure.times));
            let Some(fix) = fix.filter(|_| times >= MIN_FAILURE_COUNT) else { continue };
            let mut learning = check(NewLearning {
                trigger: failure.tool.clone(),
                error_pattern: Some(failure.example.clone()),
                diagnosis: Some(format!("it failed {times} times with: {}", failure.example)),
                fix: format!("call {} {fix}", failure.tool),
                origin: LearningOrigin::Observed,
                provenance: Provenance {
                    source: None,
                    session: Some(session.to_string()),
                    turn: Some(turn.to_string()),
                    by: "lango".to_owned(),
                },
            })?;
            // The pattern covers the whole error, the example only its beginning.
            learning.error_pattern = Some(failure.pattern.clone());
            // One lesson for one failure: its tries show whether it helps.
            if self.has_observed(&failure.tool, &failure.pattern).await? {
                continue;
            }
            for statement in self.insertion(&learning).await? {
                batch.push(statement);
            }
            learnt.push(learning.id);
        }
        match self.database().write(batch).await {
            Ok(_) => Ok(learnt),
            // This turn was processed before.
            Err(StoreError::Conflict { .. }) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns how often a failure was seen before, and what helped then.
    async fn counted(&self, failure: &Failure) -> Result<(i64, Option<String>), LibrarianError> {
        let statement = Statement::new(
            "SELECT times, fix FROM learning_failures \
             WHERE tool = $1 AND pattern = $2 AND client = $3",
        )
        .bind(failure.tool.as_str())
        .bind(failure.pattern.as_str())
        .bind(self.client());
        let rows = self.database().query(statement).await?;
        let Some(row) = rows.first() else { return Ok((0, None)) };
        Ok((row.integer(0)?, row.optional_text(1)?.map(str::to_owned)))
    }

    async fn has_observed(&self, tool: &str, pattern: &str) -> Result<bool, LibrarianError> {
        let statement = Statement::new(
            "SELECT 1 FROM learnings WHERE folded = $1 AND error_pattern = $2 \
             AND origin = 'observed' AND (tries < 3 OR (successes + 1) * 10 >= 3 * (tries + 2)) \
             AND client = $3 LIMIT 1",
        )
        .bind(tool.to_lowercase())
        .bind(pattern)
        .bind(self.client());
        Ok(!self.database().query(statement).await?.is_empty())
    }
}

fn count(client: &str, failure: &Failure, now: i64) -> Statement {
    Statement::new(
        "INSERT INTO learning_failures (tool, pattern, times, fix, first_at, last_at, client) \
         VALUES ($1, $2, $3, $4, $5, $5, $6) ON CONFLICT (client, tool, pattern) DO UPDATE SET \
         times = learning_failures.times + excluded.times, \
         fix = COALESCE(excluded.fix, learning_failures.fix), last_at = excluded.last_at",
    )
    .bind(failure.tool.as_str())
    .bind(failure.pattern.as_str())
    .bind(failure.times)
    .bind(failure.fix.as_deref())
    .bind(now)
    .bind(client)
}
