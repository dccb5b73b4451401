//! What work may spend: each run, and each day, with several processes at once.

use lango_automator::{AutomatorSettings, JobBook, NewJob, SpendLimits};
use lango_protocol::{SessionId, Usage};
use lango_runtime::{SpendDecision, SpendGuard as _, SpendRequest, SpentCall};
use lango_store::DatabaseLocation;

use crate::samples::{after, new_job, open, open_with, runs, scheduler, settings};

fn calls(limit: u32) -> SpendLimits {
    SpendLimits { model_calls: Some(limit), ..SpendLimits::default() }
}

/// Adds a job that is due, and returns the session of its run.
async fn begin(jobs: &JobBook, new: NewJob) -> SessionId {
    let job = jobs.add(new).await.unwrap();
    scheduler(jobs).fire_due(after(job.next_due.unwrap(), 1)).await.unwrap();
    runs(jobs, &job.id).await.pop().unwrap().session
}

async fn ask(jobs: &JobBook, session: &SessionId, reserved_calls: u32) -> SpendDecision {
    jobs.admit(SpendRequest { session, reserved_calls }).await.unwrap()
}

pub(crate) async fn a_run_ends_at_its_budget(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let new = NewJob { budget: Some(calls(3)), ..new_job("in 40 minutes", "look") };
    let session = begin(&jobs, new).await;
    assert_eq!(ask(&jobs, &session, 1).await, SpendDecision::Granted);
    // A specialist's last call leaves one for the agent that answers.
    assert!(matches!(ask(&jobs, &session, 1).await, SpendDecision::Last(_)));
    assert!(matches!(ask(&jobs, &session, 1).await, SpendDecision::Refused(_)));
    let SpendDecision::Last(account) = ask(&jobs, &session, 0).await else {
        panic!("not the last")
    };
    assert!(account.contains("3 of 3 model calls"), "{account}");
    let SpendDecision::Refused(account) = ask(&jobs, &session, 0).await else { panic!("granted") };
    assert!(account.contains("budget of this run") && account.contains("lango"), "{account}");
    // Another run of the same job begins anew.
    let other = NewJob { budget: Some(calls(3)), ..new_job("in 40 minutes", "look") };
    let other = begin(&jobs, other).await;
    assert_eq!(ask(&jobs, &other, 0).await, SpendDecision::Granted);
}

pub(crate) async fn tokens_and_cost_count(location: DatabaseLocation) {
    let price = |_: &str, model: &str, usage: &Usage| {
        (model == "known").then(|| f64::from(u32::try_from(usage.output).unwrap()) / 100.0)
    };
    let priced = AutomatorSettings { prices: Some(std::sync::Arc::new(price)), ..settings() };
    let jobs = open_with(&location, priced).await;
    let tokens = SpendLimits { tokens: Some(100), ..SpendLimits::default() };
    let dollars = SpendLimits { dollars: Some(0.5), ..SpendLimits::default() };
    for (limits, model, expected) in
        [(tokens, "known", true), (dollars, "known", true), (dollars, "other", false)]
    {
        let new = NewJob { budget: Some(limits), ..new_job("in 40 minutes", "look") };
        let session = &begin(&jobs, new).await;
        assert_eq!(ask(&jobs, session, 0).await, SpendDecision::Granted);
        let usage = &Usage { input: 60, output: 60, ..Usage::default() };
        jobs.note(SpentCall { session, provider: "p", model, usage }).await.unwrap();
        let is_refused = matches!(ask(&jobs, session, 0).await, SpendDecision::Refused(_));
        assert_eq!(is_refused, expected, "{limits:?} {model}");
    }
}

pub(crate) async fn a_day_has_a_budget_for_all_jobs_and_processes(location: DatabaseLocation) {
    let limited = AutomatorSettings { day_budget: calls(5), ..settings() };
    let mut asking = Vec::new();
    for number in 0..4 {
        let jobs = open_with(&location, limited.clone()).await;
        let session = begin(&jobs, new_job("in 40 minutes", &format!("look {number}"))).await;
        asking.push(tokio::spawn(async move {
            let mut granted = 0;
            for _ in 0..5 {
                let decision = ask(&jobs, &session, 0).await;
                granted += usize::from(!matches!(decision, SpendDecision::Refused(_)));
            }
            granted
        }));
    }
    let mut granted = 0;
    for one in asking {
        granted += one.await.unwrap();
    }
    assert_eq!(granted, 5);
    let jobs = open_with(&location, limited).await;
    let spent = jobs.find_spending_today(&lango_protocol::Space::Owner).await.unwrap();
    assert_eq!(spent.model_calls, 5);
}

pub(crate) async fn tokens_of_a_call_that_ends_on_another_day_count(location: DatabaseLocation) {
    let tokens = SpendLimits { tokens: Some(100), ..SpendLimits::default() };
    let limited = AutomatorSettings { day_budget: tokens, ..settings() };
    let jobs = open_with(&location, limited).await;
    let session = &begin(&jobs, new_job("in 40 minutes", "look")).await;
    // It was granted yesterday, so that nothing was counted today when it ends.
    let usage = &Usage { input: 60, output: 60, ..Usage::default() };
    jobs.note(SpentCall { session, provider: "p", model: "m", usage }).await.unwrap();
    let spent = jobs.find_spending_today(&lango_protocol::Space::Owner).await.unwrap();
    assert_eq!((spent.model_calls, spent.tokens), (0, 120));
    assert!(matches!(ask(&jobs, session, 0).await, SpendDecision::Refused(_)));
}
