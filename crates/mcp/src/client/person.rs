//! Asks a person the questions of a server. They never reach a model.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value};

use super::ServerName;
use super::config::{is_secret_name, split_into_words};

/// Limits the fields of one form.
const MAX_FIELD_COUNT: usize = 20;

/// Resolves to the answer.
pub type AnswerFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Asks a person on behalf of a server. Implemented by the user interfaces; without a person, the
/// answer is no.
pub trait Person: Send + Sync {
    /// Fills in a form. Returns none if the person declines or is not present.
    fn fill(&self, form: Form) -> AnswerFuture<Option<FormAnswers>>;

    /// Asks for agreement to a server's request, which is shown completely.
    fn agree(&self, question: String) -> AnswerFuture<bool>;

    /// Asks whether an entry of a project's file may be used, which is shown completely. Returns none
    /// if no person is present: such a question is never answered in advance.
    fn approve_entry(&self, question: String) -> AnswerFuture<Option<bool>>;
}

/// Declines everything, because no person is present.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPerson;

impl Person for NoPerson {
    fn fill(&self, _: Form) -> AnswerFuture<Option<FormAnswers>> {
        Box::pin(async { None })
    }

    fn agree(&self, _: String) -> AnswerFuture<bool> {
        Box::pin(async { false })
    }

    fn approve_entry(&self, _: String) -> AnswerFuture<Option<bool>> {
        Box::pin(async { None })
    }
}

/// Holds the questions of a server to a person.
#[derive(Debug, Clone)]
pub struct Form {
    /// The server.
    pub server: ServerName,
    /// Its message, which is untrusted data.
    pub message: String,
    /// The fields.
    pub fields: Vec<Field>,
}

/// Holds the typed text by the name of the field. Missing fields get their default, or are left
/// out.
pub type FormAnswers = BTreeMap<String, String>;

/// Represents one field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// The title and description by the server.
    pub description: String,
    /// The allowed answers; empty if any text is allowed.
    pub choices: Vec<String>,
    /// The value if nothing is typed.
    pub default: Option<String>,
    /// True if an answer is required.
    pub required: bool,
    kind: FieldKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Text,
    Number,
    Boolean,
    Several,
}

impl Form {
    /// Parses a form of the protocol. The error says why it is not shown.
    pub(crate) fn read(server: &ServerName, message: &str, schema: &Value) -> Result<Self, String> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        if properties.len() > MAX_FIELD_COUNT {
            return Err(format!("it asks for {} things at once", properties.len()));
        }
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let mut fields: Vec<Field> = properties
            .iter()
            .map(|(name, property)| Field::read(name, property, required.contains(&name.as_str())))
            .collect();
        // Required fields come first.
        fields.sort_by_key(|field| !field.required);
        let secret = fields.iter().find(|field| {
            is_secret_name(&field.name)
                || asks_for_secret(&field.name)
                || asks_for_secret(&field.description)
        });
        if let Some(field) = secret {
            let name = lango_text::make_visible_short(&field.name);
            return Err(format!(
                "{name} looks like a secret, and secrets are never given to servers"
            ));
        }
        if asks_for_secret(message) {
            return Err("it speaks of a secret, and secrets are never given to servers".to_owned());
        }
        let message = message.chars().take(4000).collect();
        Ok(Self { server: server.clone(), message, fields })
    }

    /// Converts the typed text to the values that the server expects.
    pub(crate) fn values(&self, filled: &FormAnswers) -> Result<Value, String> {
        let mut values = Map::new();
        for field in &self.fields {
            let typed = filled.get(&field.name).filter(|text| !text.is_empty());
            match typed.or(field.default.as_ref()) {
                Some(text) => {
                    values.insert(field.name.clone(), field.value(text)?);
                }
                None if field.required => return Err(format!("{} was left empty", field.name)),
                None => {}
            }
        }
        Ok(Value::Object(values))
    }
}

/// Limits the words of a name or a title; longer texts are sentences.
const MAX_TITLE_WORDS: usize = 5;

/// Tells whether a name or a sentence asks for a secret.
fn asks_for_secret(text: &str) -> bool {
    // These match inside any word.
    const WITHIN: [&str; 9] = [
        "password",
        "passphrase",
        "passcode",
        "secret",
        "credential",
        "apikey",
        "accesskey",
        "privatekey",
        "token",
    ];
    // These match whole words only, because other words contain them, and only in names and short
    // titles: a longer sentence may say that none is wanted.
    const WHOLE: [&str; 5] = ["pin", "pins", "seed", "seeds", "recovery"];
    const BEFORE_KEY: [&str; 3] = ["api", "access", "private"];
    let words = split_into_words(text);
    let lower = text.to_lowercase();
    WITHIN.iter().any(|word| lower.contains(word))
        || words.len() <= MAX_TITLE_WORDS && words.iter().any(|word| WHOLE.contains(&word.as_str()))
        || words.windows(2).any(|pair| {
            BEFORE_KEY.contains(&pair[0].as_str()) && matches!(pair[1].as_str(), "key" | "keys")
        })
}

impl Field {
    fn read(name: &str, property: &Value, required: bool) -> Self {
        let text = |key: &str| property.get(key).and_then(Value::as_str).unwrap_or_default();
        let kind = match text("type") {
            "boolean" => FieldKind::Boolean,
            "number" | "integer" => FieldKind::Number,
            "array" => FieldKind::Several,
            _ => FieldKind::Text,
        };
        let description = [text("title"), text("description")];
        let description = description.into_iter().filter(|text| !text.is_empty());
        let default = property.get("default").map(plain_text);
        Self {
            name: name.to_owned(),
            description: description.collect::<Vec<_>>().join(": ").chars().take(1000).collect(),
            choices: list_choices(property.get("items").unwrap_or(property)),
            default,
            required,
            kind,
        }
    }

    fn value(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let wrong = |what: &str| Err(format!("{}: {text:?} is not {what}", self.name));
        let allowed =
            |text: &str| self.choices.is_empty() || self.choices.iter().any(|c| c == text);
        match self.kind {
            FieldKind::Boolean => match text {
                "true" | "yes" | "y" => Ok(Value::Bool(true)),
                "false" | "no" | "n" => Ok(Value::Bool(false)),
                _ => wrong("yes or no"),
            },
            FieldKind::Number => match serde_json::from_str::<Value>(text) {
                Ok(number @ Value::Number(_)) => Ok(number),
                _ => wrong("a number"),
            },
            FieldKind::Several => {
                let items: Vec<&str> =
                    text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
                if items.iter().all(|item| allowed(item)) {
                    Ok(items.into())
                } else {
                    wrong("a list of what can be chosen")
                }
            }
            FieldKind::Text if allowed(text) => Ok(text.into()),
            FieldKind::Text => wrong("one of what can be chosen"),
        }
    }
}

fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Returns the values of `enum`, or the constants of `oneOf` and `anyOf`.
fn list_choices(property: &Value) -> Vec<String> {
    let list = |key: &str| property.get(key).and_then(Value::as_array);
    let constants = || {
        let options = list("oneOf").or_else(|| list("anyOf"))?;
        Some(options.iter().filter_map(|option| option.get("const")).map(plain_text).collect())
    };
    list("enum")
        .map(|values| values.iter().map(plain_text).collect())
        .or_else(constants)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(schema: &Value) -> Result<Form, String> {
        Form::read(&"s".parse().unwrap(), "Where to?", schema)
    }

    #[test]
    fn what_is_typed_has_the_type_that_was_asked_for() {
        let schema = json!({
            "type": "object",
            "properties": {
                "city": { "type": "string", "description": "Which one" },
                "days": { "type": "integer", "default": 3 },
                "alone": { "type": "boolean" },
                "class": { "type": "string", "enum": ["one", "two"], "default": "two" },
                "meals": { "type": "array", "items": { "anyOf": [{"const": "a"}, {"const": "b"}] } },
            },
            "required": ["city"],
        });
        let form = form(&schema).unwrap();
        let typed = |pairs: &[(&str, &str)]| {
            let filled = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            form.values(&filled)
        };
        assert_eq!(
            typed(&[("city", "Basel"), ("alone", "y"), ("meals", "a, b")]).unwrap(),
            json!({"city": "Basel", "days": 3, "alone": true, "class": "two", "meals": ["a", "b"]})
        );
        assert!(typed(&[]).is_err());
        assert!(typed(&[("city", "x"), ("class", "three")]).is_err());
        assert!(typed(&[("city", "x"), ("days", "soon")]).is_err());
    }

    #[test]
    fn no_user_is_asked_for_a_secret() {
        for name in ["password", "api_key", "GitHub token", "recoveryPassphrase"] {
            let schema = json!({"properties": {name: {"type": "string"}}});
            assert!(form(&schema).unwrap_err().contains("secret"), "{name}");
        }
        for words in ["Your API key", "accessKey", "The PIN", "seed phrase", "Recovery code"] {
            for place in ["title", "description"] {
                let hidden = json!({"properties": {"x": {"type": "string", place: words}}});
                assert!(form(&hidden).is_err(), "{place}: {words}");
            }
            let message = Form::read(&"s".parse().unwrap(), words, &json!({}));
            assert!(message.is_err(), "{words}");
        }
        for name in ["userPin", "walletSeed", "recoveryCode", "loginCredentials", "passCode"] {
            let schema = json!({"properties": {name: {"type": "string"}}});
            assert!(form(&schema).is_err(), "{name}");
        }
        let plain = json!({"properties": {"opinion": {"title": "Spinning, seeding, recovering"}}});
        assert!(form(&plain).is_ok());
    }
}
