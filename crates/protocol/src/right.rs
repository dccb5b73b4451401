//! Defines the rights that a command can be given beyond what its sandbox allows.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A right that a command does not have by itself. It is written `git`, `network` or `write:PATH`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Right {
    /// Writing the repository that the command runs in, except for what decides which programs git
    /// starts; or making a new one.
    Git,
    /// Reaching the network of the machine.
    Network,
    /// Writing to a directory outside of the workspace, given as an absolute path.
    Write(PathBuf),
}

/// Describes a text that names no right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no right: use git, network or write:PATH with an absolute path without `..`")]
pub struct InvalidRight(String);

const WRITE_PREFIX: &str = "write:";

impl Right {
    /// Tells whether this right gives everything that `other` gives.
    pub fn includes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Write(directory), Self::Write(below)) => below.starts_with(directory),
            _ => self == other,
        }
    }

    /// Tells whether both give a common part.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.includes(other) || other.includes(self)
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Git => f.write_str("git"),
            Self::Network => f.write_str("network"),
            Self::Write(path) => write!(f, "{WRITE_PREFIX}{}", path.display()),
        }
    }
}

impl FromStr for Right {
    type Err = InvalidRight;

    fn from_str(text: &str) -> Result<Self, InvalidRight> {
        let invalid = || InvalidRight(text.to_owned());
        match text {
            "git" => return Ok(Self::Git),
            "network" => return Ok(Self::Network),
            _ => {}
        }
        let path = Path::new(text.strip_prefix(WRITE_PREFIX).ok_or_else(invalid)?);
        let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
        if !path.is_absolute() || text.contains('\0') || !path.components().all(is_plain) {
            return Err(invalid());
        }
        // One spelling for one path, without doubled and trailing slashes.
        Ok(Self::Write(path.components().collect()))
    }
}

impl TryFrom<String> for Right {
    type Error = InvalidRight;

    fn try_from(text: String) -> Result<Self, InvalidRight> {
        text.parse()
    }
}

impl From<Right> for String {
    fn from(right: Right) -> Self {
        right.to_string()
    }
}

/// A set of rights. It is displayed as a list, such as `git, network`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rights(BTreeSet<Right>);

impl Rights {
    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether a right is among them.
    pub fn contains(&self, right: &Right) -> bool {
        self.0.contains(right)
    }

    /// Returns them in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Right> {
        self.0.iter()
    }

    /// Tells whether these rights give everything that `others` give.
    pub fn include(&self, others: &Self) -> bool {
        others.iter().all(|other| self.iter().any(|right| right.includes(other)))
    }

    /// Tells whether one of these rights and one of `others` give a common part.
    pub fn overlap(&self, others: &Self) -> bool {
        others.iter().any(|other| self.iter().any(|right| right.overlaps(other)))
    }
}

impl FromIterator<Right> for Rights {
    fn from_iter<I: IntoIterator<Item = Right>>(rights: I) -> Self {
        Self(rights.into_iter().collect())
    }
}

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(ToString::to_string).collect();
        f.write_str(&names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rights(text: &str) -> Rights {
        text.split_whitespace().map(|word| word.parse().unwrap()).collect()
    }

    fn any_right() -> impl Strategy<Value = Right> {
        prop_oneof![
            Just(Right::Git),
            Just(Right::Network),
            "(/[ab]{1,2}){1,3}".prop_map(|path| Right::Write(path.into())),
        ]
    }

    fn any_rights() -> impl Strategy<Value = Rights> {
        prop::collection::vec(any_right(), 0..4).prop_map(|rights| rights.into_iter().collect())
    }

    #[test]
    fn a_right_is_read_as_it_is_written_and_nothing_else_is() {
        for text in ["git", "network", "write:/home/me/out"] {
            assert_eq!(text.parse::<Right>().unwrap().to_string(), text);
            let json = serde_json::to_string(&rights(text)).unwrap();
            assert_eq!(json, format!("[{text:?}]"));
            assert_eq!(serde_json::from_str::<Rights>(&json).unwrap(), rights(text));
        }
        assert_eq!(rights("write:/a//b/"), rights("write:/a/b"));
        for text in ["", "Git", "net", "write:", "write:a", "write:~/a", "write:/a/../b", "write"] {
            assert!(text.parse::<Right>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_path_includes_what_lies_below_it_and_no_neighbour() {
        assert!(rights("write:/a git").include(&rights("write:/a/b")));
        assert!(!rights("write:/a/b").include(&rights("write:/a")));
        assert!(!rights("write:/a").include(&rights("write:/ab")));
        assert!(rights("write:/a/b").overlap(&rights("write:/a network")));
        assert!(!rights("write:/a/b").overlap(&rights("write:/a/c git")));
    }

    proptest! {
        #[test]
        fn rights_include_only_what_each_of_them_gives(one in any_rights(), other in any_rights()) {
            prop_assert!(one.include(&one) && one.include(&Rights::default()));
            if one.include(&other) {
                for kind in [Right::Git, Right::Network] {
                    prop_assert!(one.contains(&kind) || !other.contains(&kind));
                }
                prop_assert!(other.is_empty() || one.overlap(&other));
            }
            prop_assert_eq!(one.overlap(&other), other.overlap(&one));
            prop_assert!(!Rights::default().overlap(&one));
        }
    }
}
