//! Tests the properties that hold for every call.

use lango_protocol::{CallReport, CallStatus, DelegationStatus};
use proptest::prelude::*;

use super::super::answer::MAX_ANSWER_BYTES;
use super::{transferred, with_report, without_report};

/// Generates texts of all kinds: words, markers, JSON, and noise.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "(\\PC|\n){0,300}",
        "(`|\n|\\[REJECT\\] |\\[ASK\\] ){0,300}",
        "(- text \"[a-z]{1,9}\"\n){0,20}",
        "[a-z]{1,3}".prop_map(|word| word.repeat(9000)),
        "[a-z]{1,9}\n".prop_map(|line| line.repeat(2000)),
        any::<String>(),
        json().prop_map(|value| value.to_string()),
    ]
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        "\\PC{0,40}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 200, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(serde_json::Value::from),
            prop::collection::vec(("\\PC{0,12}", inner), 0..12)
                .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn report() -> impl Strategy<Value = CallReport> {
    let notes = prop::collection::vec(text(), 0..6);
    (text(), text(), 0..5_u8, notes, json()).prop_map(|(summary, details, form, notes, data)| {
        let report = CallReport::new(format!("x{summary}"));
        let report = match form {
            0 => report,
            1 => report.data(&data),
            2 => report.markdown(details),
            3 => report.quoted(details),
            _ => report.verbatim(details),
        };
        notes.into_iter().fold(report, CallReport::note)
    })
}

fn status() -> impl Strategy<Value = CallStatus> {
    prop::sample::select(vec![
        CallStatus::Ok,
        CallStatus::Error,
        CallStatus::Refused,
        CallStatus::Denied,
        CallStatus::Cancelled,
        CallStatus::Unknown,
    ])
}

fn checked(said: &str) -> Result<(), TestCaseError> {
    prop_assert!(!said.trim().is_empty());
    prop_assert!(said.len() <= MAX_ANSWER_BYTES, "{} bytes", said.len());
    prop_assert!(!said.to_lowercase().contains("[reject]"));
    prop_assert!(lango_protocol::marker::find_question(said).is_none());
    prop_assert!(!said.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn whatever_a_tool_reports_is_told_within_bounds(report in report()) {
        checked(&with_report(report.clone()))?;
        checked(&with_report(report.bounded()))?;
    }

    #[test]
    fn whatever_is_called_however_is_told_within_bounds(
        name in prop_oneof!["\\PC{0,80}", Just("mcp_a_b".to_owned()), "skill_[a-z]{0,3}"],
        result in text(),
        status in status(),
    ) {
        checked(&without_report(&name, &result, status))?;
    }

    #[test]
    fn what_another_agent_says_stays_within_bounds(
        text in text(),
        status in prop::sample::select(vec![
            DelegationStatus::Answered,
            DelegationStatus::Rejected,
            DelegationStatus::Failed,
            DelegationStatus::NeedsInput,
        ]),
    ) {
        let said = transferred(status, &text);
        // A text of control characters alone is empty.
        if text.chars().any(|c| !c.is_control() && !c.is_whitespace()) {
            checked(&said)?;
        }
    }

    #[test]
    fn what_did_not_work_is_never_told_as_a_success(
        result in text(),
        status in status().prop_filter("not a success", |status| *status != CallStatus::Ok),
    ) {
        let said = without_report("fs_read", &result, status);
        let line = said.lines().next().unwrap_or_default();
        let failures = [" failed", " was not run", " was stopped", "is unknown"];
        prop_assert!(failures.iter().any(|words| line.contains(words)), "{said}");
    }
}
