//! Personal data: replaced in requests, put back into replies.

use lango_redaction::{PersonalData, Placeholders, PrivacyFilter};
use proptest::prelude::*;

use PersonalData::{Card, Email, Iban, Phone};

fn filter() -> PrivacyFilter {
    let patterns = [("customer", r"\bK-[0-9]{5}\b")];
    PrivacyFilter::new([Email, Phone, Card, Iban], patterns).unwrap()
}

#[test]
fn personal_data_is_replaced_and_put_back() {
    let text = "Write to ada@example.org or +41 44 123 45 67, card 4111 1111 1111 1111, \
                IBAN CH93 0076 2011 6238 5295 7, customer K-12345, again ada@example.org.";
    let mut placeholders = Placeholders::default();
    let redacted = filter().redact(text, &mut placeholders).into_owned();
    for data in ["ada@", "123 45", "4111", "CH93", "K-12345"] {
        assert!(!redacted.contains(data), "{data}: {redacted}");
    }
    for name in ["[email:", "[phone:", "[card:", "[iban:", "[customer:"] {
        assert!(redacted.contains(name), "{name}: {redacted}");
    }
    assert_eq!(redacted.matches("[email:").count(), 2);
    assert_eq!(placeholders.restore(&redacted), text);
}

#[test]
fn other_numbers_and_invented_placeholders_stay() {
    let text = "4111 1111 1111 1112, version 1.2.3, 2026-11-18, line 120, GB00WEST12345698765432, [email:9]";
    let mut placeholders = Placeholders::default();
    assert_eq!(filter().redact(text, &mut placeholders), text);
    assert!(placeholders.is_empty());
    assert_eq!(placeholders.restore(text), text);
}

#[test]
fn a_pattern_that_is_none_is_named() {
    let error = PrivacyFilter::new([], [("own", "(")]).unwrap_err();
    assert!(error.to_string().contains("the pattern own cannot be used"), "{error}");
}

proptest! {
    #[test]
    fn a_reply_in_pieces_is_put_back_wherever_it_is_cut(cut in 0_usize..60, at in 0_usize..60) {
        let mut placeholders = Placeholders::default();
        let text = "mail ada@example.org and bob@example.org now [x";
        let reply = filter().redact(text, &mut placeholders).into_owned();
        let (first, second) = (cut.min(reply.len()), at.min(reply.len()));
        let (first, second) = (first.min(second), first.max(second));
        let mut shown = String::new();
        let mut held = String::new();
        for piece in [&reply[..first], &reply[first..second], &reply[second..]] {
            held.push_str(piece);
            let (ready, rest) = placeholders.split_open_end(&held);
            shown.push_str(&placeholders.restore(ready));
            held = rest.to_owned();
        }
        shown.push_str(&placeholders.restore(&held));
        prop_assert_eq!(shown, text);
    }
}
