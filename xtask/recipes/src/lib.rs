//! The Rust code that `CONTRIBUTING.md` shows, compiled as it stands. Its tests are tests of this crate.
//!
//! Files and commands that documents show are tested in `tests/`.

include!(concat!(env!("OUT_DIR"), "/recipes.rs"));
