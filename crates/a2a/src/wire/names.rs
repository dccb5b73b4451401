//! Normalizes member names: the protocol's JSON may use the names of its definition
//! (`history_length`) instead of the usual ones (`historyLength`), and `null` for absent members.

use serde_json::{Map, Value};

/// Members that hold free-form data, in which nothing is renamed.
const FREE: [&str; 3] = ["metadata", "data", "params"];

/// Gives every member its usual name and removes those that are `null`. If both spellings are
/// present, the usual one wins.
pub fn normalise(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(normalise),
        Value::Object(members) => {
            let all = std::mem::take(members);
            let (usual, other): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|(name, _)| !name.contains('_'));
            for (name, value) in usual {
                insert_preferred(members, name, value);
            }
            for (name, value) in other {
                let name = to_camel_case(&name);
                if !members.contains_key(&name) {
                    insert_preferred(members, name, value);
                }
            }
        }
        _ => {}
    }
}

fn insert_preferred(members: &mut Map<String, Value>, name: String, mut value: Value) {
    // `data` is the one member in which `null` is a value.
    if value.is_null() && name != "data" {
        return;
    }
    if !FREE.contains(&name.as_str()) {
        normalise(&mut value);
    }
    members.insert(name, value);
}

fn to_camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut usual = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        usual.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        usual.push_str(letters.as_str());
    }
    usual
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_spellings_are_read_and_free_data_is_left_alone() {
        let mut value = json!({
            "history_length": 1, "task_id": null, "message": { "message_id": "m", "metadata": { "a_b": 1 },
            "parts": [{ "data": { "c_d": null }, "media_type": "x" }] },
            "page_size": 5, "pageSize": 6,
        });
        normalise(&mut value);
        assert_eq!(
            value,
            json!({
                "historyLength": 1, "pageSize": 6, "message": { "messageId": "m", "metadata": { "a_b": 1 },
                "parts": [{ "data": { "c_d": null }, "mediaType": "x" }] },
            })
        );
    }
}
