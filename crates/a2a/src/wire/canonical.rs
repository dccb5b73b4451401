//! Writes JSON in the canonical form of RFC 8785, so that two parties sign and verify the same
//! bytes.

use serde_json::{Map, Value};

/// Returns the canonical text of a value.
pub fn render_canonical(value: &Value) -> String {
    // Only other types can fail: by keys that are no text, or that are there twice.
    serde_json_canonicalizer::to_string(value)
        .unwrap_or_else(|error| unreachable!("a JSON value has no canonical form: {error}"))
}

/// Returns the value without empty texts, lists and objects, which equal absent ones in the
/// protocol's definition. Returns none if nothing is left.
pub fn remove_empty(value: &Value) -> Option<Value> {
    match value {
        Value::Object(members) => {
            let kept: Map<String, Value> = members
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), remove_empty(value)?)))
                .collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let kept: Vec<Value> = items.iter().filter_map(remove_empty).collect();
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        Value::String(text) => (!text.is_empty()).then(|| value.clone()),
        Value::Null => None,
        other => Some(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Number, json};

    use super::*;

    /// Uses the example of RFC 8785, section 3.2.3 and before.
    #[test]
    fn the_example_of_the_standard() {
        let value: Value = serde_json::from_str(
            r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
                "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
                "literals": [null, true, false]}"#,
        )
        .unwrap();
        let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
        assert_eq!(render_canonical(&value), expected);
    }

    /// Uses the sorting example of RFC 8785, by UTF-16 code units.
    #[test]
    fn members_are_sorted_as_the_standard_says() {
        let value = json!({
            "\u{20ac}": "Euro Sign", "\r": "Carriage Return", "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
            "1": "One", "\u{1f600}": "Emoji: Grinning Face", "\u{80}": "Control", "\u{f6}": "Latin Small Letter O With Diaeresis",
        });
        let text = render_canonical(&value);
        let places = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"]
            .map(|word| text.find(word).unwrap());
        assert!(places.is_sorted(), "{text}");
    }

    /// Uses the vectors of appendix B of RFC 8785.
    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        let vectors: [(u64, &str); 13] = [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            // Halfway between two numbers of as many digits: the even one.
            (0xc309_b2b3_3e4c_aa32, "-904169666483526.2"),
        ];
        for (bits, expected) in vectors {
            let number = Number::from_f64(f64::from_bits(bits)).unwrap();
            assert_eq!(render_canonical(&Value::Number(number)), expected, "{bits:x}");
        }
        assert_eq!(render_canonical(&json!([-1, 42, 1.5, 100])), "[-1,42,1.5,100]");
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_has_one_canonical_form(value in any_value()) {
            let text = render_canonical(&value);
            let read: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(render_canonical(&read), text);
        }
    }
}
