//! Tests how much of the machine a command can use. All bombs here are small.

use lango_sandbox::{ConfinementLevel, JobLimits, SandboxPart};

use crate::workspace::{LEVELS, TestWorkspace};

fn with(level: ConfinementLevel, limits: JobLimits) -> TestWorkspace {
    let mut workspace = TestWorkspace::at(level);
    workspace.bounds.limits = limits;
    workspace
}

#[tokio::test]
async fn processes_are_counted() {
    for level in LEVELS {
        let workspace = with(level, JobLimits { processes: 20, ..JobLimits::default() });
        // At most 60 of them, and they end by themselves.
        let command = "i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; echo all";
        let result = workspace.run(command).await;
        assert!(!result.out.contains("all") && result.err.contains("fork"), "{level}: {result:?}");
    }
}

#[tokio::test]
async fn memory_is_limited() {
    for level in LEVELS {
        for cgroup in [true, false] {
            let mut workspace =
                with(level, JobLimits { memory_bytes: 64 << 20, ..JobLimits::default() });
            if !cgroup {
                workspace = workspace.without(SandboxPart::Cgroup);
            }
            workspace.prints("/usr/bin/perl -e '$x = \"a\" x (8 << 20); print length $x'").await;
            workspace.refuses("/usr/bin/perl -e '$x = \"a\" x (200 << 20); print length $x'").await;
        }
    }
}

#[tokio::test]
async fn time_files_and_descriptors_are_limited() {
    for level in LEVELS {
        let limits = JobLimits {
            cpu_seconds: 1,
            file_bytes: 1 << 20,
            open_files: 32,
            ..JobLimits::default()
        };
        let workspace = with(level, limits);
        workspace.put("sub/file", "");
        let result = workspace.refuses("while :; do :; done").await;
        assert_eq!(result.code, Some(128 + 24), "{level}: {result:?}");
        workspace.refuses("head -c 3000000 /dev/zero > sub/file").await;
        assert_eq!(std::fs::metadata(workspace.path("sub/file")).unwrap().len(), 1 << 20);
        assert_eq!(workspace.prints("ulimit -n; ulimit -c").await, "32\n0\n");
    }
}
