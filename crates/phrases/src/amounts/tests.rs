use super::*;

fn values(text: &str, parameter: &str) -> Vec<f64> {
    find_numbers(text).iter().map(|amount| amount.value_for_parameter(parameter)).collect()
}

#[test]
fn numbers_are_read_in_words_and_digits() {
    assert_eq!(values("the first twenty-five lines of 1,200", "limit"), [1.0, 25.0, 1200.0]);
    assert_eq!(values("0.5 or 2,5 or three hundred", "limit"), [0.5, 2.5, 300.0]);
    assert_eq!(values("a file and an egg", "limit"), [0.0; 0]);
}

#[test]
fn durations_are_counted_in_what_the_parameter_says() {
    assert_eq!(values("half an hour", "timeout_seconds"), [1800.0]);
    assert_eq!(values("a couple of minutes", "timeout_seconds"), [120.0]);
    assert_eq!(values("wait 2 hours", "minutes"), [120.0]);
    assert_eq!(values("90s", "wait_seconds"), [90.0]);
}

#[test]
fn durations_next_to_each_other_are_one() {
    for (text, seconds) in [
        ("give it 1 minute 30 seconds", 90.0),
        ("2 hours and 5 minutes", 7500.0),
        ("1h30m", 5400.0),
        ("an hour and a half", 5400.0),
        ("two and a half minutes", 150.0),
        ("1 day, 2 hours and 3 seconds", 93_603.0),
        ("500 ms", 0.5),
        ("2 weeks", 1_209_600.0),
    ] {
        assert_eq!(values(text, "timeout_seconds"), [seconds], "{text}");
    }
    // These are two: the second is no part of the first.
    assert_eq!(values("30 seconds and 5 minutes", "seconds"), [30.0, 300.0]);
    assert_eq!(values("5 minutes\n30 seconds", "seconds"), [300.0, 30.0]);
    // It could be minutes or seconds.
    assert!(values("1 minute 30 seconds", "limit")[0].is_nan());
    assert!(values("2 months", "retention_days")[0].is_nan());
    assert_eq!(values("2 months", "count"), [2.0]);
}

#[test]
fn the_words_of_a_parameters_name_are_compared() {
    for (name, expected) in [
        ("timeout_milliseconds", 5400e3),
        ("timeoutMs", 5400e3),
        ("timeout_ms", 5400e3),
        ("timeout-seconds", 5400.0),
        ("timeoutSeconds", 5400.0),
        ("wait_s", 5400.0),
        ("minutes", 90.0),
        ("maxHours", 1.5),
        ("retention_days", 0.0625),
    ] {
        assert_eq!(values("90 minutes", name), [expected], "{name}");
    }
    for name in ["limit", "min_score", "secondary", "items", "s"] {
        assert_eq!(values("90 minutes", name), [90.0], "{name}");
    }
}

#[test]
fn large_and_negative_numbers_are_whole() {
    for (text, expected) in [
        ("one hundred and twenty", vec![120.0]),
        ("one thousand two hundred and fifty-five lines", vec![1255.0]),
        ("5k", vec![5000.0]),
        ("2.5 million", vec![2_500_000.0]),
        ("half a million", vec![500_000.0]),
        ("two hundred thousand", vec![200_000.0]),
        ("one hundred and twenty thousand", vec![120_000.0]),
        ("two dozen", vec![24.0]),
        ("a thousand and one", vec![1001.0]),
        ("from -5 to 7", vec![-5.0, 7.0]),
        ("on 2024-01-05 in ORA-77", vec![2024.0, 1.0, 5.0, 77.0]),
        ("between one hundred and two hundred", vec![100.0, 200.0]),
        ("between one thousand and two thousand", vec![1000.0, 2000.0]),
        ("5k and two", vec![5000.0, 2.0]),
        ("five and twenty", vec![5.0, 20.0]),
    ] {
        assert_eq!(values(text, "limit"), expected, "{text}");
    }
}

#[test]
fn a_range_is_what_was_written() {
    let text = "wait ten minutes, then 3";
    let ranges: Vec<&str> = find_numbers(text).iter().map(|a| &text[a.range.clone()]).collect();
    assert_eq!(ranges, ["ten minutes", "3"]);
}

/// `training/find_numbers.py` wrote the expected file: texts of the training with the numbers it
/// found.
#[test]
fn training_and_program_read_the_same_numbers() {
    let lines = include_str!("../../tests/data/amounts.jsonl").lines();
    let mut compared = 0;
    for line in lines {
        let (text, expected): (String, Vec<(usize, usize, Option<f64>)>) =
            serde_json::from_str(line).unwrap();
        let found: Vec<_> = find_numbers(&text)
            .iter()
            .map(|a| (a.range.start, a.range.end, Some(a.value_for_parameter("seconds"))))
            .map(|(start, end, value)| (start, end, value.filter(|value| value.is_finite())))
            .collect();
        assert_eq!(found, expected, "{text}");
        compared += found.len();
    }
    assert!(compared > 500, "{compared}");
}
