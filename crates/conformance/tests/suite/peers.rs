//! Where the programs of others are.

use std::path::PathBuf;

/// The directory of the programs that `cargo xtask peers` installs for Node.
pub(crate) fn node_programs() -> PathBuf {
    let directory = std::env::var_os("LANGO_PEERS").expect(
        "LANGO_PEERS is not set, so the suite cannot be found. `cargo xtask peers` installs what is \
         needed and prints the directory",
    );
    PathBuf::from(directory).join("node/node_modules/.bin")
}
