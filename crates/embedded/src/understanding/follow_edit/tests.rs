use super::*;

#[test]
fn values_are_found_by_name_or_by_shape() {
    let config = "port: 8080\ndebug: true\nlog_level: info\n";
    let of = |text: &str| {
        let request = RequestWords::of(text);
        switched(&request, config).or_else(|| named_value(&request, config))
    };
    let pair = |old: &str, new: &str| Some((old.to_owned(), new.to_owned()));
    assert_eq!(of("debug off please"), pair("debug: true", "debug: false"));
    assert_eq!(
        of("the log level is noisy, make it warn"),
        pair("log_level: info", "log_level: warn")
    );
    assert_eq!(of("it is too noisy"), None);
    let shaped = |text: &str, content: &str| same_shape(&RequestWords::of(text), content);
    let invoice = "Invoice 07: 860.00 EUR, due 2026-12-01\n";
    assert_eq!(shaped("change the amount there to 910.00", invoice), pair("860.00", "910.00"));
    assert_eq!(shaped("change it to 910", invoice), None);
    assert_eq!(shaped("no, is at 10:00", "my shop opens at 9:30"), pair("9:30", "10:00"));
}

#[test]
fn arrows_are_read() {
    assert_eq!(arrow("3.11 -> 3.12"), Some(("3.11", "3.12")));
    assert_eq!(arrow("a long sentence with many words -> b"), None);
}
