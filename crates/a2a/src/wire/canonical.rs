//! Writes JSON in the canonical form of RFC 8785, so that two parties sign and verify the same
//! bytes.

use serde_json::{Map, Number, Value};

/// Returns the canonical text of a value.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// Returns the value without empty texts, lists and objects, which equal absent ones in the
/// protocol's definition. Returns none if nothing is left.
pub fn without_empty(value: &Value) -> Option<Value> {
    match value {
        Value::Object(members) => {
            let kept: Map<String, Value> = members
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), without_empty(value)?)))
                .collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let kept: Vec<Value> = items.iter().filter_map(without_empty).collect();
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        Value::String(text) => (!text.is_empty()).then(|| value.clone()),
        Value::Null => None,
        other => Some(other.clone()),
    }
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => text.push_str(&write_number(number)),
        Value::String(string) => write_string(string, text),
        Value::Array(items) => {
            text.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            text.push('{');
            for (position, (name, value)) in sorted.into_iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                write_string(name, text);
                text.push(':');
                write(value, text);
            }
            text.push('}');
        }
    }
}

fn write_string(string: &str, text: &mut String) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            control if control < ' ' => text.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => text.push(other),
        }
    }
    text.push('"');
}

/// Formats a number as ECMAScript does: every number is a double.
fn write_number(number: &Number) -> String {
    let Some(value) = number.as_f64() else { return "0".to_owned() };
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{:e}", value.abs());
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if value < 0.0 { "-" } else { "" };
    let length = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let at = |position: i32| usize::try_from(position).unwrap_or(0);
    let text = match exponent + 1 {
        // The position of the point after the first digit.
        point if (length..=21).contains(&point) => {
            format!("{digits}{}", "0".repeat(at(point - length)))
        }
        point if (1..=21).contains(&point) => {
            format!("{}.{}", &digits[..at(point)], &digits[at(point)..])
        }
        point if (-5..=0).contains(&point) => format!("0.{}{digits}", "0".repeat(at(-point))),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            let rest = if length > 1 { format!(".{}", &digits[1..]) } else { String::new() };
            format!("{}{rest}e{sign}{}", &digits[..1], exponent.abs())
        }
    };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
        assert_eq!(canonical(&value), expected);
    }

    /// Uses the sorting example of RFC 8785, by UTF-16 code units.
    #[test]
    fn members_are_sorted_as_the_standard_says() {
        let value = json!({
            "\u{20ac}": "Euro Sign", "\r": "Carriage Return", "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
            "1": "One", "\u{1f600}": "Emoji: Grinning Face", "\u{80}": "Control", "\u{f6}": "Latin Small Letter O With Diaeresis",
        });
        let text = canonical(&value);
        let places = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"]
            .map(|word| text.find(word).unwrap());
        assert!(places.is_sorted(), "{text}");
    }

    /// Uses the vectors of appendix B of RFC 8785.
    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        let vectors: [(u64, &str); 12] = [
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
        ];
        for (bits, expected) in vectors {
            let number = Number::from_f64(f64::from_bits(bits)).unwrap();
            assert_eq!(write_number(&number), expected, "{bits:x}");
        }
        assert_eq!(canonical(&json!([-1, 42, 1.5, 100])), "[-1,42,1.5,100]");
    }
}
