//! The memory of a process with an unlocked vault: no core dump has it, and no other program reads it.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output};

use rustix::process::Signal;

use super::{CANARY, files_with};
use crate::fixture::Lango;
use crate::invocation::Running;

/// Runs what follows without the privileges of the root user, who may read the memory of any process.
const UNPRIVILEGED: [&str; 3] = ["--bounding-set=-all", "--inh-caps=-all", "--"];

/// Allows core dumps, and runs what follows in the directory `$0`.
const DUMPING: &str = "ulimit -c unlimited && cd \"$0\" && exec \"$@\"";

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

async fn with_secret() -> Lango {
    let lango = Lango::silent().await;
    let stored = lango.bare(&["secrets", "set", "token"]).input(format!("{CANARY}\n")).run().await;
    assert_eq!(stored.code, 0, "{stored:?}");
    std::fs::create_dir(lango.path("cores")).unwrap();
    lango
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_crashes_leaves_no_core_with_a_value() {
    let lango = with_secret().await;
    let cores = lango.path("cores");
    // Whether this system writes core dumps where they can be found: another program leaves one.
    let crash = ["-c", DUMPING, cores.to_str().unwrap(), "sh", "-c", "kill -ABRT $$"];
    let status = Command::new("sh").args(crash).status().unwrap();
    assert_eq!(status.signal(), Some(Signal::ABORT.as_raw()));
    let writes_cores = status.core_dumped();
    println!("core dumps are written here: {writes_cores}, {:?}", names(&cores));
    for name in names(&cores) {
        std::fs::remove_file(cores.join(name)).unwrap();
    }
    for signal in [Signal::ABORT, Signal::SEGV, Signal::QUIT] {
        let first = ["-c", DUMPING, cores.to_str().unwrap()];
        let server = lango.through("sh", &first, &["serve", "--port", "0", "--no-auth"]);
        let (running, _) = server.start_until("Ctrl-C ends it").await;
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", running.id())).unwrap();
        let limit = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
        assert_eq!(limit.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"]);
        let status = running.end_by(signal).await;
        assert_eq!(status.signal(), Some(signal.as_raw()));
        assert!(!status.core_dumped(), "{signal:?}");
        assert_eq!(names(&cores), Vec::<String>::new(), "{signal:?}");
    }
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
}

fn run_unprivileged(command: &[&str]) -> Output {
    let is_root = rustix::process::geteuid().is_root();
    let (program, first): (_, &[&str]) =
        if is_root { ("setpriv", &UNPRIVILEGED) } else { ("env", &[]) };
    Command::new(program).args(first).args(command).output().unwrap()
}

async fn start_server(lango: &Lango) -> Running<'_> {
    let is_root = rustix::process::geteuid().is_root();
    let (program, first): (_, &[&str]) =
        if is_root { ("setpriv", &UNPRIVILEGED) } else { ("env", &[]) };
    let server = lango.through(program, first, &["serve", "--port", "0", "--no-auth"]);
    server.start_until("Ctrl-C ends it").await.0
}

#[tokio::test(flavor = "multi_thread")]
async fn no_other_program_of_the_user_reads_the_memory_of_the_process() {
    let lango = with_secret().await;
    let server = start_server(&lango).await;
    let own = run_unprivileged(&["sh", "-c", "cat /proc/$$/environ; : </proc/$$/mem"]);
    assert!(own.status.success(), "of another process it can be read: {own:?}");
    for file in ["environ", "mem", "maps"] {
        let path = format!("/proc/{}/{file}", server.id());
        let read = run_unprivileged(&["head", "-c", "1", &path]);
        assert!(!read.status.success() && read.stdout.is_empty(), "{path}: {read:?}");
        let why = String::from_utf8_lossy(&read.stderr);
        assert!(why.contains("Permission denied"), "{path}: {why}");
    }
    server.kill().await;
}
