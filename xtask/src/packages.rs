//! Packages of the system: what the tests need beside cargo.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::cargo::check;

/// The paths at which bubblewrap is looked for, as the sandbox does it.
const BUBBLEWRAP: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// The names of Chromium that the navigator looks for, as far as packages have them.
const CHROMIUM: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// Makes sure of bubblewrap, without which the tests of the sandbox fail.
pub(crate) fn ensure_bubblewrap() -> Result<()> {
    if BUBBLEWRAP.iter().any(|path| Path::new(path).is_file()) {
        return Ok(());
    }
    println!("bubblewrap is missing: installing it with apt-get");
    install("bubblewrap", "install bubblewrap (bwrap) and try again")
}

/// Makes sure of Chromium, without which the tests of the navigator fail.
pub(crate) fn ensure_chromium() -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories = std::env::split_paths(&path);
    if directories.any(|place| CHROMIUM.iter().any(|name| place.join(name).is_file())) {
        return Ok(());
    }
    println!("Chromium is missing: installing it with apt-get");
    install("chromium", "install Chromium and try again")
}

/// Makes sure of libfaketime, with which the tests set the clock of a process.
pub(crate) fn ensure_faketime() -> Result<()> {
    let directories = Path::new("/usr/lib").read_dir().context("could not read /usr/lib")?;
    let mut places = directories.filter_map(|entry| Some(entry.ok()?.path()));
    if places.any(|place| place.join("faketime/libfaketime.so.1").is_file()) {
        return Ok(());
    }
    println!("libfaketime is missing: installing it with apt-get");
    install("libfaketime", "install libfaketime and try again")
}

/// The programs that tests start, with the packages that have them: a desktop's message bus and
/// keyring, and the check of systemd's units.
const PROGRAMS: [(&str, &str); 4] = [
    ("dbus-daemon", "dbus"),
    ("dbus-send", "dbus"),
    ("gnome-keyring-daemon", "gnome-keyring"),
    ("systemd-analyze", "systemd"),
];

/// Makes sure of the programs with which the tests play a desktop.
pub(crate) fn ensure_desktop() -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    for (program, package) in PROGRAMS {
        if !std::env::split_paths(&path).any(|place| place.join(program).is_file()) {
            println!("{program} is missing: installing {package} with apt-get");
            install(package, &format!("install {program} and try again"))?;
        }
    }
    Ok(())
}

/// Installs a package. The hint is for a person whose system does it in another way.
pub(crate) fn install(package: &str, hint: &str) -> Result<()> {
    apt_get(&["update"], hint)?;
    apt_get(&["install", "-y", "--no-install-recommends", package], hint)
}

/// Returns whether we are root, who needs no `sudo`.
pub(crate) fn is_root() -> Result<bool> {
    let output = Command::new("id").arg("-u").output().context("could not run id")?;
    Ok(output.stdout.trim_ascii() == b"0")
}

fn apt_get(arguments: &[&str], hint: &str) -> Result<()> {
    let as_root = is_root()?;
    let mut command = Command::new(if as_root { "apt-get" } else { "sudo" });
    if !as_root {
        command.args(["--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
    }
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    match check(&mut command) {
        Ok(()) => Ok(()),
        Err(error) => bail!("{error:#}; {hint}"),
    }
}
