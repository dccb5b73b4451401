//! Checks the index of a repository: the files that git writes to the work tree when it is told to
//! restore them.
//!
//! Git refuses to add a path in `.git` or outside of the work tree to an index, but trusts the paths of
//! one that is there. So an index that was written by hand would make git write hooks.

use std::path::Path;

/// Limits the size of an index that is checked.
const MAX_INDEX_BYTES: u64 = 512 * 1024 * 1024;
/// The times, numbers and sizes of an entry, before its object.
const FACTS_BYTES: usize = 40;
/// The place of the mode among them.
const MODE_AT: usize = 24;

/// Tells whether every path in an index stays in the work tree and out of `.git`. What is not an index
/// is not harmless either: it may be one for another version of git.
pub(crate) fn is_harmless_index(path: &Path, object_bytes: usize) -> bool {
    read_index(path).is_some_and(|bytes| has_harmless_paths(&bytes, object_bytes).unwrap_or(false))
}

/// Tells whether an index has an entry that is a repository of its own. Git looks into that one with
/// its configuration. Of what is no index that can be read, nothing is known, so that it is true. The
/// same holds for an index that stands for others: one that names a shared index, which may be
/// another file, and a sparse one, whose directories have entries of their own.
pub(crate) fn has_submodules(path: &Path, object_bytes: usize) -> bool {
    let is_plain = |mode: u32, _: &[u8]| mode & 0o170_000 != 0o160_000;
    let has_none = |bytes: &[u8]| {
        let checked = check_entries(bytes, object_bytes, is_plain)?;
        Some(checked.passes && !names_other_entries(checked.rest, object_bytes)?)
    };
    read_index(path).is_none_or(|bytes| !has_none(&bytes).unwrap_or(false))
}

/// Tells whether an extension says that entries stand in another place. Returns none if the
/// extensions do not end where the checksum begins.
fn names_other_entries(mut extensions: &[u8], object_bytes: usize) -> Option<bool> {
    while extensions.len() > object_bytes {
        let (name, rest) = extensions.split_at_checked(4)?;
        let (length, rest) = rest.split_at_checked(4)?;
        let length = u32::from_be_bytes(length.try_into().ok()?);
        if matches!(name, b"link" | b"sdir") {
            return Some(true);
        }
        extensions = rest.get(usize::try_from(length).ok()?..)?;
    }
    (extensions.len() == object_bytes).then_some(false)
}

fn read_index(path: &Path) -> Option<Vec<u8>> {
    let found = path.symlink_metadata().ok()?;
    if !found.is_file() || found.len() > MAX_INDEX_BYTES {
        return None;
    }
    std::fs::read(path).ok()
}

fn has_harmless_paths(bytes: &[u8], object_bytes: usize) -> Option<bool> {
    check_entries(bytes, object_bytes, |_, path| is_harmless_path(path)).map(|index| index.passes)
}

/// What a check of the entries of an index found.
struct CheckedIndex<'a> {
    /// True if all entries pass.
    passes: bool,
    /// What follows the entries if all pass: extensions and a checksum.
    rest: &'a [u8],
}

/// Tells whether all entries pass a check of their mode and path. Returns none if the index ends too
/// early or has an unknown version.
fn check_entries(
    bytes: &[u8],
    object_bytes: usize,
    check: impl Fn(u32, &[u8]) -> bool,
) -> Option<CheckedIndex<'_>> {
    let header = bytes.get(..12)?;
    let version = u32::from_be_bytes(header[4..8].try_into().ok()?);
    let count = u32::from_be_bytes(header[8..12].try_into().ok()?);
    if &header[..4] != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut rest = &bytes[12..];
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..count {
        let mode = u32::from_be_bytes(rest.get(MODE_AT..MODE_AT + 4)?.try_into().ok()?);
        let flags_at = FACTS_BYTES + object_bytes;
        let flags = u16::from_be_bytes(rest.get(flags_at..flags_at + 2)?.try_into().ok()?);
        let is_extended = version >= 3 && flags & 0x4000 != 0;
        let name_at = flags_at + if is_extended { 4 } else { 2 };
        let mut name = rest.get(name_at..)?;
        if version == 4 {
            let (dropped, used) = read_offset(name)?;
            name = &name[used..];
            path.truncate(path.len().checked_sub(dropped)?);
        } else {
            path.clear();
        }
        let length = name.iter().position(|byte| *byte == 0)?;
        path.extend_from_slice(&name[..length]);
        if !check(mode, &path) {
            return Some(CheckedIndex { passes: false, rest });
        }
        // Before version 4, entries are filled up to a multiple of eight bytes.
        let end = name_at + length;
        rest = if version == 4 { &name[length + 1..] } else { rest.get((end + 8) / 8 * 8..)? };
    }
    Some(CheckedIndex { passes: true, rest })
}

/// Reads a number of variable length, as git writes offsets. Returns also how many bytes it has.
fn read_offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = usize::from(bytes.first()? & 0x7f);
    let mut used = 1;
    while bytes[used - 1] & 0x80 != 0 {
        value = value.checked_add(1)?.checked_mul(128)?;
        value += usize::from(bytes.get(used)? & 0x7f);
        used += 1;
    }
    Some((value, used))
}

/// Tells whether a path has only names of the work tree. A sparse index ends directories in a slash,
/// and a split one leaves out the path of an entry that stands in the shared one.
fn is_harmless_path(path: &[u8]) -> bool {
    if path.is_empty() {
        return true;
    }
    let path = path.strip_suffix(b"/").unwrap_or(path);
    path.split(|byte| *byte == b'/')
        .all(|name| !matches!(name, b"" | b"." | b"..") && !name.eq_ignore_ascii_case(b".git"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes an index of version 2 or 4 with these paths.
    fn index(version: u8, paths: &[&str]) -> Vec<u8> {
        let mut bytes = [b"DIRC\0\0\0".as_slice(), &[version, 0, 0, 0]].concat();
        bytes.push(u8::try_from(paths.len()).unwrap());
        let mut before = "";
        for path in paths {
            let start = bytes.len();
            bytes.extend([0; FACTS_BYTES + 20 + 2]);
            if version == 4 {
                let common = path.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
                bytes.push(u8::try_from(before.len() - common).unwrap());
                bytes.extend(&path.as_bytes()[common..]);
                bytes.push(0);
            } else {
                bytes.extend(path.as_bytes());
                bytes.extend(vec![0; 8 - (bytes.len() - start) % 8]);
            }
            before = path;
        }
        bytes
    }

    #[test]
    fn paths_of_the_work_tree_are_harmless_and_others_are_not() {
        for version in [2, 4] {
            let check = |paths: &[&str]| has_harmless_paths(&index(version, paths), 20);
            assert_eq!(check(&[]), Some(true));
            assert_eq!(check(&[".gitignore", "a.git/x", "sub/.github/x", "x"]), Some(true));
            for path in [".git/hooks/x", "a/.git/config", ".GIT/x", "../x", "a/../../x", "/etc/x"] {
                assert_eq!(check(&["a", path]), Some(false), "{version}: {path}");
            }
            // The first part of a name may stand in the entry before.
            assert_eq!(check(&[".gi", ".git/x"]), Some(false), "{version}");
            let cut = index(version, &["a", "b"]);
            assert_eq!(has_harmless_paths(&cut[..cut.len() - 12], 20), None, "{version}");
        }
        assert_eq!(has_harmless_paths(&index(5, &[]), 20), None);
        assert_eq!(has_harmless_paths(b"", 20), None);
    }

    #[test]
    fn an_index_that_stands_for_others_may_have_submodules() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index");
        let has = |extensions: &[&[u8]]| {
            let bytes = [&index(2, &["a", "b"]), extensions.concat().as_slice(), &[7; 20]].concat();
            std::fs::write(&path, bytes).unwrap();
            has_submodules(&path, 20)
        };
        assert!(!has(&[]));
        assert!(!has(&[b"TREE\0\0\0\x02xy", b"REUC\0\0\0\0"]));
        assert!(has(&[b"link\0\0\0\0"]));
        assert!(has(&[b"TREE\0\0\0\x02xy", b"sdir\0\0\0\0"]));
        // What does not end where it must is not understood.
        assert!(has(&[b"TREE\0\0\0\x09xy"]));
        assert!(has(&[b"TREE"]));
    }
}
