//! Stores the images of a message in the journal, and loads them again for a resumed turn.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use lango_model::Image;
use lango_protocol::{ImageReference, SessionId, TurnId};
use lango_store::{Journal, StoredOutput};

use crate::TurnError;

/// Converts images to their journal form: a reference in the event, the bytes as a stored output.
pub(crate) fn store_images(
    turn: TurnId,
    images: &[Image],
) -> (Vec<ImageReference>, Vec<StoredOutput>) {
    let stored = images.iter().enumerate().map(|(number, image)| {
        let reference = format!("{turn}-image-{}", number + 1);
        let event = ImageReference {
            media_type: image.media_type.clone(),
            bytes: image.data.len() as u64,
            reference: reference.clone(),
        };
        (event, StoredOutput { reference, text: BASE64.encode(&image.data) })
    });
    stored.unzip()
}

/// Loads the images of a resumed turn. The turn goes on without an image that is gone.
pub(crate) async fn load_images(
    journal: &Journal,
    session: &SessionId,
    references: &[ImageReference],
) -> Result<Vec<Image>, TurnError> {
    let mut images = Vec::with_capacity(references.len());
    for image in references {
        let reference = &image.reference;
        let Some(text) = journal.read_output(session, reference).await? else {
            tracing::warn!(%session, reference, "an image of the turn is not in the journal");
            continue;
        };
        match BASE64.decode(text) {
            Ok(data) => {
                let data = Bytes::from(data);
                images.push(Image { media_type: image.media_type.clone(), data });
            }
            Err(error) => {
                tracing::warn!(%session, reference, %error, "an image of the turn is damaged");
            }
        }
    }
    Ok(images)
}
