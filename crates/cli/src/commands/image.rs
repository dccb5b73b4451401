//! Images that are sent with a message.

use std::path::Path;

use lango_model::Image;

use crate::failure::Failure;

/// Limits the size of a file; providers accept about as much.
const MAX_IMAGE_BYTES: u64 = 10 * 1024 * 1024;

/// Reads an image. Its first bytes tell its type.
pub(super) fn read_image(path: &Path) -> Result<Image, Failure> {
    let shown = path.display();
    let unreadable =
        |error: std::io::Error| Failure::usage(format!("cannot read the image {shown}: {error}"));
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_IMAGE_BYTES {
        return Err(Failure::usage(format!(
            "the image {shown} has {size} bytes, and at most {MAX_IMAGE_BYTES} can be sent. \
             Make it smaller first"
        )));
    }
    let data = std::fs::read(path).map_err(unreadable)?;
    let media_type = detect_media_type(&data)
        .ok_or_else(|| Failure::usage(format!("{shown} is not a PNG, JPEG, GIF or WebP image")))?;
    Ok(Image { media_type: media_type.to_owned(), data: data.into() })
}

fn detect_media_type(data: &[u8]) -> Option<&'static str> {
    match data {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_known_by_its_first_bytes() {
        assert_eq!(detect_media_type(b"\x89PNG\r\n\x1a\n"), Some("image/png"));
        assert_eq!(detect_media_type(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(detect_media_type(b"RIFF\0\0\0\0WAVE"), None);
        assert_eq!(detect_media_type(b"<svg/>"), None);
    }
}
