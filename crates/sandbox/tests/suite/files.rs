//! What can be read and written.

use std::os::unix::fs::symlink;

use lango_sandbox::{Level, SandboxError};

use crate::room::{LEVELS, Room};

#[tokio::test]
async fn the_workspace_can_be_written_and_nothing_else() {
    for level in LEVELS {
        for place in [std::env::temp_dir(), std::env::current_dir().unwrap()] {
            let room = Room::within(level, &place);
            room.put("sub/old", "old");
            room.put("top", "old");
            let outside = room.outside().display().to_string();
            room.prints(
                "echo new > sub/new && echo new > sub/old && echo new > top && mkdir sub/d",
            )
            .await;
            assert_eq!(
                [room.content("sub/new"), room.content("sub/old"), room.content("top")],
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
                // Its own value, so that nothing happens should it succeed.
                "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern".to_owned(),
                "cat /proc/sys/kernel/hostname > /proc/sys/kernel/hostname".to_owned(),
                "touch /sys/fs/cgroup/lango-test".to_owned(),
                "touch /var/tmp/lango-test".to_owned(),
                "cd .. && mv workspace moved".to_owned(),
            ] {
                room.refuses(&command).await;
            }
            let secret = std::fs::read_to_string(room.outside().join("secret")).unwrap();
            assert_eq!(secret, "canary\n");
            assert_eq!(std::fs::read_dir(room.outside()).unwrap().count(), 1);
            assert!(!std::path::Path::new("/etc/lango-test").exists());
        }
    }
}

#[tokio::test]
async fn a_new_name_at_the_top_needs_bubblewrap() {
    let room = Room::at(Level::Bubblewrap);
    room.prints("echo x > new && mkdir dir && mv new dir/ && rm -r dir && echo y > kept").await;
    assert_eq!(room.names(), ["kept"]);
    let room = Room::at(Level::Landlock);
    room.refuses("echo x > new").await;
    assert!(room.names().is_empty());
}

#[tokio::test]
async fn hidden_places_cannot_be_read() {
    for level in LEVELS {
        for place in [std::env::temp_dir(), std::env::current_dir().unwrap()] {
            let mut room = Room::within(level, &place);
            room.put("inside/key", "canary\n");
            room.put("other/file", "fine\n");
            let file = room.outside().join("secret");
            let link = room.outside().join("link");
            symlink(room.path("inside"), &link).unwrap();
            // Through a link, a file, and not there at all.
            room.bounds.hidden =
                vec![link, file.clone(), room.outside().join("missing"), room.path("later")];
            for command in [
                "cat inside/key".to_owned(),
                "cat inside/*".to_owned(),
                format!("grep -r canary {}", room.outside().display()),
                format!("grep -r canary {}", room.path("").display()),
                "mv inside away && cat away/key".to_owned(),
                "mkdir later".to_owned(),
                "echo x > inside/new".to_owned(),
            ] {
                let said = room.refuses(&command).await;
                assert!(!said.out.contains("canary"), "{level} {command}: {said:?}");
            }
            if level == Level::Bubblewrap {
                // Landlock does not keep it secret that something is there.
                room.refuses("ls inside/key").await;
            }
            assert_eq!(room.prints("cat other/file").await, "fine\n");
            assert_eq!(room.names(), ["inside", "other"]);
            assert_eq!(room.content("inside/key"), "canary\n");
        }
    }
}

#[tokio::test]
async fn a_workspace_in_a_hidden_place_is_refused() {
    for level in LEVELS {
        let mut room = Room::at(level);
        room.bounds.hidden = vec![room.path("").parent().unwrap().to_owned()];
        let error = room.try_run("true").await.unwrap_err();
        assert!(matches!(error, SandboxError::HiddenDirectory { .. }), "{error}");
    }
}

#[tokio::test]
async fn the_whole_file_system_is_no_workspace() {
    for level in LEVELS {
        let mut room = Room::at(level);
        room.bounds.writable.push("/".into());
        let error = room.try_run("true").await.unwrap_err();
        assert!(matches!(error, SandboxError::Writable { .. }), "{error}");
    }
}

#[tokio::test]
async fn links_in_the_workspace_widen_nothing() {
    for level in LEVELS {
        let room = Room::within(level, &std::env::current_dir().unwrap());
        room.put("sub/file", "");
        symlink(room.outside(), room.path("sub/link")).unwrap();
        symlink(room.outside().join("secret"), room.path("top")).unwrap();
        for command in ["echo x > sub/link/new", "echo x > sub/link/secret", "echo x > top"] {
            room.refuses(command).await;
        }
        assert_eq!(std::fs::read_dir(room.outside()).unwrap().count(), 1);
        let secret = std::fs::read_to_string(room.outside().join("secret")).unwrap();
        assert_eq!(secret, "canary\n");
    }
}

#[tokio::test]
async fn temporary_files_are_private_and_gone_afterwards() {
    for level in LEVELS {
        let room = Room::at(level);
        room.put("sub/file", "");
        let place = room.prints("echo x > $TMPDIR/lango-test-mine && mktemp && echo $TMPDIR > sub/file && cat sub/file").await;
        let place = place.lines().last().unwrap().to_owned();
        assert!(!std::path::Path::new(&place).join("lango-test-mine").exists(), "{place}");
        room.refuses(&format!("cat {place}/lango-test-mine")).await;
        if level == Level::Bubblewrap {
            assert_eq!(room.prints("ls /tmp | grep -v ^.tmp | wc -l").await.trim(), "0");
        }
    }
}

/// Somebody in the workspace swaps a directory for a link that leads out while commands start. The
/// command may be refused then; it must not get out.
#[tokio::test]
async fn a_directory_that_becomes_a_link_widens_nothing() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, RenameFlags};

    for level in LEVELS {
        let mut room = Room::within(level, &std::env::current_dir().unwrap());
        room.put("b/.git/config", "");
        room.bounds.protected.push(lango_sandbox::Protected::directory(room.path("b/.git")));
        symlink("../outside", room.path("link")).unwrap();
        std::fs::create_dir(room.outside().join(".git")).unwrap();
        let (directory, link) = (room.path("b"), room.path("link"));
        let is_over = Arc::new(AtomicBool::new(false));
        let swapping = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                // Mostly as fast as it can, and now and then still long enough for a job to start.
                for round in 0_u64.. {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let exchange = RenameFlags::EXCHANGE;
                    rustix::fs::renameat_with(CWD, &directory, CWD, &link, exchange).unwrap();
                    if round % 997 == 0 {
                        std::thread::sleep(std::time::Duration::from_millis(20));
                    }
                }
            }
        });
        let mut ran = 0;
        for attempt in 0..2000 {
            if attempt >= 60 && ran > 0 {
                break;
            }
            let tried = "echo x > b/evil; echo x > b/.git/evil; echo x > link/evil; echo x > ../outside/evil; true";
            match room.try_run(tried).await {
                Ok(_) => ran += 1,
                Err(SandboxError::Setup { .. }) => {}
                Err(other) => panic!("{level}: {other}"),
            }
        }
        is_over.store(true, Ordering::Relaxed);
        swapping.join().unwrap();
        assert!(ran > 0, "{level}: it never ran, so this shows nothing");
        assert!(!room.outside().join("evil").exists(), "{level}");
        assert!(!room.outside().join(".git/evil").exists(), "{level}");
    }
}
