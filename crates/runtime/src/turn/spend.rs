//! Asks whether work that runs by itself may call a model, and counts what it took.

use lango_protocol::EventBody;

use super::think::ends_turn;
use super::{SpeakerRole, Turn, TurnStop};
use crate::{SpendDecision, SpendRequest, SpentCall};

impl Turn {
    /// Asks before a call. Returns an account of what was spent if the call is the last one.
    pub(super) async fn ask_spend_guard(
        &self,
        role: SpeakerRole<'_>,
    ) -> Result<Option<String>, TurnStop> {
        let Some(guard) = &self.shared.spend_guard else { return Ok(None) };
        if !self.recorder.inspect(|record| record.is_work).await {
            return Ok(None);
        }
        let reserved_calls = u32::from(!ends_turn(role));
        let request = SpendRequest { session: self.recorder.session(), reserved_calls };
        match guard.admit(request).await.map_err(TurnStop::Store)? {
            SpendDecision::Granted => Ok(None),
            SpendDecision::Last(account) => Ok(Some(account)),
            SpendDecision::Refused(account) => Err(TurnStop::Spent(account)),
        }
    }

    /// Counts what a call took.
    pub(super) async fn note_spending(&self, notes: &[EventBody]) -> Result<(), TurnStop> {
        let Some(guard) = &self.shared.spend_guard else { return Ok(()) };
        if !self.recorder.inspect(|record| record.is_work).await {
            return Ok(());
        }
        for note in notes {
            if let EventBody::Usage { provider, model, usage, .. } = note {
                let session = self.recorder.session();
                let call = SpentCall { session, provider, model, usage };
                guard.note(call).await.map_err(TurnStop::Store)?;
            }
        }
        Ok(())
    }
}
