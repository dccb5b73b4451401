//! Decides which connections stay when more come than the server keeps.
//!
//! A client that has shown a token is never kept waiting by those that have not: of these only so many
//! stay, and the newest stay, so that a connection which says nothing makes room for one which does.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Limits the simultaneous connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    /// All of them.
    pub(crate) total: usize,
    /// Those on which no token was shown.
    pub(crate) anonymous: usize,
}

/// Holds the open connections. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionTable {
    limits: ConnectionLimits,
    // Connections come, go and change on tasks of their own; locked for one look at the table.
    state: Arc<Mutex<TableState>>,
    freed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct TableState {
    /// Numbers connections and moments, so that the older one is known.
    next: u64,
    entries: BTreeMap<u64, ConnectionEntry>,
}

#[derive(Debug)]
struct ConnectionEntry {
    address: IpAddr,
    is_authenticated: bool,
    is_at_work: bool,
    /// The moment of its last request or, before the first, of its opening.
    last_used: u64,
    closing: CancellationToken,
}

/// A connection of the table. It leaves the table when this is dropped.
#[derive(Debug)]
pub(crate) struct OpenConnection {
    handle: ConnectionHandle,
    closing: CancellationToken,
}

/// Tells the table what happens on a connection. Requests carry it.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionHandle {
    table: ConnectionTable,
    number: u64,
}

impl ConnectionTable {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        Self { limits, state: Arc::default(), freed: Arc::default() }
    }

    /// Adds a connection and closes another one where there are too many. Returns `None` if all of
    /// them work for clients that have shown a token.
    pub(crate) fn admit(&self, address: IpAddr) -> Option<OpenConnection> {
        let mut state = self.state.lock();
        let anonymous = state.entries.values().filter(|entry| !entry.is_authenticated).count();
        let is_full = state.entries.len() >= self.limits.total;
        if is_full || anonymous >= self.limits.anonymous {
            let victim = state.oldest_anonymous().or_else(|| state.longest_idle())?;
            if let Some(entry) = state.entries.remove(&victim) {
                entry.closing.cancel();
            }
        }
        let number = state.count();
        let closing = CancellationToken::new();
        let entry = ConnectionEntry {
            address,
            is_authenticated: false,
            is_at_work: false,
            last_used: number,
            closing: closing.clone(),
        };
        state.entries.insert(number, entry);
        let handle = ConnectionHandle { table: self.clone(), number };
        Some(OpenConnection { handle, closing })
    }

    /// Waits until a connection has ended or become idle since the last call.
    pub(crate) async fn wait_for_room(&self) {
        self.freed.notified().await;
    }
}

impl TableState {
    fn count(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Returns the oldest connection without a token, of the address that has most of them.
    fn oldest_anonymous(&self) -> Option<u64> {
        let anonymous = || self.entries.iter().filter(|(_, entry)| !entry.is_authenticated);
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for (_, entry) in anonymous() {
            *counts.entry(entry.address).or_default() += 1;
        }
        let (address, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        anonymous().find(|(_, entry)| entry.address == address).map(|(number, _)| *number)
    }

    /// Returns the connection that has waited longest for its next request.
    fn longest_idle(&self) -> Option<u64> {
        let idle = self.entries.iter().filter(|(_, entry)| !entry.is_at_work);
        idle.min_by_key(|(_, entry)| entry.last_used).map(|(number, _)| *number)
    }
}

impl OpenConnection {
    pub(crate) fn handle(&self) -> &ConnectionHandle {
        &self.handle
    }

    /// Waits until the connection has to make room for another one.
    pub(crate) async fn make_room(&self) {
        self.closing.cancelled().await;
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.handle.table.state.lock().entries.remove(&self.handle.number);
        self.handle.table.freed.notify_one();
    }
}

impl ConnectionHandle {
    /// Notes that a token was shown.
    pub(crate) fn mark_authenticated(&self) {
        self.change(|entry, _| entry.is_authenticated = true);
    }

    /// Notes a request, which is at work until the guard is dropped.
    pub(crate) fn begin_request(&self) -> RequestGuard {
        self.change(|entry, _| entry.is_at_work = true);
        RequestGuard { handle: self.clone() }
    }

    fn change(&self, change: impl FnOnce(&mut ConnectionEntry, u64)) {
        let mut state = self.table.state.lock();
        let now = state.count();
        if let Some(entry) = state.entries.get_mut(&self.number) {
            change(entry, now);
        }
    }
}

/// Marks a connection as at work.
#[derive(Debug)]
pub(crate) struct RequestGuard {
    handle: ConnectionHandle,
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.handle.change(|entry, now| {
            entry.is_at_work = false;
            entry.last_used = now;
        });
        self.handle.table.freed.notify_one();
    }
}

/// A response body that keeps its connection at work until it is sent.
pub(crate) struct TrackedBody {
    body: Body,
    _request: RequestGuard,
}

impl TrackedBody {
    pub(crate) fn new(body: Body, request: RequestGuard) -> Self {
        Self { body, _request: request }
    }
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(total: usize, anonymous: usize) -> ConnectionTable {
        ConnectionTable::new(ConnectionLimits { total, anonymous })
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn silent_connections_make_room_for_newer_ones() {
        let table = table(10, 3);
        let silent: Vec<_> = (0..3).map(|_| table.admit(address(1)).unwrap()).collect();
        let newest = table.admit(address(2)).unwrap();
        let closed: Vec<bool> = silent.iter().map(|one| one.closing.is_cancelled()).collect();
        assert_eq!(closed, [true, false, false]);
        assert!(!newest.closing.is_cancelled());
    }

    #[test]
    fn the_address_with_most_silent_connections_gives_way() {
        let table = table(10, 3);
        let lonely = table.admit(address(1)).unwrap();
        let many: Vec<_> = (0..2).map(|_| table.admit(address(2)).unwrap()).collect();
        let _newest = table.admit(address(3)).unwrap();
        assert!(!lonely.closing.is_cancelled());
        assert!(many[0].closing.is_cancelled() && !many[1].closing.is_cancelled());
    }

    #[test]
    fn who_has_shown_a_token_stays_while_at_work_and_gives_way_when_idle() {
        let table = table(3, 2);
        let open = || {
            let connection = table.admit(address(1)).unwrap();
            connection.handle().mark_authenticated();
            let request = connection.handle().begin_request();
            (connection, request)
        };
        let (first, first_request) = open();
        let (second, second_request) = open();
        let (third, _third_request) = open();
        assert!(table.admit(address(2)).is_none());
        drop(second_request);
        drop(first_request);
        let newest = table.admit(address(2)).unwrap();
        assert!(second.closing.is_cancelled());
        assert!(!first.closing.is_cancelled() && !third.closing.is_cancelled());
        // The next one replaces the one that has said nothing yet.
        let _next = table.admit(address(2)).unwrap();
        assert!(newest.closing.is_cancelled() && !first.closing.is_cancelled());
    }

    #[test]
    fn a_connection_that_ended_is_counted_no_more() {
        let table = table(2, 2);
        let one = table.admit(address(1)).unwrap();
        drop(table.admit(address(1)).unwrap());
        let _two = table.admit(address(1)).unwrap();
        assert!(!one.closing.is_cancelled());
    }
}
