//! The browser that the navigator's tests drive.

use anyhow::{Context as _, Result, bail};

use crate::packages;

/// The names that the navigator looks for.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// Makes sure that there is a Chromium. Its tests fail without one; none of them is left out.
pub(crate) fn ensure_installed() -> Result<()> {
    if is_there() {
        return Ok(());
    }
    println!("Chromium is missing: installing it with apt-get");
    let hint = "install Chromium and try again";
    packages::install("chromium").context(hint)?;
    if !is_there() {
        bail!("Chromium was installed and is not in the PATH; {hint}");
    }
    Ok(())
}

fn is_there() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .any(|directory| NAMES.iter().any(|name| directory.join(name).is_file()))
}
