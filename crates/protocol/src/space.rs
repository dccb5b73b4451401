//! Says whose entries of the agents' stores a turn writes and reads.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::{Caller, InvalidName, Sender};

/// Names the user as a caller. The user's own sessions have no other sender.
pub const OWNER: &str = "owner";

/// Says whose entries are meant: knowledge, lessons, relations, documents, memories and questions
/// belong to the owner or to one API client, and no other reads them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// The user who runs Lango.
    Owner,
    /// An API client of the server.
    Client(Caller),
}

impl Space {
    /// Returns the space of a caller.
    pub fn of_caller(caller: &Caller) -> Self {
        if caller.as_str() == OWNER { Self::Owner } else { Self::Client(caller.clone()) }
    }

    /// Returns the space of a message's sender; none is the user.
    pub fn of_sender(sender: Option<&Sender>) -> Self {
        sender.map_or(Self::Owner, |sender| Self::of_caller(&sender.caller))
    }

    /// Returns its name in the database: the client's, or nothing for the owner.
    pub fn as_stored(&self) -> &str {
        match self {
            Self::Owner => "",
            Self::Client(caller) => caller.as_str(),
        }
    }

    /// Reads the name in the database.
    pub fn from_stored(name: &str) -> Result<Self, InvalidName> {
        if name.is_empty() { Ok(Self::Owner) } else { name.parse().map(Self::Client) }
    }

    /// Tells whether a message of this sender is in the words of the one whose space it is. What a
    /// remote agent sends with the owner's token is not in the owner's words.
    pub fn is_own_message(&self, sender: Option<&Sender>) -> bool {
        match (self, sender) {
            (Self::Owner, None) => true,
            (Self::Client(caller), Some(sender)) => sender.caller == *caller,
            _ => false,
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner => f.write_str("the owner"),
            Self::Client(caller) => write!(f, "client {caller}"),
        }
    }
}

/// A store of the owner that a client may be allowed to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnerStore {
    /// Saved knowledge.
    Knowledge,
    /// Memories about the owner.
    Memories,
    /// Ingested documents.
    Documents,
}

impl OwnerStore {
    /// Lists all of them.
    pub const ALL: [Self; 3] = [Self::Knowledge, Self::Memories, Self::Documents];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Knowledge => "knowledge",
            Self::Memories => "memories",
            Self::Documents => "documents",
        }
    }
}

impl fmt::Display for OwnerStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for OwnerStore {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|store| store.as_str() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|store| store.as_str()).collect();
            format!("{name:?} is none of: {}", names.join(", "))
        })
    }
}

/// Says whose entries a turn writes, and which of the owner's it may read besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceAccess {
    own: Space,
    owner_stores: BTreeSet<OwnerStore>,
}

impl SpaceAccess {
    /// Returns the access to one space and nothing else.
    pub fn to(own: Space) -> Self {
        Self { own, owner_stores: BTreeSet::new() }
    }

    /// Allows reading of some of the owner's stores.
    #[must_use]
    pub fn with_owner_stores(self, owner_stores: BTreeSet<OwnerStore>) -> Self {
        Self { owner_stores, ..self }
    }

    /// Returns the space that is written to.
    pub fn own(&self) -> &Space {
        &self.own
    }

    /// Returns the spaces that may be read in a store, the own one first.
    pub fn readable(&self, store: OwnerStore) -> Vec<Space> {
        let mut spaces = vec![self.own.clone()];
        if self.own != Space::Owner && self.owner_stores.contains(&store) {
            spaces.push(Space::Owner);
        }
        spaces
    }

    /// Returns the origin of an entry, for a prompt: none for an entry of the own space.
    pub fn origin_of(&self, space: &Space) -> Option<String> {
        (*space != self.own).then(|| space.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_reads_its_own_space_and_what_the_owner_shares() {
        let wiki = Space::Client("wiki".parse().unwrap());
        let access = SpaceAccess::to(wiki.clone());
        assert_eq!(access.readable(OwnerStore::Knowledge), std::slice::from_ref(&wiki));
        let access = access.with_owner_stores([OwnerStore::Knowledge].into());
        assert_eq!(access.readable(OwnerStore::Knowledge), [wiki.clone(), Space::Owner]);
        assert_eq!(access.readable(OwnerStore::Memories), std::slice::from_ref(&wiki));
        assert_eq!(access.origin_of(&Space::Owner).as_deref(), Some("the owner"));
        assert_eq!(access.origin_of(&wiki), None);
        let owner = SpaceAccess::to(Space::Owner).with_owner_stores(OwnerStore::ALL.into());
        assert_eq!(owner.readable(OwnerStore::Memories), [Space::Owner]);
    }

    #[test]
    fn spaces_are_stored_by_name() {
        for space in [Space::Owner, Space::Client("wiki".parse().unwrap())] {
            assert_eq!(Space::from_stored(space.as_stored()).unwrap(), space);
        }
        assert!(Space::from_stored("No Name").is_err());
        assert_eq!(Space::of_caller(&OWNER.parse().unwrap()), Space::Owner);
        assert_eq!("memories".parse(), Ok(OwnerStore::Memories));
        assert!("graph".parse::<OwnerStore>().unwrap_err().contains("knowledge"));
    }
}
