//! Tests what can be read and written.

use std::os::unix::fs::symlink;

use lango_sandbox::{ConfinementLevel, DescriptorFile, SandboxError};

use crate::workspace::{LEVELS, TestWorkspace, finish};

#[tokio::test]
async fn the_workspace_can_be_written_and_nothing_else() {
    for level in LEVELS {
        for place in [std::env::temp_dir(), std::env::current_dir().unwrap()] {
            let workspace = TestWorkspace::within(level, &place);
            workspace.put("sub/old", "old");
            workspace.put("top", "old");
            let outside = workspace.outside().display().to_string();
            workspace
                .prints("echo new > sub/new && echo new > sub/old && echo new > top && mkdir sub/d")
                .await;
            assert_eq!(
                [
                    workspace.content("sub/new"),
                    workspace.content("sub/old"),
                    workspace.content("top")
                ],
                ["new\n"; 3]
            );
            for command in [
                format!("echo x > {outside}/new"),
                format!("echo x >> {outside}/secret"),
                format!("rm {outside}/secret"),
                format!("mv {outside} {outside}.moved"),
                format!("mkdir {outside}/sub"),
                format!("ln {outside}/secret sub/hard && echo x > sub/hard"),
                "touch /etc/lango-test".to_owned(),
                "touch /usr/lango-test".to_owned(),
                // Writes the current value, so that success changes nothing.
                "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern".to_owned(),
                "cat /proc/sys/kernel/hostname > /proc/sys/kernel/hostname".to_owned(),
                "touch /sys/fs/cgroup/lango-test".to_owned(),
                "touch /var/tmp/lango-test".to_owned(),
                "cd .. && mv workspace moved".to_owned(),
            ] {
                workspace.refuses(&command).await;
            }
            let secret = std::fs::read_to_string(workspace.outside().join("secret")).unwrap();
            assert_eq!(secret, "canary\n");
            assert_eq!(std::fs::read_dir(workspace.outside()).unwrap().count(), 1);
            assert!(!std::path::Path::new("/etc/lango-test").exists());
        }
    }
}

#[tokio::test]
async fn a_new_name_at_the_top_needs_bubblewrap() {
    let workspace = TestWorkspace::at(ConfinementLevel::Bubblewrap);
    workspace
        .prints("echo x > new && mkdir dir && mv new dir/ && rm -r dir && echo y > kept")
        .await;
    assert_eq!(workspace.names(), ["kept"]);
    let workspace = TestWorkspace::at(ConfinementLevel::Landlock);
    workspace.refuses("echo x > new").await;
    assert!(workspace.names().is_empty());
}

#[tokio::test]
async fn a_private_directory_is_all_that_is_left_of_a_hidden_one() {
    for level in LEVELS {
        for place in [std::env::temp_dir(), std::env::current_dir().unwrap()] {
            let mut workspace = TestWorkspace::within(level, &place);
            let hidden = workspace.outside();
            let own = hidden.join("homes/own");
            std::fs::create_dir_all(&own).unwrap();
            std::fs::create_dir_all(hidden.join("homes/other")).unwrap();
            std::fs::write(hidden.join("homes/other/file"), "canary\n").unwrap();
            // Also where the hidden directory is in one that can be written.
            let above = hidden.parent().unwrap().to_owned();
            for writable in [workspace.path(""), above] {
                workspace.bounds.writable = vec![writable];
                workspace.bounds.hidden = vec![hidden.clone()];
                workspace.bounds.private = Some(own.clone());
                let at = own.display();
                workspace
                    .prints(&format!("mkdir -p {at}/.cache/x && echo kept >> {at}/.cache/x/file"))
                    .await;
                let out =
                    workspace.prints(&format!("cd {at} && cat .cache/x/file && pwd -P")).await;
                assert!(out.starts_with("kept\n") && out.ends_with("/own\n"), "{out}");
                for command in [
                    format!("grep -r canary {}", hidden.display()),
                    format!("cat {at}/../other/file"),
                    format!("cat {at}/../../secret"),
                    format!("mv {at} {at}.moved"),
                ] {
                    workspace.refuses(&command).await;
                }
                // Among temporary files the way there is the job's own, and gone with it.
                workspace.run(&format!("mkdir {at}/../new {at}/../../new {at}/../other/new")).await;
                workspace.prints(&format!("ln -s ../other {at}/link; ! cat {at}/link/file")).await;
                std::fs::remove_file(own.join("link")).unwrap();
            }
            for (place, count) in [("", 2), ("homes", 2), ("homes/other", 1)] {
                let entries = std::fs::read_dir(hidden.join(place)).unwrap();
                assert_eq!(entries.count(), count, "{level:?}: {place}");
            }
        }
    }
}

#[tokio::test]
async fn hidden_places_cannot_be_read() {
    for level in LEVELS {
        for place in [std::env::temp_dir(), std::env::current_dir().unwrap()] {
            let mut workspace = TestWorkspace::within(level, &place);
            workspace.put("inside/key", "canary\n");
            workspace.put("other/file", "fine\n");
            let file = workspace.outside().join("secret");
            let link = workspace.outside().join("link");
            symlink(workspace.path("inside"), &link).unwrap();
            // Through a link, a file, and a missing path.
            workspace.bounds.hidden = vec![
                link,
                file.clone(),
                workspace.outside().join("missing"),
                workspace.path("later"),
            ];
            for command in [
                "cat inside/key".to_owned(),
                "cat inside/*".to_owned(),
                format!("grep -r canary {}", workspace.outside().display()),
                format!("grep -r canary {}", workspace.path("").display()),
                "mv inside away && cat away/key".to_owned(),
                "mkdir later".to_owned(),
                "echo x > inside/new".to_owned(),
            ] {
                let result = workspace.refuses(&command).await;
                assert!(!result.out.contains("canary"), "{level} {command}: {result:?}");
            }
            if level == ConfinementLevel::Bubblewrap {
                // Landlock does not hide that something exists.
                workspace.refuses("ls inside/key").await;
            }
            assert_eq!(workspace.prints("cat other/file").await, "fine\n");
            assert_eq!(workspace.names(), ["inside", "other"]);
            assert_eq!(workspace.content("inside/key"), "canary\n");
        }
    }
}

#[tokio::test]
async fn a_hidden_place_of_the_running_system_cannot_be_read() {
    for level in LEVELS {
        // Only root can write to /run; others have places of services there.
        let Ok(place) = tempfile::tempdir_in("/run") else { return };
        let secret = place.path().join("secret");
        std::fs::write(&secret, "canary").unwrap();
        let mut workspace = TestWorkspace::at(level);
        workspace.bounds.hidden.extend([place.path().to_owned(), "/run/user".into()]);
        let result = workspace.refuses(&format!("cat {}", secret.display())).await;
        assert!(!result.out.contains("canary"), "{level}: {result:?}");
        // The job runs all the same.
        assert_eq!(workspace.prints("echo fine").await, "fine\n", "{level}");
    }
}

#[tokio::test]
async fn a_workspace_in_a_hidden_place_is_refused() {
    for level in LEVELS {
        let mut workspace = TestWorkspace::at(level);
        workspace.bounds.hidden = vec![workspace.path("").parent().unwrap().to_owned()];
        let error = workspace.try_run("true").await.unwrap_err();
        assert!(matches!(error, SandboxError::HiddenDirectory { .. }), "{error}");
    }
}

#[tokio::test]
async fn the_whole_file_system_is_no_workspace() {
    for level in LEVELS {
        let mut workspace = TestWorkspace::at(level);
        workspace.bounds.writable.push("/".into());
        let error = workspace.try_run("true").await.unwrap_err();
        assert!(matches!(error, SandboxError::Writable { .. }), "{error}");
    }
}

#[tokio::test]
async fn links_in_the_workspace_widen_nothing() {
    for level in LEVELS {
        let workspace = TestWorkspace::within(level, &std::env::current_dir().unwrap());
        workspace.put("sub/file", "");
        symlink(workspace.outside(), workspace.path("sub/link")).unwrap();
        symlink(workspace.outside().join("secret"), workspace.path("top")).unwrap();
        for command in ["echo x > sub/link/new", "echo x > sub/link/secret", "echo x > top"] {
            workspace.refuses(command).await;
        }
        assert_eq!(std::fs::read_dir(workspace.outside()).unwrap().count(), 1);
        let secret = std::fs::read_to_string(workspace.outside().join("secret")).unwrap();
        assert_eq!(secret, "canary\n");
    }
}

#[tokio::test]
async fn temporary_files_are_private_and_gone_afterwards() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        workspace.put("sub/file", "");
        let place = workspace.prints("echo x > $TMPDIR/lango-test-mine && mktemp && echo $TMPDIR > sub/file && cat sub/file").await;
        let place = place.lines().last().unwrap().to_owned();
        assert!(!std::path::Path::new(&place).join("lango-test-mine").exists(), "{place}");
        workspace.refuses(&format!("cat {place}/lango-test-mine")).await;
        if level == ConfinementLevel::Bubblewrap {
            assert_eq!(workspace.prints("ls /tmp | grep -v ^.tmp | wc -l").await.trim(), "0");
        }
    }
}

/// Swaps a directory for a link that leads out while commands start. The command may be refused
/// then; it must not get out.
#[tokio::test]
async fn a_directory_that_becomes_a_link_widens_nothing() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use rustix::fs::{CWD, RenameFlags};

    for level in LEVELS {
        let mut workspace = TestWorkspace::within(level, &std::env::current_dir().unwrap());
        workspace.put("b/.git/config", "");
        workspace
            .bounds
            .protected
            .push(lango_sandbox::ProtectedPath::directory(workspace.path("b/.git")));
        symlink("../outside", workspace.path("link")).unwrap();
        std::fs::create_dir(workspace.outside().join(".git")).unwrap();
        let (directory, link) = (workspace.path("b"), workspace.path("link"));
        let is_over = Arc::new(AtomicBool::new(false));
        let pause_millis = Arc::new(AtomicU64::new(20));
        let swapping = std::thread::spawn({
            let (is_over, pause_millis) = (Arc::clone(&is_over), Arc::clone(&pause_millis));
            move || {
                // Mostly as fast as possible, and sometimes slow enough for a job to start.
                for round in 0_u64.. {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let exchange = RenameFlags::EXCHANGE;
                    rustix::fs::renameat_with(CWD, &directory, CWD, &link, exchange).unwrap();
                    if round % 997 == 0 {
                        let pause = pause_millis.load(Ordering::Relaxed);
                        std::thread::sleep(std::time::Duration::from_millis(pause));
                    }
                }
            }
        });
        let mut ran = 0;
        for attempt in 0..2000 {
            if attempt >= 60 && ran > 0 {
                break;
            }
            if attempt % 100 == 99 && ran == 0 {
                // The machine is busy: a job takes longer to start.
                pause_millis.fetch_add(40, Ordering::Relaxed);
            }
            let tried = "echo x > b/evil; echo x > b/.git/evil; echo x > link/evil; echo x > ../outside/evil; true";
            match workspace.try_run(tried).await {
                Ok(_) => ran += 1,
                Err(SandboxError::Setup { .. }) => {}
                Err(other) => panic!("{level}: {other}"),
            }
        }
        is_over.store(true, Ordering::Relaxed);
        swapping.join().unwrap();
        assert!(ran > 0, "{level}: it never ran, so this shows nothing");
        assert!(!workspace.outside().join("evil").exists(), "{level}");
        assert!(!workspace.outside().join(".git/evil").exists(), "{level}");
    }
}

#[tokio::test]
async fn a_file_that_is_only_a_descriptor_is_read_and_not_changed() {
    let command = "cat \"$SECRET\"; cat <\"$SECRET\"; printf x 2>/dev/null >\"$SECRET\" || printf no; \
                   sh -c 'cat \"$SECRET\"'; env | grep -c value";
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        let mut job = workspace.job(command);
        job.descriptors = vec![DescriptorFile::new("SECRET", b"value\n")];
        let result = finish(workspace.sandbox.spawn(job).await.unwrap()).await.unwrap();
        assert_eq!(result.out, "value\nvalue\nnovalue\n0\n", "{level}: {result:?}");
        let mut job = workspace.job("od -An -tx1 \"$OTHER\"; ls /proc/self/fd | wc -l");
        job.descriptors = vec![DescriptorFile::new("OTHER", &[b'a', 0, 0xff])];
        let result = finish(workspace.sandbox.spawn(job).await.unwrap()).await.unwrap();
        // The three streams, this file, and the directory that `ls` reads.
        assert_eq!(result.out.split_whitespace().collect::<Vec<_>>(), ["61", "00", "ff", "5"]);
    }
}
