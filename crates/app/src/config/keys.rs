//! Lists the configuration's keys, derived from its types.

use schemars::Schema;
use schemars::generate::SchemaSettings;

use super::Config;

/// A key that can be set.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigKey {
    /// Such as `agent.multiAgent`; `*` stands for a name of the user's choice.
    pub path: String,
    /// Its purpose.
    pub description: String,
    /// True if it takes several values.
    pub is_list: bool,
    /// The numbers that it takes, if it takes a number.
    pub range: NumberRange,
}

/// Bounds a number; both ends are included.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NumberRange {
    /// The least number.
    pub minimum: Option<f64>,
    /// The greatest number.
    pub maximum: Option<f64>,
}

impl NumberRange {
    /// Returns why a number is not in the range.
    pub(super) fn check_number(&self, number: f64) -> Result<(), String> {
        let fits = number.is_finite()
            && self.minimum.is_none_or(|least| number >= least)
            && self.maximum.is_none_or(|most| number <= most);
        if fits {
            return Ok(());
        }
        Err(match (self.minimum, self.maximum) {
            (Some(least), Some(most)) => {
                format!("{number} is not a number from {least} to {most}")
            }
            (Some(least), None) => format!("{number} is less than {least}"),
            (None, Some(most)) => format!("{number} is more than {most}"),
            (None, None) => format!("{number} is not a finite number"),
        })
    }
}

impl ConfigKey {
    /// Returns the variable that overrides it, such as `LANGO_AGENT_MULTIAGENT`; none below free
    /// names.
    pub fn variable(&self) -> Option<String> {
        (!self.path.contains('*'))
            .then(|| format!("LANGO_{}", self.path.replace('.', "_").to_uppercase()))
    }

    /// Tells whether `path` names this key.
    pub fn matches(&self, path: &[&str]) -> bool {
        let own: Vec<&str> = self.path.split('.').collect();
        own.len() == path.len()
            && own.iter().zip(path).all(|(own, given)| *own == "*" || own == given)
    }
}

/// Returns the JSON schema of the configuration file.
pub fn config_schema() -> Schema {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Config>()
}

/// Returns every key that can be set, in the order of the schema.
pub fn known_keys() -> Vec<ConfigKey> {
    let mut keys = Vec::new();
    collect_keys(config_schema().as_value(), String::new(), "", &mut keys);
    keys
}

/// Collects the keys of a schema. A key without a description gets that of its section.
fn collect_keys(schema: &serde_json::Value, path: String, above: &str, keys: &mut Vec<ConfigKey>) {
    let description = schema.get("description").and_then(|text| text.as_str()).unwrap_or(above);
    let below =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    if let Some(properties) = schema.get("properties").and_then(|p| p.as_object()) {
        for (name, property) in properties {
            collect_keys(property, below(name), description, keys);
        }
    } else if let Some(values) = schema.get("additionalProperties").filter(|v| v.is_object()) {
        collect_keys(values, below("*"), description, keys);
    } else {
        let description = description.replace('\n', " ");
        let is_list = schema.get("type").is_some_and(|kind| kind == "array");
        let number = |name: &str| schema.get(name).and_then(serde_json::Value::as_f64);
        let range = NumberRange { minimum: number("minimum"), maximum: number("maximum") };
        keys.push(ConfigKey { path, description, is_list, range });
    }
}

/// Returns the known key that is most similar to `given`.
pub(super) fn find_nearest_key<'a>(
    given: &str,
    known: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let score = |known: &str| strsim::jaro_winkler(&given.to_lowercase(), &known.to_lowercase());
    known
        .map(|known| (score(known), known))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_with_its_description_and_variable() {
        let keys = known_keys();
        let key = keys.iter().find(|key| key.path == "agent.multiAgent").unwrap();
        assert_eq!(key.variable().unwrap(), "LANGO_AGENT_MULTIAGENT");
        assert!(key.description.contains("orchestrator"));
        let free = keys.iter().find(|key| key.path == "providers.*.baseUrl").unwrap();
        assert!(free.matches(&["providers", "local", "baseUrl"]) && free.variable().is_none());
        assert!(keys.iter().all(|key| !key.description.is_empty()), "{keys:?}");
    }
}
