//! Reads the texts of a request without copying them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// Represents a text of the request, borrowed from the body where it has no escapes.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// The content of a message: plain text, or a list of blocks.
#[derive(Debug)]
pub(super) enum Content<'a, B> {
    Text(Cow<'a, str>),
    Blocks(Vec<B>),
}

impl<'de: 'a, 'a, B: Deserialize<'de>> Deserialize<'de> for Content<'a, B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<B>(PhantomData<B>);
        impl<'de, B: Deserialize<'de>> Visitor<'de> for Either<B> {
            type Value = Content<'de, B>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of content blocks")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(block) = blocks.next_element()? {
                    all.push(block);
                }
                Ok(Content::Blocks(all))
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}

/// Returns the name in an error about a field that the request must not have.
pub(super) fn unknown_field(error: &serde_json::Error) -> Option<String> {
    let text = error.to_string();
    let (_, rest) = text.split_once("unknown field `")?;
    rest.split_once('`').map(|(name, _)| name.to_owned())
}

/// Tells whether a name consists of letters, digits, `_` and `-`, and is not too long.
pub(super) fn is_plain(name: &str, max_length: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=max_length).contains(&name.len()) && name.bytes().all(plain)
}

/// Tells whether a text is valid base64.
pub(super) fn is_base64(text: &str) -> bool {
    use base64::Engine as _;
    !text.is_empty() && base64::engine::general_purpose::STANDARD.decode(text).is_ok()
}
