//! Encrypts data of any size in pieces.
//!
//! A file begins with a header and a random number. Each piece of 64 KiB is sealed with
//! XChaCha20-Poly1305; its nonce has the random number, the number of the piece, and whether it is the
//! last. So pieces cannot be changed, swapped, repeated or left out, at the end either.

use std::io::{Read, Write};

use chacha20poly1305::aead::{Aead as _, KeyInit as _};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use lango_keystore::{EncryptionKey, SecretBytes};
use lango_tool::{ToolContext, ToolError};
use zeroize::Zeroizing;

use super::source::{PIECE_BYTES, read_piece};

const HEADER: &[u8; 12] = b"LANGO-ENC-1\n";
const PREFIX_BYTES: usize = 16;
const TAG_BYTES: usize = 16;

/// Numbers the pieces of one stream.
struct PieceNonce {
    prefix: [u8; PREFIX_BYTES],
    count: u64,
}

impl PieceNonce {
    fn next(&mut self, is_last: bool) -> XNonce {
        let mut nonce = [0; 24];
        nonce[..PREFIX_BYTES].copy_from_slice(&self.prefix);
        nonce[PREFIX_BYTES..].copy_from_slice(&self.count.to_be_bytes());
        // Seven bytes count more pieces than there are bytes on any disk; the eighth marks the last.
        nonce[PREFIX_BYTES] = u8::from(is_last);
        self.count += 1;
        XNonce::from(nonce)
    }
}

/// Encrypts a source to its end, and returns how many bytes it had.
pub(crate) fn encrypt_stream(
    key: &EncryptionKey,
    source: &mut dyn Read,
    target: &mut dyn Write,
    context: &ToolContext,
) -> Result<u64, ToolError> {
    let cipher = XChaCha20Poly1305::new(key.reveal().into());
    let random = SecretBytes::random(PREFIX_BYTES).map_err(|error| failed(&error))?;
    let mut prefix = [0; PREFIX_BYTES];
    prefix.copy_from_slice(random.reveal());
    write(target, HEADER)?;
    write(target, &prefix)?;
    let mut nonce = PieceNonce { prefix, count: 0 };
    let mut total = 0;
    let mut piece = Zeroizing::new(vec![0; PIECE_BYTES]);
    let mut next = Zeroizing::new(vec![0; PIECE_BYTES]);
    let mut count = read_piece(source, &mut piece)?;
    loop {
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let following = if count < PIECE_BYTES { 0 } else { read_piece(source, &mut next)? };
        let is_last = following == 0;
        let sealed = cipher.encrypt(&nonce.next(is_last), &piece[..count]);
        write(target, &sealed.map_err(|_| ToolError::Failed("encryption failed".into()))?)?;
        total += count as u64;
        if is_last {
            return Ok(total);
        }
        std::mem::swap(&mut piece, &mut next);
        count = following;
    }
}

/// Decrypts what [`encrypt_stream`] wrote, and returns how many bytes it is.
pub(crate) fn decrypt_stream(
    key: &EncryptionKey,
    source: &mut dyn Read,
    target: &mut dyn Write,
    context: &ToolContext,
) -> Result<u64, ToolError> {
    let cipher = XChaCha20Poly1305::new(key.reveal().into());
    let mut header = [0; HEADER.len() + PREFIX_BYTES];
    let is_whole = read_piece(source, &mut header)? == header.len();
    if !is_whole || !header.starts_with(HEADER) {
        return Err(ToolError::Failed("this was not encrypted by crypto_encrypt".into()));
    }
    let mut prefix = [0; PREFIX_BYTES];
    prefix.copy_from_slice(&header[HEADER.len()..]);
    let mut nonce = PieceNonce { prefix, count: 0 };
    let mut total = 0;
    let size = PIECE_BYTES + TAG_BYTES;
    let (mut piece, mut next) = (vec![0; size], vec![0; size]);
    let mut count = read_piece(source, &mut piece)?;
    loop {
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let following = if count < size { 0 } else { read_piece(source, &mut next)? };
        let is_last = following == 0;
        let opened = cipher.decrypt(&nonce.next(is_last), &piece[..count]);
        let opened = Zeroizing::new(opened.map_err(|_| {
            ToolError::Failed("the key is another one, or the data was changed or cut short".into())
        })?);
        write(target, &opened)?;
        total += opened.len() as u64;
        if is_last {
            return Ok(total);
        }
        std::mem::swap(&mut piece, &mut next);
        count = following;
    }
}

fn write(target: &mut dyn Write, bytes: &[u8]) -> Result<(), ToolError> {
    target.write_all(bytes).map_err(|error| failed(&error))
}

fn failed(error: &dyn std::fmt::Display) -> ToolError {
    ToolError::Failed(format!("writing failed: {error}"))
}
