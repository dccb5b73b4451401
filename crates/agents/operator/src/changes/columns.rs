//! Encrypts what is recorded about a change, if a secret of the vault is in it.
//!
//! A file that a tool changes or deletes is kept as it was, so that it can come back. If it holds a
//! secret, nothing of it may be readable in the database.

use lango_keystore::{KeyStoreError, SecretBytes, ValueSealer};

/// The columns of a recorded change that hold names and content of files.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChangeColumns {
    pub(super) path: Vec<u8>,
    pub(super) other: Option<Vec<u8>>,
    pub(super) content: Option<Vec<u8>>,
}

/// Names a row: its turn and its position.
type ChangeKey<'a> = (&'a str, i64);

impl ChangeColumns {
    /// Tells whether a secret of the vault is in them.
    pub(super) fn have_secret(&self, sealer: &ValueSealer) -> bool {
        let columns = [Some(&self.path), self.other.as_ref(), self.content.as_ref()];
        columns.into_iter().flatten().any(|column| sealer.finds_secret(column))
    }

    /// Encrypts the columns.
    pub(super) async fn seal(
        self,
        sealer: &ValueSealer,
        row: ChangeKey<'_>,
    ) -> Result<Self, KeyStoreError> {
        let seal = async |column: &str, value: Vec<u8>| {
            let position = row.1.to_string();
            sealer.seal(&[row.0, &position, column], &SecretBytes::new(value)).await
        };
        Ok(Self {
            path: seal("path", self.path).await?,
            other: match self.other {
                Some(other) => Some(seal("other", other).await?),
                None => None,
            },
            content: match self.content {
                Some(content) => Some(seal("content", content).await?),
                None => None,
            },
        })
    }

    /// Decrypts the columns.
    pub(super) async fn open(
        self,
        sealer: &ValueSealer,
        row: ChangeKey<'_>,
    ) -> Result<Self, KeyStoreError> {
        let open = async |column: &str, sealed: Vec<u8>| {
            let position = row.1.to_string();
            let value = sealer.open(&[row.0, &position, column], &sealed).await?;
            Ok::<_, KeyStoreError>(value.reveal().to_vec())
        };
        Ok(Self {
            path: open("path", self.path).await?,
            other: match self.other {
                Some(other) => Some(open("other", other).await?),
                None => None,
            },
            content: match self.content {
                Some(content) => Some(open("content", content).await?),
                None => None,
            },
        })
    }
}
