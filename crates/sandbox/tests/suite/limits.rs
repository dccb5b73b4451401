//! How much of the machine a command can use. All bombs here are small ones.

use lango_sandbox::{Level, Limits, Part};

use crate::room::{LEVELS, Room};

fn with(level: Level, limits: Limits) -> Room {
    let mut room = Room::at(level);
    room.bounds.limits = limits;
    room
}

#[tokio::test]
async fn processes_are_counted() {
    for level in LEVELS {
        let room = with(level, Limits { processes: 20, ..Limits::default() });
        // At most 60 of them, and they end by themselves.
        let command = "i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; echo all";
        let said = room.run(command).await;
        assert!(!said.out.contains("all") && said.err.contains("fork"), "{level}: {said:?}");
    }
}

#[tokio::test]
async fn memory_is_limited() {
    for level in LEVELS {
        for cgroup in [true, false] {
            let mut room = with(level, Limits { memory_bytes: 64 << 20, ..Limits::default() });
            if !cgroup {
                room = room.without(Part::Cgroup);
            }
            room.prints("/usr/bin/perl -e '$x = \"a\" x (8 << 20); print length $x'").await;
            room.refuses("/usr/bin/perl -e '$x = \"a\" x (200 << 20); print length $x'").await;
        }
    }
}

#[tokio::test]
async fn time_files_and_descriptors_are_limited() {
    for level in LEVELS {
        let limits =
            Limits { cpu_seconds: 1, file_bytes: 1 << 20, open_files: 32, ..Limits::default() };
        let room = with(level, limits);
        room.put("sub/file", "");
        let said = room.refuses("while :; do :; done").await;
        assert_eq!(said.code, Some(128 + 24), "{level}: {said:?}");
        room.refuses("head -c 3000000 /dev/zero > sub/file").await;
        assert_eq!(std::fs::metadata(room.path("sub/file")).unwrap().len(), 1 << 20);
        assert_eq!(room.prints("ulimit -n; ulimit -c").await, "32\n0\n");
    }
}
