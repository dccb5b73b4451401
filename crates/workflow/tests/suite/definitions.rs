use std::time::Duration;

use lango_workflow::{Action, Definition, FailureRule, InputType, check_inputs};
use serde_json::{Map, Value, json};

use crate::REPORT;

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn a_definition_has_everything_that_its_text_says() {
    let definition = Definition::parse(REPORT).unwrap();
    assert_eq!(definition.name, "daily-report");
    assert_eq!(definition.list_tools(), ["web_fetch", "fs_write"]);
    assert_eq!(definition.inputs[1].kind, InputType::List);
    assert!(definition.inputs[1].required && !definition.inputs[0].required);
    let [fetch, check, release, file, apologise] = definition.steps.as_slice() else {
        panic!("{definition:?}")
    };
    assert_eq!((fetch.retry.attempts, fetch.timeout), (3, Some(Duration::from_mins(1))));
    assert_eq!(fetch.retry.wait_after(1), Duration::from_secs(10));
    assert_eq!(fetch.retry.wait_after(3), Duration::from_secs(40));
    assert_eq!(fetch.retry.wait_after(20), Duration::from_hours(1));
    assert_eq!(check.on_failure, FailureRule::Run(4));
    assert_eq!((check.needs.as_slice(), file.needs.as_slice()), (&[0][..], &[2][..]));
    assert_eq!(release.action, Action::Approval);
    assert_eq!(file.on_failure, FailureRule::Continue);
    assert!(apologise.is_handler && !check.is_handler);
    assert_eq!(file.list_used_steps(), ["check"]);
}

#[test]
fn aliases_are_followed_within_limits() {
    let text =
        "name: a\nsteps:\n  - &first { id: a, task: x, timeout: 5m }\n  - { id: b, task: y }\n";
    assert_eq!(Definition::parse(text).unwrap().steps.len(), 2);
}

#[test]
fn inputs_are_checked_and_filled_in() {
    let definition = Definition::parse(REPORT).unwrap();
    let given = object(&json!({ "urls": ["a"] }));
    let checked = check_inputs(&definition, &given).unwrap();
    assert_eq!(Value::Object(checked), json!({ "folder": "reports", "urls": ["a"], "limit": 10 }));
    for (given, reason) in [
        (json!({}), "the input urls is missing"),
        (json!({ "urls": "a" }), "must be a list"),
        (json!({ "urls": [], "colour": 1 }), "there is no input \"colour\""),
    ] {
        let error = check_inputs(&definition, &object(&given)).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}
