use std::path::Path;

use super::*;
use crate::job::ProtectedPath;

/// Plans with a stand-in for the file system: `is_folded` says whether it ignores case.
fn plan(workspace: &Path, is_folded: bool) -> PathPlan {
    let bounds = JobBounds {
        writable: vec![workspace.to_owned()],
        protected: vec![
            ProtectedPath::directory(workspace.join(".git")),
            ProtectedPath::directory(workspace.join("a/b/.git")),
        ],
        ..JobBounds::default()
    };
    PathPlan::from_folded_bounds(&bounds, |_| is_folded).unwrap()
}

#[test]
fn where_case_is_ignored_no_directory_on_the_way_takes_new_names() {
    let directory = tempfile::tempdir().unwrap();
    let workspace = directory.path().canonicalize().unwrap();
    fs::create_dir_all(workspace.join("a/b/.git")).unwrap();
    fs::create_dir_all(workspace.join("src")).unwrap();
    let treatment = |plan: &PathPlan, name: &str| {
        let path = if name.is_empty() { workspace.clone() } else { workspace.join(name) };
        plan.paths.get(&path).copied()
    };
    let folded = plan(&workspace, true);
    for name in ["", "a", "a/b"] {
        assert_eq!(treatment(&folded, name), Some(PathTreatment::Frozen), "{name}");
    }
    // What is there can still be written, by the name that it has.
    assert_eq!(treatment(&folded, "src"), Some(PathTreatment::Anchored));
    assert_eq!(treatment(&folded, "a/b/.git"), Some(PathTreatment::Protected));
    let usual = plan(&workspace, false);
    assert_eq!(treatment(&usual, ""), Some(PathTreatment::Writable));
    assert_eq!(treatment(&usual, "a/b"), Some(PathTreatment::Anchored));
    assert_eq!(treatment(&usual, "src"), None);
}
