use super::*;

#[test]
fn sizes_and_ages_are_read() {
    let of = |text: &str| {
        let request = RequestWords::of(text);
        let mut all = sizes(&request);
        all.extend(ages(&request));
        all
    };
    assert_eq!(of("anything over 1mb here?"), [("min_size", "1 MB".to_owned())]);
    assert_eq!(of("files smaller than 10 kB"), [("max_size", "10 KB".to_owned())]);
    assert_eq!(of("files older than a year"), [("changed_before", "365d".to_owned())]);
    assert_eq!(
        of("whats been touched in old/ in the last 24h"),
        [("changed_after", "24h".to_owned())]
    );
    assert_eq!(
        of("anything I haven't touched since 2023?"),
        [("changed_before", "2024-01-01".to_owned())]
    );
    assert_eq!(of("the three biggest files"), []);
}

#[test]
fn types_are_told_from_places() {
    let of = |text: &str| type_in(&RequestWords::of(text)).map(|found| found[0]);
    assert_eq!(of("how many python file (.py) is in this folder"), Some("py"));
    assert_eq!(of("list the md files but not the ones in docs"), Some("md"));
    assert_eq!(of("what is in photos"), None);
    assert_eq!(of("is there a movie in here???"), Some("mov"));
}
