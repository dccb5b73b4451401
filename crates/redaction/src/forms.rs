//! Lists the forms in which a value can appear in a text.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use lango_text::hex;
use zeroize::Zeroizing;

/// Sets the minimum length of a value that is looked for. Shorter ones are too likely to be ordinary
/// words.
pub const MIN_SECRET_BYTES: usize = 8;

/// Sets the minimum length of a line of a value that is looked for on its own.
const MIN_LINE_BYTES: usize = 16;

/// One form of a value.
pub(crate) type Form = Zeroizing<Vec<u8>>;

/// Returns the forms of a value: itself, its lines, and its encodings. None if it is too short.
pub(crate) fn list_forms(value: &[u8]) -> Vec<Form> {
    let mut forms = FormSet::default();
    let trimmed = value.trim_ascii();
    if trimmed.len() < MIN_SECRET_BYTES {
        return Vec::new();
    }
    forms.add_all(trimmed);
    if let Ok(text) = std::str::from_utf8(trimmed)
        && text.contains('\n')
    {
        for line in text.lines().map(str::trim).filter(|line| line.len() >= MIN_LINE_BYTES) {
            forms.add_all(line.as_bytes());
        }
    }
    forms.0
}

#[derive(Default)]
struct FormSet(Vec<Form>);

impl FormSet {
    fn add_all(&mut self, value: &[u8]) {
        // The forms of texts are texts, so that a match always begins and ends at a character.
        if let Ok(text) = std::str::from_utf8(value) {
            self.add(text.as_bytes().to_vec());
            self.add(text.chars().rev().collect::<String>().into_bytes());
            self.add_escaped(text);
        }
        self.add_percent_encoded(value);
        self.add(hex(value).into_bytes());
        self.add(hex(value).to_ascii_uppercase().into_bytes());
        self.add_base64(value);
    }

    fn add(&mut self, form: Vec<u8>) {
        let form = Zeroizing::new(form);
        if form.len() >= MIN_SECRET_BYTES && !self.0.contains(&form) {
            self.0.push(form);
        }
    }

    /// Adds the value as it stands between the quotes of a JSON text.
    fn add_escaped(&mut self, text: &str) {
        let mut escaped = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                '"' | '\\' => escaped.extend(['\\', character]),
                '\n' => escaped.push_str("\\n"),
                '\r' => escaped.push_str("\\r"),
                '\t' => escaped.push_str("\\t"),
                other => escaped.push(other),
            }
        }
        // Some programs escape the slash as well.
        self.add(escaped.replace('/', "\\/").into_bytes());
        self.add(escaped.into_bytes());
    }

    /// Adds the value as it stands in an address: what has to be encoded, what some programs encode
    /// as well, and every byte.
    fn add_percent_encoded(&mut self, value: &[u8]) {
        let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let strict = |byte: u8| byte.is_ascii_alphanumeric();
        let none = |_: u8| false;
        let spared: [&dyn Fn(u8) -> bool; 3] = [&unreserved, &strict, &none];
        for is_spared in spared {
            let encoded: String = value
                .iter()
                .map(|&byte| {
                    if is_spared(byte) {
                        char::from(byte).to_string()
                    } else {
                        format!("%{byte:02X}")
                    }
                })
                .collect();
            let with_plus = encoded.replace("%20", "+");
            self.add(lower_escapes(&encoded).into_bytes());
            self.add(with_plus.into_bytes());
            self.add(encoded.into_bytes());
        }
    }

    /// Adds the part of the value's base64 that is the same whatever stands before and after it, for
    /// each of the three places at which it can begin.
    fn add_base64(&mut self, value: &[u8]) {
        for before in 0..3 {
            let mut padded = Zeroizing::new(vec![0; before]);
            padded.extend_from_slice(value);
            // A character holds six bits: the first ones have bits of what stands before, the last
            // one may have bits of what follows.
            let first = (before * 8).div_ceil(6);
            let end = padded.len() * 8 / 6;
            for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                let encoded = Zeroizing::new(engine.encode(&*padded).into_bytes());
                self.add(encoded[first..end].to_vec());
            }
        }
    }
}

/// Writes the digits of percent escapes in lower case.
fn lower_escapes(encoded: &str) -> String {
    let mut digits = 0;
    let lower = |character: char| match (character, digits) {
        ('%', _) => {
            digits = 2;
            character
        }
        (_, 1..) => {
            digits -= 1;
            character.to_ascii_lowercase()
        }
        _ => character,
    };
    encoded.chars().map(lower).collect()
}
