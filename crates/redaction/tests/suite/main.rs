//! Tests that no form of a known value passes, whatever stands around it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod privacy;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use lango_redaction::{LeakScanner, Scrubber};
use lango_text::hex;
use proptest::prelude::*;

const TOKEN: &str = "ghp_16C7e42F292c6912E7";

fn scanner(values: &[(&str, &str)]) -> Arc<LeakScanner> {
    let values = values.iter().map(|(name, value)| (*name, value.as_bytes()));
    Arc::new(LeakScanner::new(values))
}

#[test]
fn a_value_is_replaced_by_its_name() {
    let scrubber = Scrubber::default();
    scrubber.add("github", TOKEN.as_bytes());
    let text = format!("export GITHUB_TOKEN={TOKEN} # {TOKEN}");
    assert_eq!(scrubber.scrub(&text), "export GITHUB_TOKEN=[secret:github] # [secret:github]");
    assert!(!format!("{scrubber:?} {:?}", scrubber.scanner()).contains("ghp_"));
}

#[test]
fn a_short_value_is_not_looked_for() {
    let scrubber = Scrubber::new(["short".to_owned(), String::new()]);
    assert_eq!(scrubber.scrub("a short text"), "a short text");
}

#[test]
fn a_value_that_is_learnt_later_does_not_pass_in_any_clone() {
    let scrubber = Scrubber::new(["another-value-here".to_owned()]);
    let clone = scrubber.clone();
    assert_eq!(clone.scrub(TOKEN), TOKEN);
    scrubber.add("github", TOKEN.as_bytes());
    assert_eq!(clone.scrub(TOKEN), "[secret:github]");
    assert_eq!(clone.scrub("another-value-here"), "[secret:value]");
}

#[test]
fn a_value_inside_of_another_is_replaced_as_a_whole() {
    let scanner = scanner(&[("inner", "abcdefgh"), ("outer", "xx-abcdefgh-yy")]);
    assert_eq!(scanner.scrub("1 xx-abcdefgh-yy 2 abcdefgh"), "1 [secret:outer] 2 [secret:inner]");
    let overlapping = scanner.scrub("xx-abcdefgh-yy");
    assert_eq!(overlapping, "[secret:outer]");
}

#[test]
fn the_lines_of_a_key_are_found_one_by_one() {
    let key = "-----BEGIN KEY-----\nMC4CAQAwBQYDK2VwBCIEIDx0\nq9bXyZ0123456789abcdefgh\n-----END KEY-----\n";
    let scanner = scanner(&[("signing", key)]);
    let text = scanner.scrub("line: q9bXyZ0123456789abcdefgh!").into_owned();
    assert_eq!(text, "line: [secret:signing]!");
}

#[test]
fn bytes_that_are_no_text_are_found_encoded() {
    let value = [0_u8, 159, 146, 150, 255, 1, 2, 3, 4, 5, 6, 7];
    let scanner = LeakScanner::new([("raw", value.as_slice())]);
    assert_eq!(scanner.scrub(&hex(value)), "[secret:raw]");
    assert!(scanner.scrub(&STANDARD.encode(value)).contains("[secret:raw]"));
}

#[test]
fn a_value_of_any_length_is_found_at_any_place() {
    let letters = "k3Jx2Qm9Lw4Tz8KdVb5NcRf7Yh6Gs1Pa0Eu";
    for length in 8..=64 {
        let value: String = letters.chars().cycle().skip(length).take(length).collect();
        let scanner = scanner(&[("v", &value), ("other", "another-value-of-some-length-in-all")]);
        for before in 0..70 {
            for after in [0, 1, 3, 50] {
                let (before, after) = (".".repeat(before), "-".repeat(after));
                let text = format!("{before}{value}{after}");
                assert_eq!(scanner.scrub(&text), format!("{before}[secret:v]{after}"));
            }
        }
    }
}

/// Encodes text as programs do. Whatever stands before and after the value is encoded with it.
fn encode(kind: u8, before: &str, value: &str, after: &str) -> String {
    let whole = format!("{before}{value}{after}");
    match kind {
        0 => whole,
        1 => STANDARD.encode(&whole),
        2 => URL_SAFE_NO_PAD.encode(&whole),
        3 => hex(&whole),
        4 => hex(&whole).to_uppercase(),
        5 => whole.chars().rev().collect(),
        6 => whole.bytes().map(|byte| format!("%{byte:02X}")).collect(),
        7 => whole.bytes().map(|byte| format!("%{byte:02x}")).collect(),
        _ => {
            let form = |byte: u8| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    char::from(byte).to_string()
                }
                _ => format!("%{byte:02X}"),
            };
            whole.bytes().map(form).collect()
        }
    }
}

/// Returns what a reader of the scrubbed text could still decode.
fn decodable(kind: u8, text: &str) -> Vec<String> {
    let text = text.to_owned();
    match kind {
        5 => vec![text.chars().rev().collect()],
        _ => vec![text],
    }
}

proptest! {
    #[test]
    fn no_encoding_of_a_value_passes(
        before in "[ -~]{0,40}",
        value in "[!-~]{12,60}",
        after in "[ -~é]{0,40}",
        kind in 0_u8..9,
    ) {
        let scanner = scanner(&[("canary", &value)]);
        let text = encode(kind, &before, &value, &after);
        let clean = scanner.scrub(&text);
        prop_assert!(clean.contains("[secret:canary]"), "{kind}: {text} became {clean}");
        for rest in decodable(kind, &clean) {
            prop_assert!(!rest.contains(&value), "{kind}: {rest}");
        }
    }

    #[test]
    fn text_without_a_value_stays_as_it_is(text in "\\PC{0,400}") {
        let scanner = scanner(&[("canary", TOKEN)]);
        prop_assert_eq!(scanner.scrub(&text), text.as_str());
    }

    #[test]
    fn a_stream_shows_the_same_wherever_it_is_cut(
        before in "[a-h_]{0,30}",
        after in "[a-h_é]{0,30}",
        kind in 0_u8..9,
        cuts in proptest::collection::vec(0_usize..200, 0..12),
    ) {
        let scanner = scanner(&[("canary", TOKEN), ("other", "abcdefgh_abcdefgh")]);
        let text = encode(kind, &before, TOKEN, &after);
        let mut cuts: Vec<usize> = cuts
            .into_iter()
            .filter(|cut| *cut < text.len() && text.is_char_boundary(*cut))
            .chain([0, text.len()])
            .collect();
        cuts.sort_unstable();
        let mut stream = scanner.stream();
        let mut shown = String::new();
        for pair in cuts.windows(2) {
            shown.push_str(&stream.push(&text[pair[0]..pair[1]]));
            prop_assert!(!shown.contains(TOKEN));
        }
        shown.push_str(&stream.finish());
        prop_assert_eq!(shown, scanner.scrub(&text).into_owned());
    }
}

#[test]
fn a_stream_holds_back_no_more_than_could_be_a_value() {
    let scanner = scanner(&[("canary", TOKEN)]);
    let mut stream = scanner.stream();
    assert_eq!(stream.push("The token is "), "The token is ");
    assert_eq!(stream.push("ghp_16C7"), "");
    assert_eq!(stream.push(" no"), "ghp_16C7 no");
    assert_eq!(stream.push("ghp_16C7e42F"), "");
    assert_eq!(stream.push("292c6912E7."), "[secret:canary].");
    assert_eq!(stream.finish(), "");
}

#[test]
fn every_value_of_many_is_found() {
    let values: Vec<(String, String)> = (0..200)
        .map(|number| (format!("s{number}"), format!("{number:03}-value-of-{:x}", number * 7919)))
        .collect();
    let scanner =
        LeakScanner::new(values.iter().map(|(name, value)| (name.as_str(), value.as_bytes())));
    for (name, value) in &values {
        assert_eq!(scanner.scrub(&format!("<{value}>")), format!("<[secret:{name}]>"));
        assert!(scanner.contains_secret(STANDARD.encode(value).as_bytes()), "{name}");
    }
    let first = values.first().unwrap();
    assert!(!scanner.contains_secret(&first.1.as_bytes()[1..]));
}
