//! Decides whether a destination may be reached, and at which addresses.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;

use crate::address::{AddressKind, kind_of};
use crate::destination::Destination;
use crate::error::{EgressError, Refusal};
use crate::resolve::{Resolve, SystemResolver};
use crate::rules::Rules;

const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Limits the addresses of a name; no honest name has more.
const MAX_ADDRESS_COUNT: usize = 64;

/// Lists the names of clouds' credential services, refused whatever a resolver returns.
const METADATA_NAMES: [&str; 3] = ["metadata.google.internal", "metadata.goog", "metadata"];

/// Decides which destinations may be reached. It is cheap to clone.
#[derive(Clone)]
pub struct Guard {
    rules: Arc<Rules>,
    resolver: Arc<dyn Resolve>,
}

impl Guard {
    /// Makes a guard with the resolver of this machine.
    pub fn new(rules: Rules) -> Self {
        Self::with_resolver(rules, Arc::new(SystemResolver))
    }

    /// Makes a guard with another resolver.
    pub fn with_resolver(rules: Rules, resolver: Arc<dyn Resolve>) -> Self {
        Self { rules: Arc::new(rules), resolver }
    }

    /// Checks a destination as far as possible before its name is resolved. This is enough for an
    /// early, clear refusal; it is never enough to connect.
    pub fn check(&self, destination: &Destination) -> Result<(), Refusal> {
        let port = destination.port();
        if let Some(address) = destination.address() {
            self.check_lists(destination, &[address])?;
            return self.check_address(destination, address);
        }
        self.check_lists(destination, &[])?;
        let Some(name) = destination.name() else { return Ok(()) };
        let allowed = || self.rules.allow_private.iter().any(|p| p.matches_name(name, port));
        let kind = if METADATA_NAMES.contains(&name) {
            AddressKind::Metadata
        } else if name == "localhost" || name.ends_with(".localhost") {
            AddressKind::Loopback
        } else {
            return Ok(());
        };
        if allowed() {
            return Ok(());
        }
        Err(Refusal::Name { destination: destination.to_string(), kind })
    }

    /// Returns the addresses of a destination, every one of them checked. Connect to these and do
    /// not resolve the name again.
    pub async fn resolve(&self, destination: &Destination) -> Result<Vec<SocketAddr>, EgressError> {
        self.check(destination)?;
        let port = destination.port();
        let Some(name) = destination.name() else {
            return Ok(destination
                .address()
                .map(|ip| SocketAddr::new(ip, port))
                .into_iter()
                .collect());
        };
        let unresolved = |reason: String| EgressError::Unresolved { name: name.to_owned(), reason };
        let addresses = tokio::time::timeout(RESOLVE_TIMEOUT, self.resolver.resolve(name))
            .await
            .map_err(|_| unresolved(format!("no answer within {} s", RESOLVE_TIMEOUT.as_secs())))?
            .map_err(|error| unresolved(error.to_string()))?;
        if addresses.is_empty() || addresses.len() > MAX_ADDRESS_COUNT {
            return Err(unresolved(format!("it has {} addresses", addresses.len())));
        }
        let addresses: Vec<IpAddr> = addresses.into_iter().map(|ip| ip.to_canonical()).collect();
        self.check_lists(destination, &addresses)?;
        // One forbidden address among good ones is no accident.
        for address in &addresses {
            self.check_address(destination, *address)?;
        }
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect())
    }

    /// Connects to a destination, at an address that was checked.
    pub async fn connect(&self, destination: &Destination) -> Result<TcpStream, EgressError> {
        let addresses = self.resolve(destination).await?;
        let mut reason = format!("no answer within {} s", CONNECT_TIMEOUT.as_secs());
        let attempts = async {
            for address in addresses {
                match TcpStream::connect(address).await {
                    Ok(stream) => return Some(stream),
                    Err(error) => reason = error.to_string(),
                }
            }
            None
        };
        // `reason` says whether the time was over or the last attempt failed.
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, attempts).await.ok().flatten();
        let stream = connected.ok_or_else(|| EgressError::Unreachable {
            destination: destination.to_string(),
            reason,
        })?;
        // Best effort: without it, small requests wait a little.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }

    fn check_lists(&self, destination: &Destination, ips: &[IpAddr]) -> Result<(), Refusal> {
        let port = destination.port();
        let by_name = |pattern: &&crate::Pattern| {
            destination.name().is_some_and(|name| pattern.matches_name(name, port))
        };
        let by_address =
            |pattern: &&crate::Pattern| ips.iter().any(|ip| pattern.matches_address(*ip, port));
        if let Some(pattern) = self.rules.deny.iter().find(|p| by_name(p) || by_address(p)) {
            return Err(Refusal::Denied {
                destination: destination.to_string(),
                pattern: pattern.to_string(),
            });
        }
        // The agent's list holds for the requested host: a name that resolves to a listed address
        // is not that address.
        let literal = destination.address();
        let is_listed = self.rules.only.is_empty()
            || self.rules.only.iter().any(|pattern| {
                by_name(&pattern) || literal.is_some_and(|ip| pattern.matches_address(ip, port))
            });
        if is_listed {
            return Ok(());
        }
        Err(Refusal::NotListed { destination: destination.to_string() })
    }

    fn check_address(&self, destination: &Destination, address: IpAddr) -> Result<(), Refusal> {
        let Some(kind) = kind_of(address) else { return Ok(()) };
        let port = destination.port();
        let is_allowed = self.rules.allow_private.iter().any(|pattern| {
            let by_name = destination.name().is_some_and(|name| pattern.matches_name(name, port));
            let by_address = pattern.matches_address(address, port);
            match kind {
                AddressKind::Metadata => by_address && pattern.is_one_address(),
                _ => by_name || by_address,
            }
        });
        if is_allowed {
            return Ok(());
        }
        // A metadata address is allowed by its number only.
        let allow = match (kind, destination.name()) {
            (AddressKind::Metadata, Some(_)) => SocketAddr::new(address, port).to_string(),
            _ => destination.to_string(),
        };
        Err(Refusal::Address { destination: destination.to_string(), address, kind, allow })
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("rules", &self.rules).finish_non_exhaustive()
    }
}
