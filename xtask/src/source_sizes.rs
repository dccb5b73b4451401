//! The sizes of files and crates: what grows past its limit is two things, and is taken apart along a
//! seam.

use std::path::Path;

use anyhow::{Result, bail};

use crate::manifests::Workspace;
use crate::repository_files::{files_below, from_root, read};

/// Limits the lines of a file.
const MAX_FILE_LINES: usize = 500;

/// Limits the lines of a crate that `CRATE_LIMITS` does not name.
const MAX_CRATE_LINES: usize = 11_500;

/// Lower limits of crates with one narrow job.
const CRATE_LIMITS: &[(&str, usize)] = &[
    // Arguments in, exit status out; everything that another client could use is below it.
    ("lango", 9_000),
    // The wires to models; the embedded and the scripted model are crates of their own.
    ("lango-model", 6_500),
];

/// Checks every file and crate, and says what is too large. Tests in files of their own do not
/// count: a list of cases may be long.
pub(crate) fn check_or_explain(root: &Path, workspace: &Workspace) -> Result<()> {
    let mut problems = Vec::new();
    for member in &workspace.members {
        let mut total = 0;
        for file in files_below(&root.join(&member.folder).join("src"), &["rs"])? {
            let name = from_root(root, &file);
            if is_test_file(&name) {
                continue;
            }
            let lines = read(&file)?.lines().count();
            if lines > MAX_FILE_LINES {
                problems.push(format!("{name} has {lines} lines, more than {MAX_FILE_LINES}"));
            }
            total += lines;
        }
        let named = CRATE_LIMITS.iter().find(|(name, _)| *name == member.name);
        let limit = named.map_or(MAX_CRATE_LINES, |(_, limit)| *limit);
        if total > limit {
            problems.push(format!("{} has {total} lines, more than {limit}", member.name));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    bail!("take apart what has grown too large:\n  {}", problems.join("\n  "));
}

fn is_test_file(name: &str) -> bool {
    name.ends_with("tests.rs") || name.contains("/tests/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifests::Member;

    #[test]
    fn long_files_and_crates_are_named_and_tests_are_not_counted() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, lines: usize| {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "//\n".repeat(lines)).unwrap();
        };
        let member = |name: &str, folder: &str| Member {
            name: name.to_owned(),
            folder: folder.to_owned(),
            dependencies: Vec::new(),
        };
        let members = vec![member("lango", "cli"), member("lango-store", "store")];
        let workspace = Workspace { members, shared_dependencies: Vec::new() };
        write("store/src/lib.rs", MAX_FILE_LINES);
        write("store/src/journal/tests.rs", MAX_FILE_LINES + 1);
        for part in 0..18 {
            write(&format!("cli/src/part_{part}.rs"), MAX_FILE_LINES);
        }
        check_or_explain(root.path(), &workspace).unwrap();
        write("store/src/row.rs", MAX_FILE_LINES + 1);
        write("cli/src/one_more.rs", 1);
        let explained = check_or_explain(root.path(), &workspace).unwrap_err().to_string();
        assert!(explained.contains("store/src/row.rs has 501 lines"), "{explained}");
        assert!(explained.contains("lango has 9001 lines, more than 9000"), "{explained}");
        assert!(!explained.contains("tests.rs"), "{explained}");
    }
}
