//! Embeds the files of the built-in topologies.

macro_rules! folder {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        &[$(($file, include_str!(concat!("../../../../topologies/", $folder, "/", $file)))),+]
    };
}

pub(super) const STANDARD: &[(&str, &str)] = folder!(
    "standard":
    "TOPOLOGY.md",
    "operator.md",
    "navigator.md",
    "vault.md",
    "librarian.md",
    "automator.md",
    "planner.md",
    "chronicler.md",
);

pub(super) const COMPACT: &[(&str, &str)] = folder!(
    "compact":
    "TOPOLOGY.md",
    "executor.md",
    "researcher.md",
    "planner.md",
    "memory-manager.md",
);
