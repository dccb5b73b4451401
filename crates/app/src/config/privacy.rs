//! Personal data in requests to models: the keys of `[privacy]`.

use std::collections::BTreeMap;

use lango_redaction::{InvalidPattern, PersonalData, PrivacyFilter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Personal data in requests to models.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PrivacyConfig {
    /// What is replaced by placeholders before a model sees it, and put back into its answer: `email`,
    /// `phone`, `card`, `iban`.
    pub redact: Vec<PersonalDataName>,
    /// Regular expressions for more of it, by a name of your choice.
    pub patterns: BTreeMap<String, String>,
}

/// A kind of personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PersonalDataName {
    /// E-mail addresses.
    Email,
    /// Telephone numbers.
    Phone,
    /// Numbers of payment cards.
    Card,
    /// Bank account numbers.
    Iban,
}

impl PrivacyConfig {
    /// Returns the filter, or `None` if nothing is to be replaced.
    pub fn build_filter(&self) -> Result<Option<PrivacyFilter>, InvalidPattern> {
        if self.redact.is_empty() && self.patterns.is_empty() {
            return Ok(None);
        }
        let kinds = self.redact.iter().map(|name| match name {
            PersonalDataName::Email => PersonalData::Email,
            PersonalDataName::Phone => PersonalData::Phone,
            PersonalDataName::Card => PersonalData::Card,
            PersonalDataName::Iban => PersonalData::Iban,
        });
        let patterns =
            self.patterns.iter().map(|(name, pattern)| (name.as_str(), pattern.as_str()));
        PrivacyFilter::new(kinds, patterns).map(Some)
    }
}
