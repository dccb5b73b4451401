//! Copies bytes in both directions and counts them, until both sides have ended or nothing moves
//! any more.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{BlockedRequest, Shared};
use crate::destination::Destination;

const PIECE_BYTES: usize = 16 * 1024;

/// Says why a tunnel was closed although its ends were not done.
enum CloseReason {
    Idle,
    TooLong,
}

pub(super) async fn run<S: AsyncRead + AsyncWrite>(
    client: S,
    upstream: TcpStream,
    destination: &Destination,
    shared: &Shared,
) {
    let (up, down) = (AtomicU64::new(0), AtomicU64::new(0));
    let (client_read, client_write) = tokio::io::split(client);
    let (upstream_read, upstream_write) = tokio::io::split(upstream);
    let limits = &shared.limits;
    let outwards = copy(client_read, upstream_write, &up, u64::MAX);
    let inwards = copy(upstream_read, client_write, &down, limits.tunnel_bytes);
    let both = async {
        // Errors of either end are not reported; only our own limit is.
        let (_, inwards) = tokio::join!(outwards, inwards);
        inwards.is_ok_and(|cut| cut).then_some(CloseReason::TooLong)
    };
    let standstill = async {
        let mut before = 0;
        loop {
            tokio::time::sleep(limits.idle_timeout).await;
            let moved = up.load(Ordering::Relaxed) + down.load(Ordering::Relaxed);
            if moved == before {
                return Some(CloseReason::Idle);
            }
            before = moved;
        }
    };
    let cut = tokio::select! {
        cut = both => cut,
        cut = standstill => cut,
        () = shared.stop.cancelled() => None,
    };
    if let Some(CloseReason::TooLong) = cut {
        let reason = format!("more than {} bytes through one connection", limits.tunnel_bytes);
        let target = destination.to_string();
        let explanation = format!("{target} was cut off: {reason}");
        shared.store_blocked(BlockedRequest { target, reason, explanation });
    }
}

/// Copies until the end, or until `max_bytes` bytes have passed: then `true`.
async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    passed: &AtomicU64,
    max_bytes: u64,
) -> io::Result<bool> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let length = from.read(&mut piece).await?;
        if length == 0 {
            to.shutdown().await?;
            return Ok(false);
        }
        let before = passed.fetch_add(length as u64, Ordering::Relaxed);
        if before + length as u64 > max_bytes {
            to.shutdown().await?;
            return Ok(true);
        }
        to.write_all(&piece[..length]).await?;
    }
}
