//! Tests what a command may ask of the kernel, and what it sees of other processes.

use std::os::unix::fs::MetadataExt as _;

use lango_sandbox::ConfinementLevel;

use crate::workspace::{LEVELS, TestWorkspace};

#[tokio::test]
async fn no_privileges_are_left_and_none_can_be_gained() {
    for level in LEVELS {
        let status = TestWorkspace::at(level).prints("cat /proc/self/status").await;
        // Only root can drop it, and others cannot gain it: the next line checks that.
        let bounding = std::fs::metadata("/proc/self").unwrap().uid() == 0;
        let sets = ["CapInh", "CapPrm", "CapEff", "CapAmb"].into_iter();
        for line in sets.chain(bounding.then_some("CapBnd")) {
            assert!(status.contains(&format!("{line}:\t0000000000000000\n")), "{level}: {status}");
        }
        assert!(status.contains("NoNewPrivs:\t1\n"), "{level}: {status}");
        assert!(status.contains("Seccomp:\t2\n"), "{level}: {status}");
    }
}

/// Uses the system calls of x86-64 by number, with harmless arguments.
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn dangerous_calls_are_refused_and_the_program_goes_on() {
    const REFUSED: [(&str, i64); 16] = [
        ("ptrace", 101),
        ("mount", 165),
        ("unshare", 272),
        ("setns", 308),
        ("kexec_load", 246),
        ("init_module", 175),
        ("bpf", 321),
        ("perf_event_open", 298),
        ("userfaultfd", 323),
        ("keyctl", 250),
        ("io_uring_setup", 425),
        ("reboot", 169),
        ("swapon", 167),
        ("quotactl", 179),
        ("process_vm_readv", 310),
        ("open_by_handle_at", 304),
    ];
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        for (name, number) in REFUSED {
            let command =
                format!("/usr/bin/perl -e 'syscall({number}, -1, -1, -1, -1, -1); print $!+0'");
            assert_eq!(workspace.prints(&command).await, "1", "{level}: {name}");
        }
        // New user namespaces, by both calls, and by the numbers of the second numbering.
        let unshared = "/usr/bin/perl -e 'syscall(56, 0x10000011, 0, 0, 0, 0); print $!+0'";
        assert_eq!(workspace.prints(unshared).await, "1", "{level}");
        let clone3 = "/usr/bin/perl -e 'syscall(435, 0, 0); print $!+0'";
        assert_eq!(workspace.prints(clone3).await, "38", "{level}");
        let second = "/usr/bin/perl -e 'syscall(0x40000000 + 101, -1, -1, -1, -1); print $!+0'";
        assert_eq!(workspace.prints(second).await, "38", "{level}");
        // Typing into a terminal.
        let typed = "/usr/bin/perl -e '$c = \"x\"; syscall(16, 0, 0x5412, $c); print $!+0'";
        assert_eq!(workspace.prints(typed).await, "1", "{level}");
        // Threads and processes can still be created.
        workspace.prints("(true) && echo $(echo fine)").await;
    }
}

#[tokio::test]
async fn other_processes_are_out_of_reach() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        let own = std::process::id();
        // Cargo sets variables for every test, so there is something to see.
        let command =
            "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ; done 2>/dev/null; true";
        let seen = workspace.prints(command).await;
        assert!(!seen.contains("CARGO"), "{level}: {seen}");
        workspace.refuses(&format!("cat /proc/{own}/environ")).await;
        workspace.refuses("cat /proc/$PPID/environ | grep .").await;
        workspace.refuses(&format!("kill -0 {own}")).await;
        if level == ConfinementLevel::Landlock {
            // With namespaces, -1 means the processes inside.
            workspace.refuses("kill -0 -1").await;
            workspace.refuses("kill -0 $PPID").await;
        }
        workspace.refuses(&format!("ls /proc/{own}/root/ /proc/{own}/fd")).await;
        if level == ConfinementLevel::Bubblewrap {
            let seen = workspace.prints("ls /proc | grep -c '^[0-9]'").await;
            assert!(seen.trim().parse::<u32>().unwrap() < 8, "{seen}");
        }
    }
}

#[tokio::test]
async fn the_environment_is_that_of_the_job_and_no_descriptor_is_left_open() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        let names = workspace.prints("env | cut -d= -f1 | sort | tr '\\n' ' '").await;
        assert_eq!(names, "PATH PWD TMPDIR ", "{level}");
        // Those of ls itself: three streams and the directory that it lists.
        assert_eq!(workspace.prints("ls /proc/self/fd | wc -l").await.trim(), "4", "{level}");
    }
}

#[tokio::test]
async fn there_is_no_terminal() {
    for level in LEVELS {
        TestWorkspace::at(level).refuses("true < /dev/tty").await;
    }
}

#[tokio::test]
async fn devices_other_than_a_few_cannot_be_read() {
    let terminal = rustix::pty::openpt(rustix::pty::OpenptFlags::RDWR).unwrap();
    rustix::pty::grantpt(&terminal).unwrap();
    rustix::pty::unlockpt(&terminal).unwrap();
    let name = rustix::pty::ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        // Nothing is typed there: opening it alone must fail.
        workspace.refuses(&format!("exec 3< {name}")).await;
        workspace.refuses("exec 3< /dev/kmsg").await;
        for device in ["null", "zero", "full", "random", "urandom"] {
            workspace.prints(&format!("head -c 1 /dev/{device} > /dev/null")).await;
        }
        workspace.prints("echo x | cat /dev/stdin").await;
    }
}
