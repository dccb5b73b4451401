//! A plan in the words of Landlock, which knows what is granted and cannot take back a part.
//!
//! Around what must not be reached, every neighbour is granted by itself. So at this level no new
//! name can be made in a directory that has something protected directly in it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::helper::Rules;
use crate::plan::{Plan, Treatment};

/// Devices that hold nothing and lead nowhere.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What is granted where mounts already say what can be written: a second fence.
pub(crate) fn behind_mounts(plan: &Plan) -> Rules {
    let writable = plan.roots().map(|path| path.as_os_str().to_owned());
    Rules {
        readable: vec!["/".into()],
        writable: ["/tmp", "/dev"].map(OsString::from).into_iter().chain(writable).collect(),
    }
}

/// What is granted where nothing else confines.
pub(crate) fn alone(plan: &Plan, temporary: &Path) -> Rules {
    let of = |wanted: fn(Treatment) -> bool| -> Vec<PathBuf> {
        let places = plan.places().filter(|(_, treatment)| wanted(*treatment));
        places.map(|(path, _)| path.to_owned()).collect()
    };
    let hidden = of(|treatment| treatment == Treatment::Hidden);
    let mut protected = of(|treatment| treatment >= Treatment::Protected);
    // A name that is not there keeps its directory from being granted whole; so does a link.
    let frozen = of(|treatment| treatment == Treatment::Frozen);
    protected.extend(frozen.iter().map(|directory| directory.join("\u{1}")));
    let mut rules = Rules::default();
    grant(Path::new("/"), &hidden, &mut rules.readable);
    for root in plan.roots() {
        grant(root, &protected, &mut rules.writable);
    }
    rules.writable.push(temporary.into());
    rules.writable.extend(DEVICES.map(OsString::from));
    rules
}

/// Grants `place`, or as much of it as does not touch what is to be avoided.
fn grant(place: &Path, avoided: &[PathBuf], granted: &mut Vec<OsString>) {
    if avoided.iter().any(|avoided| place.starts_with(avoided)) {
        return;
    }
    if !avoided.iter().any(|avoided| avoided.starts_with(place)) {
        granted.push(place.into());
        return;
    }
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        // What a link leads to is granted, or not, where it is.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            grant(&entry.path(), avoided, granted);
        }
    }
}
