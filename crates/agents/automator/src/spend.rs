//! Limits what work that runs by itself spends: each run of a job, and each day.
//!
//! A call is counted in the commit that grants it, so that several processes together stay within a limit
//! of calls. Tokens and cost are known once a call has ended: the call that passes a limit is the last one.

use std::time::Duration;

use lango_protocol::{Space, Timestamp, Usage};
use lango_runtime::{SpendDecision, SpendFuture, SpendGuard, SpendRequest, SpentCall};
use lango_store::{Batch, Row, Statement, StoreError, WorkItem};
use lango_text::plural;
use serde::{Deserialize, Serialize};

use crate::job::to_moment;
use crate::jobs::{JOB_KIND, JobBook};
use crate::workflow::WORKFLOW_KIND;

/// Sets how long it is kept what was spent. A run may wait for a person for weeks.
const RETENTION: Duration = Duration::from_hours(24 * 90);

/// Returns the cost of a call in US dollars, if its price is known.
pub type PriceLookup = std::sync::Arc<dyn Fn(&str, &str, &Usage) -> Option<f64> + Send + Sync>;

/// Limits what may be spent. What is absent is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpendLimits {
    /// Calls of models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u32>,
    /// Input and output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars, of calls whose price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
}

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spending {
    /// Calls of models.
    pub model_calls: u32,
    /// Input and output tokens.
    pub tokens: u64,
    /// US dollars, of calls whose price is known.
    pub dollars: f64,
}

impl SpendLimits {
    /// Tells whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Describes them in one line.
    pub fn describe(&self) -> String {
        let calls =
            self.model_calls.map(|calls| plural(calls as usize, "model call", "model calls"));
        let tokens = self.tokens.map(|tokens| format!("{tokens} tokens"));
        let dollars = self.dollars.map(|dollars| format!("${dollars:.2}"));
        let parts: Vec<String> = [calls, tokens, dollars].into_iter().flatten().collect();
        if parts.is_empty() { "no limit".to_owned() } else { parts.join(", ") }
    }

    fn is_reached_by(&self, spent: &Spending, reserved_calls: u32) -> bool {
        self.model_calls
            .is_some_and(|limit| spent.model_calls.saturating_add(reserved_calls) >= limit)
            || self.tokens.is_some_and(|limit| spent.tokens >= limit)
            || self.dollars.is_some_and(|limit| spent.dollars >= limit)
    }

    fn account(&self, spent: &Spending) -> String {
        let calls =
            self.model_calls.map(|limit| format!("{} of {limit} model calls", spent.model_calls));
        let calls = calls
            .unwrap_or_else(|| plural(spent.model_calls as usize, "model call", "model calls"));
        let tokens = match self.tokens {
            Some(limit) => format!("{} of {limit} tokens", spent.tokens),
            None => format!("{} tokens", spent.tokens),
        };
        match self.dollars {
            Some(limit) => format!("{calls}, {tokens}, ${:.2} of ${limit:.2}", spent.dollars),
            None => format!("{calls}, {tokens}"),
        }
    }
}

/// A limit that holds for a call, and under which name its spending is counted.
struct Scope {
    name: String,
    limits: SpendLimits,
    /// What ran out, for people.
    what: &'static str,
    /// What can be done about it.
    hint: &'static str,
}

impl Scope {
    fn describe(&self, spent: &Spending) -> String {
        format!("{} is spent: {}. {}", self.what, self.limits.account(spent), self.hint)
    }
}

impl JobBook {
    /// Returns what was spent today by the work of an owner, as far as a limit of the day counts it.
    pub async fn find_spending_today(&self, space: &Space) -> Result<Spending, StoreError> {
        self.load_spending(&self.day_name(space)).await
    }

    /// Returns what a run of a job has spent, as far as a limit counts it.
    pub async fn find_spending_of_run(&self, run: &str) -> Result<Spending, StoreError> {
        self.load_spending(&run_name(run)).await
    }

    fn day_name(&self, space: &Space) -> String {
        let now = to_moment(Timestamp::now());
        let day = self.settings.zone.show_day(now);
        format!("day:{}:{day}", space.as_stored())
    }

    async fn load_spending(&self, scope: &str) -> Result<Spending, StoreError> {
        let statement = Statement::new(
            "SELECT model_calls, tokens, micro_dollars FROM automation_spend WHERE scope = $1",
        )
        .bind(scope);
        let rows = self.database.query(statement).await?;
        let read = |row: &Row| {
            #[expect(clippy::cast_precision_loss, reason = "amounts are far below the limit")]
            let dollars = row.integer(2)? as f64 / 1e6;
            Ok(Spending {
                model_calls: u32::try_from(row.integer(0)?).unwrap_or(u32::MAX),
                tokens: row.unsigned(1)?,
                dollars,
            })
        };
        rows.first().map_or(Ok(Spending::default()), read)
    }

    /// Returns the limits that hold for the calls of a session.
    async fn list_scopes(&self, request: &SpendRequest<'_>) -> Result<Vec<Scope>, StoreError> {
        let Some(work) = self.journal.find_work_of_session(request.session).await? else {
            return Ok(Vec::new());
        };
        let run = if work.kind == WORKFLOW_KIND { &work.parent } else { &work.id };
        let run_limits = self.find_run_limits(&work).await?;
        let mut scopes = Vec::new();
        if !run_limits.is_empty() {
            scopes.push(Scope {
                name: run_name(run),
                limits: run_limits,
                what: "the budget of this run",
                hint: "To change it: lango cron set JOB --budget-calls N, or lango config set \
                       automator.runBudget.modelCalls N",
            });
        }
        let limits = self.settings.day_budget;
        if !limits.is_empty() {
            scopes.push(Scope {
                name: self.day_name(&work.space),
                limits,
                what: "the budget of this day for work that runs by itself",
                hint: "It begins anew tomorrow. To change it: lango config set \
                       automator.dayBudget.modelCalls N",
            });
        }
        Ok(scopes)
    }

    async fn find_run_limits(&self, work: &WorkItem) -> Result<SpendLimits, StoreError> {
        let unreadable =
            |error: crate::AutomatorError| StoreError::Query { reason: error.to_string() };
        let job = match work.kind.as_str() {
            JOB_KIND => self.load(&work.parent).await.map_err(unreadable)?,
            WORKFLOW_KIND => self.load_job_of_run(&work.parent).await.map_err(unreadable)?,
            _ => None,
        };
        Ok(job.and_then(|job| job.budget).unwrap_or(self.settings.run_budget))
    }

    async fn decide(&self, request: SpendRequest<'_>) -> Result<SpendDecision, StoreError> {
        let scopes = self.list_scopes(&request).await?;
        loop {
            let mut last = None;
            let mut batch = Batch::new();
            for scope in &scopes {
                let spent = self.load_spending(&scope.name).await?;
                if scope.limits.is_reached_by(&spent, request.reserved_calls) {
                    return Ok(SpendDecision::Refused(scope.describe(&spent)));
                }
                let after = Spending { model_calls: spent.model_calls.saturating_add(1), ..spent };
                if scope.limits.is_reached_by(&after, request.reserved_calls) {
                    last = Some(scope.describe(&after));
                }
                batch.push(build_count(&scope.name, &spent));
            }
            if scopes.is_empty() {
                return Ok(SpendDecision::Granted);
            }
            match self.database.write(batch).await {
                Ok(_) => return Ok(last.map_or(SpendDecision::Granted, SpendDecision::Last)),
                // Another call was granted in between.
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn count(&self, call: SpentCall<'_>) -> Result<(), StoreError> {
        let request = SpendRequest { session: call.session, reserved_calls: 0 };
        let price = self.settings.prices.as_ref();
        let dollars = price.and_then(|price| price(call.provider, call.model, call.usage));
        #[expect(clippy::cast_possible_truncation, reason = "a call costs a few dollars at most")]
        let micro_dollars = (dollars.unwrap_or_default() * 1e6).round() as i64;
        let tokens = call.usage.input.saturating_add(call.usage.output);
        let mut batch = Batch::new();
        for scope in self.list_scopes(&request).await? {
            // The day may be another one than when the call was granted.
            batch.push(
                Statement::new(
                    "INSERT INTO automation_spend (scope, model_calls, tokens, micro_dollars, changed_at) \
                     VALUES ($1, 0, $2, $3, $4) ON CONFLICT (scope) DO UPDATE SET \
                     tokens = automation_spend.tokens + $2, \
                     micro_dollars = automation_spend.micro_dollars + $3, changed_at = $4",
                )
                .bind(scope.name)
                .bind(i64::try_from(tokens).unwrap_or(i64::MAX >> 16))
                .bind(micro_dollars)
                .bind(Timestamp::now().as_microseconds()),
            );
        }
        self.database.write(batch).await.map(drop)
    }
}

impl JobBook {
    /// Removes what was counted for days and runs of long ago.
    pub(crate) async fn remove_old_spending(&self, now: Timestamp) -> Result<(), StoreError> {
        let retention = i64::try_from(RETENTION.as_micros()).unwrap_or(i64::MAX);
        let statement = Statement::new("DELETE FROM automation_spend WHERE changed_at < $1")
            .bind(now.as_microseconds().saturating_sub(retention));
        self.database.write(statement.into()).await.map(drop)
    }
}

/// Returns the statement that counts a call, and fails if another one was counted since.
fn build_count(scope: &str, spent: &Spending) -> Statement {
    Statement::new(
        "INSERT INTO automation_spend (scope, model_calls, tokens, micro_dollars, changed_at) \
         VALUES ($1, 1, 0, 0, $3) ON CONFLICT (scope) DO UPDATE SET \
         model_calls = automation_spend.model_calls + 1, changed_at = $3 \
         WHERE automation_spend.model_calls = $2",
    )
    .bind(scope)
    .bind(spent.model_calls)
    .bind(Timestamp::now().as_microseconds())
    .expect_rows(1)
}

fn run_name(run: &str) -> String {
    format!("run:{run}")
}

impl SpendGuard for JobBook {
    fn admit<'a>(&'a self, request: SpendRequest<'a>) -> SpendFuture<'a, SpendDecision> {
        Box::pin(self.decide(request))
    }

    fn note<'a>(&'a self, call: SpentCall<'a>) -> SpendFuture<'a, ()> {
        Box::pin(self.count(call))
    }
}
