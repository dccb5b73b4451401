use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::*;

fn places() -> Places {
    Places::new(PlacesSettings {
        home: Some("/home/me".into()),
        own: vec!["/srv/lango/token".into()],
        hidden: vec!["/home/me/diary".into()],
        protected: vec!["/home/me/project/deploy".into()],
        instructions: vec!["/home/me/agents".into()],
        roots: vec!["/home/me/project".into(), "/home/me/.claude/worktrees/a".into()],
    })
}

/// Returns the places with a workspace whose file system ignores case, whatever the real one does.
fn folded_places() -> Places {
    Places { folded: vec!["/home/me".into()], ..places() }
}

#[test]
fn hidden_places_say_why() {
    for (path, reason) in [
        ("/home/me/.ssh/id_ed25519", HiddenReason::Credentials),
        ("/home/me/.rd/docker.sock", HiddenReason::Sockets),
        ("/home/me/.lima/default/sock/docker.sock", HiddenReason::Sockets),
        ("/home/me/.orbstack/run/docker.sock", HiddenReason::Sockets),
        ("/home/me/.1password/agent.sock", HiddenReason::Sockets),
        ("/home/me/.mozilla", HiddenReason::Browser),
        ("/home/me/.config/lango/config.toml", HiddenReason::OwnFile),
        ("/srv/lango/token", HiddenReason::OwnFile),
        ("/home/me/diary/monday", HiddenReason::Configured),
        ("/etc/shadow", HiddenReason::Credentials),
        ("/run/user/1000/containers/auth.json", HiddenReason::Credentials),
        ("/run/secrets/kubernetes.io/serviceaccount/token", HiddenReason::Credentials),
    ] {
        assert_eq!(places().hidden_reason(Path::new(path)), Some(reason), "{path}");
        assert!(places().protection_of(Path::new(path)).is_some(), "{path}");
    }
    for path in ["/home/me", "/home/me/.sshd", "/home/you/.ssh/x", "/home/me/.SSH/x", "/"] {
        assert_eq!(places().hidden_reason(Path::new(path)), None, "{path}");
    }
}

#[test]
fn a_workspace_within_langos_own_directory_is_not_hidden() {
    let own = vec!["/srv/lango".into(), "/srv/lango/project/config.toml".into()];
    let roots = vec!["/srv/lango/project".into()];
    let places = Places::new(PlacesSettings { own, roots, ..PlacesSettings::default() });
    let own = Some(HiddenReason::OwnFile);
    for (path, reason) in [
        ("/srv/lango/project/notes.txt", None),
        ("/srv/lango/lango.db", own),
        ("/srv/lango/projects", own),
        ("/srv/lango/project/config.toml", own),
    ] {
        assert_eq!(places.hidden_reason(Path::new(path)), reason, "{path}");
        assert_eq!(places.protection_of(Path::new(path)).is_some(), reason.is_some(), "{path}");
    }
    // The directory itself is no workspace.
    let whole = vec!["/srv/lango".into()];
    let settings = PlacesSettings { own: whole.clone(), roots: whole, ..PlacesSettings::default() };
    assert_eq!(Places::new(settings).hidden_reason(Path::new("/srv/lango/lango.db")), own);
}

#[test]
fn protected_places_say_what_they_decide() {
    for (path, protection) in [
        ("/home/me/project/.git/hooks/pre-commit", Protection::Git),
        ("/home/me/project/a/b/.git", Protection::Git),
        ("/home/me/project/a/HEAD", Protection::Git),
        ("/home/me/project/.mcp.json", Protection::ToolServers),
        ("/home/me/project/docs/AGENTS.md", Protection::Agents),
        ("/home/me/project/.claude/settings.json", Protection::Agents),
        ("/home/me/project/.cursor/rules", Protection::Agents),
        ("/home/me/project/.codex/config.toml", Protection::Agents),
        ("/home/me/project/.vscode/tasks.json", Protection::Editor),
        ("/home/me/project/.github/workflows/ci.yml", Protection::ContinuousIntegration),
        ("/home/me/project/.gitlab-ci.yml", Protection::ContinuousIntegration),
        ("/home/me/project/.pre-commit-config.yaml", Protection::CommitHooks),
        ("/home/me/project/.envrc", Protection::Shell),
        ("/home/me/project/usercustomize.py", Protection::Python),
        ("/home/me/project/deploy/run.sh", Protection::Configured),
        ("/home/me/agents/poet.md", Protection::Agents),
        ("/home/me/.bashrc", Protection::Shell),
        ("/home/me/.kshrc", Protection::Shell),
        ("/home/me/.cshrc", Protection::Shell),
        ("/home/me/.config/environment.d/10.conf", Protection::Session),
        ("/home/me/.claude/worktrees/a/.git", Protection::Git),
    ] {
        assert_eq!(places().protection_of(Path::new(path)), Some(protection), "{path}");
    }
    for path in [
        "/home/me/project/Makefile",
        "/home/me/project/.github/CODEOWNERS",
        "/home/me/project/git/hooks",
        "/home/me/project/agents.md",
        "/home/me/project/.bashrc",
        "/home/me/project",
        "/home/me/.claude/worktrees/a/src/main.rs",
    ] {
        assert_eq!(places().protection_of(Path::new(path)), None, "{path}");
    }
    let shown = Protection::Shell.to_string();
    assert_eq!(shown, "it decides which programs your shell starts");
}

#[test]
fn a_place_behind_a_link_is_found_by_its_target() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().canonicalize().unwrap();
    std::fs::create_dir(home.join("dotfiles")).unwrap();
    std::fs::create_dir(home.join("vault")).unwrap();
    std::fs::write(home.join("dotfiles/bashrc"), "").unwrap();
    symlink("dotfiles/bashrc", home.join(".bashrc")).unwrap();
    symlink("vault", home.join(".ssh")).unwrap();
    let places = Places::new(PlacesSettings { home: Some(home.clone()), ..Default::default() });
    assert_eq!(places.protection_of(&home.join("dotfiles/bashrc")), Some(Protection::Shell));
    assert_eq!(places.hidden_reason(&home.join("vault/key")), Some(HiddenReason::Credentials));
    assert!(places.places_within(&home).any(|place| place == home.join(".bashrc")));
}

#[test]
fn other_spellings_are_recognized_where_case_is_ignored() {
    for name in [".GIT/config", ".Git/hooks/x", "git~1/config", "GIT~1", ".git. ", ".g\u{200c}it/x"]
    {
        let path = Path::new("/home/me/project").join(name);
        assert_eq!(folded_places().protection_of(&path), Some(Protection::Git), "{name}");
        assert_eq!(places().protection_of(&path), None, "{name}");
    }
    for name in ["agents.md", "Agents.MD", "AGENT\u{17f}.md"] {
        let path = Path::new("/home/me/project").join(name);
        assert_eq!(folded_places().protection_of(&path), Some(Protection::Agents), "{name}");
    }
    let path = Path::new("/home/me/.SSH/id");
    assert_eq!(folded_places().hidden_reason(path), Some(HiddenReason::Credentials));
    assert_eq!(folded_places().protection_of(Path::new("/home/me/project/gist~1")), None);
}

#[test]
fn a_file_system_that_respects_case_is_recognized() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("name"), "").unwrap();
    assert!(!folds_case(directory.path()));
    // Two links to one file do not make the file system ignore case.
    std::fs::hard_link(directory.path().join("name"), directory.path().join("NAME")).unwrap();
    assert!(!folds_case(directory.path()));
}

proptest! {
    #[test]
    fn any_case_of_a_protected_name_is_protected(index in 0..NAMES.len(), upper in any::<u64>()) {
        let letter = |(at, letter): (usize, char)| {
            if upper >> (at % 64) & 1 == 1 { letter.to_ascii_uppercase() } else { letter }
        };
        let spelled: String = NAMES[index].name.chars().enumerate().map(letter).collect();
        let path = Path::new("/home/me/project/sub").join(spelled).join("x");
        prop_assert_eq!(folded_places().protection_of(&path), Some(NAMES[index].protection));
    }

    #[test]
    fn what_lies_in_a_hidden_place_is_hidden(
        index in 0..HIDDEN_HOME_PLACES.len(),
        below in "[a-zA-Z0-9._-]{1,12}(/[a-zA-Z0-9._-]{1,12}){0,3}",
    ) {
        let place = Path::new("/home/me").join(HIDDEN_HOME_PLACES[index].name);
        prop_assert!(places().hidden_reason(&place).is_some());
        prop_assert!(places().hidden_reason(&place.join(below)).is_some());
    }
}
