//! Tests how jobs end, and that nothing of them remains.

use std::time::Duration;

use lango_sandbox::{ConfinementLevel, SandboxPart};

use crate::workspace::{LEVELS, TestWorkspace};

/// Returns a duration that no other process of the machine sleeps for.
fn marker() -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("{}.{number}", 1000 + std::process::id())
}

/// Returns the number of processes that sleep for this duration and are no zombies.
fn sleepers(marker: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let is_one = |line: Vec<u8>| String::from_utf8_lossy(&line) == format!("sleep\0{marker}\0");
    processes.filter(|p| std::fs::read(p.path().join("cmdline")).is_ok_and(is_one)).count()
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..3000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} did not happen");
}

/// Returns workspaces for both variants of supervision at level Landlock, and for bubblewrap.
fn workspaces() -> [TestWorkspace; 3] {
    let [bubblewrap, landlock] = LEVELS.map(TestWorkspace::at);
    [
        bubblewrap,
        landlock,
        TestWorkspace::at(ConfinementLevel::Landlock).without(SandboxPart::Cgroup),
    ]
}

/// Returns a command that starts a background child, one in its own session, and an orphan.
fn family(marker: &str) -> String {
    format!(
        "sleep {marker} & setsid sleep {marker} & (setsid sh -c 'sleep {marker} & exec sleep {marker}' &) ; \
         while test $(grep -l {marker} /proc/[0-9]*/cmdline 2>/dev/null | wc -l) -lt 4; do sleep 0.02; done"
    )
}

#[tokio::test]
async fn at_its_end_nothing_stays() {
    for workspace in workspaces() {
        let marker = marker();
        workspace.prints(&format!("{}; echo done", family(&marker))).await;
        assert_eq!(sleepers(&marker), 0, "{:?}", workspace.sandbox);
        assert!(workspace.names().is_empty());
    }
}

#[tokio::test]
async fn ended_or_dropped_nothing_stays() {
    for is_dropped in [true, false] {
        for workspace in workspaces() {
            let marker = marker();
            let job = workspace
                .start(&format!("{}; exec sleep {marker}", family(&marker)))
                .await
                .unwrap();
            until("the start", || sleepers(&marker) == 5).await;
            if is_dropped {
                drop(job);
                until("the end", || sleepers(&marker) == 0).await;
            } else {
                job.end().await.unwrap();
                assert_eq!(sleepers(&marker), 0, "{:?}", workspace.sandbox);
            }
            until("tidiness", || workspace.names().is_empty()).await;
        }
    }
}

#[tokio::test]
async fn no_group_and_no_directory_stays() {
    for workspace in workspaces() {
        workspace.prints("true").await;
        workspace.start("sleep 100").await.unwrap().end().await.unwrap();
    }
    let own = format!("lango-{}-", std::process::id());
    for parent in ["/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory", "/sys/fs/cgroup"] {
        let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
        let left = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&own));
        // Other tests of this process may have theirs.
        assert!(left.count() < 8, "{parent}");
    }
}

#[tokio::test]
async fn exit_codes_and_signals_come_through() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        for (command, code) in
            [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143)]
        {
            assert_eq!(workspace.run(command).await.code, Some(code), "{level}: {command}");
        }
    }
}

#[tokio::test]
async fn waiting_can_be_interrupted_and_repeated() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        let mut job = workspace.start("sleep 0.3; exit 5").await.unwrap();
        // Dropped repeatedly, at whatever point it has reached.
        while tokio::time::timeout(Duration::from_millis(1), job.wait()).await.is_err() {}
        assert_eq!(job.wait().await.unwrap().code(), Some(5), "{level}");
        assert!(workspace.names().is_empty(), "{level}: {:?}", workspace.names());
    }
}
