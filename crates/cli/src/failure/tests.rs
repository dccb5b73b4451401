use lango_protocol::{BudgetKind, WorkDone};

use super::*;

#[test]
fn every_end_of_a_turn_has_its_documented_code() {
    let code = |status, denied| {
        let work = WorkDone { calls_denied: denied, ..WorkDone::default() };
        ExitStatus::of(&Outcome { status, work }).code()
    };
    let failed = |class| OutcomeStatus::Failed { class, reason: String::new() };
    assert_eq!(code(OutcomeStatus::Done, 0), 0);
    assert_eq!(code(OutcomeStatus::Done, 1), 3);
    assert_eq!(code(OutcomeStatus::Rejected { reason: String::new() }, 0), 1);
    assert_eq!(code(failed(FailureClass::Model), 0), 1);
    assert_eq!(code(failed(FailureClass::Provider), 0), 4);
    assert_eq!(code(failed(FailureClass::Budget(BudgetKind::Tokens)), 0), 5);
    assert_eq!(code(OutcomeStatus::TimedOut, 0), 5);
    assert_eq!(code(OutcomeStatus::Cancelled, 0), 130);
    assert_eq!(code(OutcomeStatus::NeedsInput, 0), 6);
    let after = |last_call| {
        let work = WorkDone { last_call: Some(last_call), ..WorkDone::default() };
        ExitStatus::of(&Outcome { status: OutcomeStatus::Done, work }).code()
    };
    assert_eq!(after(LastCall::Succeeded), 0);
    assert_eq!(after(LastCall::Failed), 7);
    assert_eq!(after(LastCall::Unsuccessful), 8);
}
