//! Chooses the one question for a turn.

use lango_protocol::{SessionId, TurnId};
use lango_store::{Batch, Statement};
use lango_text::word_coverage;

use super::{Inquiries, Inquiry};
use crate::LibrarianError;
use crate::text::significant_words;

/// Limits the open questions to choose from.
const MAX_CANDIDATE_COUNT: u32 = 50;

impl Inquiries {
    /// Returns the question for this turn, if there is one and the cooldown since the last one is
    /// over: the one closest to the user's message. The result is the same for every call of one
    /// turn.
    pub async fn next_for_context(
        &self,
        session: &SessionId,
        turn: TurnId,
        message: &str,
    ) -> Result<Option<Inquiry>, LibrarianError> {
        let counted = self.turns(session).await?;
        let now = counted.unwrap_or(0);
        let shown = Statement::new(
            "SELECT turn, number, inquiry FROM inquiry_shown WHERE session = $1 \
             ORDER BY number DESC LIMIT 1",
        );
        let rows = match counted {
            Some(_) => self.database().query(shown.bind(session.as_str())).await?,
            None => Vec::new(),
        };
        if let Some(row) = rows.first() {
            if row.text(0)? == turn.to_string() {
                return self.find(row.text(2)?).await.map(Some);
            }
            if now - row.integer(1)? < i64::from(self.settings.cooldown_turns) {
                return Ok(None);
            }
        }
        let message = significant_words(message);
        let nearness = |inquiry: &Inquiry| {
            let words = significant_words(&format!("{} {}", inquiry.topic, inquiry.question));
            word_coverage(&words, &message)
        };
        let mut best: Option<(f64, Inquiry)> = None;
        // They are sorted by priority and age; of two that are equally close the first wins.
        for inquiry in self.pending(MAX_CANDIDATE_COUNT).await? {
            let near = nearness(&inquiry);
            if best.as_ref().is_none_or(|(other, _)| near > *other) {
                best = Some((near, inquiry));
            }
        }
        let Some((_, inquiry)) = best else { return Ok(None) };
        let note = Statement::new(
            "INSERT INTO inquiry_shown (session, turn, number, inquiry) \
             VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        )
        .bind(session.as_str())
        .bind(turn.to_string())
        .bind(now)
        .bind(inquiry.id.as_str());
        // Turns are counted from the first question on.
        let count = Statement::new(
            "INSERT INTO inquiry_turns (session, turns, last) VALUES ($1, 0, '') \
             ON CONFLICT DO NOTHING",
        )
        .bind(session.as_str());
        self.database().write(Batch::new().with(note).with(count)).await?;
        Ok(Some(inquiry))
    }

    /// Returns how many turns of a session have ended since its first question. Returns none if no
    /// question was shown in it.
    pub(super) async fn turns(&self, session: &SessionId) -> Result<Option<i64>, LibrarianError> {
        let statement = Statement::new("SELECT turns FROM inquiry_turns WHERE session = $1");
        let rows = self.database().query(statement.bind(session.as_str())).await?;
        Ok(rows.first().map(|row| row.integer(0)).transpose()?)
    }

    /// Counts a turn that has ended, once. Returns false if it was counted before, or if no question
    /// was shown in its session.
    pub async fn count_turn(
        &self,
        session: &SessionId,
        turn: TurnId,
    ) -> Result<bool, LibrarianError> {
        if self.turns(session).await?.is_none() {
            return Ok(false);
        }
        // Ids of turns rise with time, so an older one was counted before.
        let statement = Statement::new(
            "UPDATE inquiry_turns SET turns = turns + 1, last = $2 \
             WHERE session = $1 AND last < $2",
        );
        let statement = statement.bind(session.as_str()).bind(turn.to_string());
        let changed = self.database().write(statement.into()).await?;
        Ok(changed.first() == Some(&1))
    }
}
