//! Replaces personal data in requests to a model, and puts it back into the reply.
//!
//! What is found is numbered in the order of its first appearance, so that the same conversation gives
//! the same request. The model works with placeholders; the user sees the data.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use regex::Regex;

/// A kind of personal data that is recognised without a pattern of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonalData {
    /// An e-mail address.
    Email,
    /// A telephone number with its country code, or with a leading zero.
    Phone,
    /// The number of a payment card, with a right check digit.
    Card,
    /// An international bank account number, with right check digits.
    Iban,
}

impl PersonalData {
    fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Card => "card",
            Self::Iban => "iban",
        }
    }

    fn pattern(self) -> &'static str {
        match self {
            Self::Email => r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
            Self::Phone => {
                r"(?:\+[0-9]{1,3}|\b0)[ ./-]?(?:\([0-9]{1,4}\)[ ./-]?)?[0-9](?:[ ./-]?[0-9]){6,12}\b"
            }
            Self::Card => r"\b[0-9](?:[ -]?[0-9]){12,18}\b",
            Self::Iban => r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}\b",
        }
    }

    /// Tells whether a match really is one.
    fn confirms(self, found: &str) -> bool {
        match self {
            Self::Email | Self::Phone => true,
            Self::Card => has_luhn_digit(found),
            Self::Iban => has_iban_digits(found),
        }
    }
}

/// Recognises personal data.
pub struct PrivacyFilter {
    rules: Vec<(String, Regex, Option<PersonalData>)>,
}

/// A pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidPattern {
    /// The name of the pattern.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for InvalidPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pattern {} cannot be used: {}", self.name, self.reason)
    }
}

impl std::error::Error for InvalidPattern {}

impl PrivacyFilter {
    /// Creates a filter for kinds of data and for patterns with names.
    pub fn new<'a>(
        kinds: impl IntoIterator<Item = PersonalData>,
        patterns: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, InvalidPattern> {
        // An account number may look like a card or a telephone number, so it comes first.
        let mut kinds: Vec<PersonalData> = kinds.into_iter().collect();
        kinds.sort_by_key(|kind| match kind {
            PersonalData::Iban => 0,
            PersonalData::Card => 1,
            PersonalData::Email => 2,
            PersonalData::Phone => 3,
        });
        let built_in = kinds.into_iter().map(|kind| (kind.name(), kind.pattern(), Some(kind)));
        let own = patterns.into_iter().map(|(name, pattern)| (name, pattern, None));
        let compile = |(name, pattern, kind): (&str, &str, Option<PersonalData>)| {
            let regex = Regex::new(pattern).map_err(|error| InvalidPattern {
                name: name.to_owned(),
                reason: error.to_string(),
            })?;
            Ok((name.to_owned(), regex, kind))
        };
        Ok(Self { rules: own.chain(built_in).map(compile).collect::<Result<_, _>>()? })
    }

    /// Returns the text with personal data replaced by placeholders such as `[email:1]`.
    pub fn redact<'a>(&self, text: &'a str, placeholders: &mut Placeholders) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for (name, regex, kind) in &self.rules {
            if !regex.is_match(&text) {
                continue;
            }
            let replaced = regex.replace_all(&text, |captures: &regex::Captures<'_>| {
                let found = &captures[0];
                if kind.is_none_or(|kind| kind.confirms(found)) {
                    placeholders.stand_in(name, found)
                } else {
                    found.to_owned()
                }
            });
            text = Cow::Owned(replaced.into_owned());
        }
        text
    }
}

impl fmt::Debug for PrivacyFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivacyFilter({} rules)", self.rules.len())
    }
}

/// The placeholders of one request, with what they stand for.
#[derive(Clone, Default)]
pub struct Placeholders {
    by_value: HashMap<String, String>,
    by_placeholder: HashMap<String, String>,
}

impl Placeholders {
    fn stand_in(&mut self, name: &str, value: &str) -> String {
        if let Some(known) = self.by_value.get(value) {
            return known.clone();
        }
        let placeholder = format!("[{name}:{}]", self.by_value.len() + 1);
        self.by_value.insert(value.to_owned(), placeholder.clone());
        self.by_placeholder.insert(placeholder.clone(), value.to_owned());
        placeholder
    }

    /// Returns a text of the model with the data in place of its placeholders.
    pub fn restore(&self, text: &str) -> String {
        let mut restored = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find('[') {
            restored.push_str(&rest[..start]);
            rest = &rest[start..];
            let end = rest.find(']').map(|end| end + 1);
            let value = end.and_then(|end| self.by_placeholder.get(&rest[..end]).map(|v| (v, end)));
            if let Some((value, end)) = value {
                restored.push_str(value);
                rest = &rest[end..];
            } else {
                restored.push('[');
                rest = &rest[1..];
            }
        }
        restored.push_str(rest);
        restored
    }

    /// Returns the beginning of a text in pieces that no further piece can make a placeholder of. The
    /// rest comes with the next piece.
    pub fn split_open_end<'a>(&self, text: &'a str) -> (&'a str, &'a str) {
        let Some(start) = text.rfind('[') else { return (text, "") };
        let end = &text[start..];
        let is_open = self
            .by_placeholder
            .keys()
            .any(|known| known.len() > end.len() && known.starts_with(end));
        if is_open { text.split_at(start) } else { (text, "") }
    }

    /// Tells whether nothing was replaced.
    pub fn is_empty(&self) -> bool {
        self.by_value.is_empty()
    }
}

impl fmt::Debug for Placeholders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Placeholders({})", self.by_value.len())
    }
}

fn has_luhn_digit(found: &str) -> bool {
    let digits = found.chars().rev().filter_map(|character| character.to_digit(10));
    let sum: u32 = digits
        .enumerate()
        .map(|(index, digit)| match index % 2 {
            0 => digit,
            _ => digit * 2 / 10 + digit * 2 % 10,
        })
        .sum();
    sum > 0 && sum.is_multiple_of(10)
}

fn has_iban_digits(found: &str) -> bool {
    let compact: String = found.chars().filter(|character| *character != ' ').collect();
    let Some((head, tail)) = compact.split_at_checked(4) else { return false };
    let mut remainder = 0;
    for character in tail.chars().chain(head.chars()) {
        let Some(value) = character.to_digit(36) else { return false };
        let shift = if value < 10 { 10 } else { 100 };
        remainder = (remainder * shift + value) % 97;
    }
    remainder == 1
}
