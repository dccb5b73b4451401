//! Parses the content of a message: text and images.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lango_model::Image;
use serde_json::Value;

use super::error::ApiError;
use super::parameters::{RequestParameters, wrong_type_error};

/// Limits the size of an image; providers have similar limits.
const MAX_IMAGE_BYTES: usize = 10 * 1024 * 1024;
/// Limits the parts of one message.
const MAX_PART_COUNT: usize = 256;

/// Holds the text and the images of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MessageContent {
    pub(super) text: String,
    pub(super) images: Vec<Image>,
}

impl MessageContent {
    /// Parses a text or a list of parts.
    pub(super) fn of(value: Option<Value>, name: &str) -> Result<Self, ApiError> {
        match value {
            None => Ok(Self::default()),
            Some(Value::String(text)) => Ok(Self { text, images: Vec::new() }),
            Some(Value::Array(parts)) if parts.len() <= MAX_PART_COUNT => {
                let mut content = Self::default();
                for (number, part) in parts.into_iter().enumerate() {
                    let part = RequestParameters::of_value(part, format!("{name}[{number}]"))?;
                    content.add(part)?;
                }
                Ok(content)
            }
            Some(Value::Array(_)) => {
                let words = format!("{name:?} has more than {MAX_PART_COUNT} parts");
                Err(ApiError::invalid(name, words))
            }
            Some(other) => Err(wrong_type_error(name, "a string or an array of parts", &other)),
        }
    }

    fn add(&mut self, mut part: RequestParameters) -> Result<(), ApiError> {
        let kind = part.required_text("type")?;
        match kind.as_str() {
            "text" | "refusal" => {
                if !self.text.is_empty() {
                    self.text.push_str("\n\n");
                }
                self.text.push_str(&part.required_text(&kind)?);
            }
            "image_url" => {
                let name = part.name("image_url");
                let url = match part.take("image_url") {
                    Some(Value::String(url)) => url,
                    Some(value) => {
                        RequestParameters::of_value(value, &name)?.required_text("url")?
                    }
                    None => return Err(super::parameters::missing_error(&name)),
                };
                self.images.push(decode_image(&url, &name)?);
            }
            other => {
                let words =
                    format!("parts of the type {other:?} are not supported: use text or image_url");
                return Err(ApiError::invalid(part.name("type"), words).with_code("invalid_value"));
            }
        }
        Ok(())
    }
}

/// Decodes an image in the request. Images at other addresses are not fetched, because a client
/// must not make this machine send requests.
fn decode_image(url: &str, name: &str) -> Result<Image, ApiError> {
    let wrong = |words: &str| ApiError::invalid(name, words).with_code("invalid_image_url");
    let data = url.strip_prefix("data:").ok_or_else(|| {
        wrong("images are accepted as data: URLs only. Send the image itself, in base64")
    })?;
    let (head, encoded) =
        data.split_once(',').ok_or_else(|| wrong("the data: URL has no comma, and so no data"))?;
    if !head.split(';').any(|word| word.eq_ignore_ascii_case("base64")) {
        return Err(wrong("the data: URL is not in base64"));
    }
    if encoded.len() / 4 * 3 > MAX_IMAGE_BYTES {
        return Err(wrong("the picture is larger than 10 MiB"));
    }
    let data = BASE64.decode(encoded).map_err(|_| wrong("the data: URL is not valid base64"))?;
    let media_type = detect_media_type(&data)
        .ok_or_else(|| wrong("the picture is not a PNG, JPEG, GIF or WebP image"))?;
    Ok(Image { media_type: media_type.to_owned(), data: data.into() })
}

/// Detects the media type from the first bytes, whatever the client claims.
fn detect_media_type(data: &[u8]) -> Option<&'static str> {
    match data {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
