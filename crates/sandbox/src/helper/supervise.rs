//! Supervises a program if no namespace does.
//!
//! The helper stays as the ancestor of all processes that the program starts, even in other
//! sessions, and ends them when the program ends or when its own parent is gone.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::sync::Mutex;
use std::sync::mpsc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, setsid, wait,
};

use super::order::{HelperOrder, READY};
use super::{build_command, give_up_rights, limits, no_program_report};

/// Added to the number of the signal that ended the program, as in shells.
const SIGNAL_EXIT_BASE: i32 = 128;

/// Held by the thread that ends everything; the other one waits for the exit.
static ENDING: Mutex<()> = Mutex::new(());

pub(super) fn run_supervised(
    order: &HelperOrder,
    report: &mut File,
    mut lifeline: File,
) -> Result<u8, String> {
    let failed = |what: &str, error: rustix::io::Errno| format!("{what}: {error}");
    setsid().map_err(|error| failed("no session", error))?;
    set_child_subreaper(Some(getpid())).map_err(|error| failed("no subreaper", error))?;
    limits::apply_limits(&order.limits)?;
    std::thread::spawn(move || {
        // Nothing is ever sent: whatever this returns, the other end is closed.
        let _ = lifeline.read(&mut [0]);
        let _held = ENDING.lock();
        end_all();
        std::process::exit(SIGNAL_EXIT_BASE + Signal::KILL.as_raw());
    });
    let program = start_program(order)?;
    report.write_all(&[READY]).map_err(|error| format!("no report can be made: {error}"))?;
    let status = wait_for(program)?;
    let _held = ENDING.lock();
    end_all();
    Ok(exit_code(status))
}

/// Tells whether the other end of the lifeline is closed.
pub(super) fn is_closed(lifeline: &File) -> bool {
    let mut watched = [PollFd::new(lifeline, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    // Nothing is ever sent, so any event is the end. An error says nothing about the owner.
    poll(&mut watched, Some(&now)).is_ok_and(|count| count > 0)
}

/// Starts the program from a thread that has dropped its rights; this process keeps its own, and is
/// out of the program's reach.
fn start_program(order: &HelperOrder) -> Result<Pid, String> {
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let started = give_up_rights(order).and_then(|()| {
                build_command(order).spawn().map_err(|error| no_program_report(&error))
            });
            let id = started.map(|child| Pid::from_raw(child.id().cast_signed()));
            // The receiver waits for it.
            let _ = sender.send(id);
        });
        receiver.recv().map_err(|error| error.to_string())??.ok_or("no process id".to_owned())
    })
}

/// Waits for the program, and reaps all other processes that end meanwhile.
fn wait_for(program: Pid) -> Result<WaitStatus, String> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == program => return Ok(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(format!("the program cannot be waited for: {error}")),
        }
    }
}

fn exit_code(status: WaitStatus) -> u8 {
    let signal = || status.terminating_signal().map(|signal| SIGNAL_EXIT_BASE + signal);
    let code = status.exit_status().or_else(signal).unwrap_or(SIGNAL_EXIT_BASE);
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Kills all descendants, until there are none.
fn end_all() {
    loop {
        match wait(WaitOptions::NOHANG) {
            // No child is left.
            Err(rustix::io::Errno::CHILD) => return,
            Ok(Some(_)) => continue,
            Ok(None) | Err(_) => {}
        }
        let everybody = list_descendants();
        // Stopped first, so that none starts others while their siblings are killed.
        for signal in [Signal::STOP, Signal::KILL] {
            for process in &everybody {
                // A process that is already gone need not be killed.
                let _ = kill_process(*process, signal);
            }
        }
        if everybody.is_empty() {
            // A process is about to end.
            std::thread::yield_now();
        }
    }
}

/// Returns all descendants of this process.
fn list_descendants() -> Vec<Pid> {
    let mut parents: Vec<(Pid, Pid)> = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw)
        else {
            continue;
        };
        // A process that has ended meanwhile has no file any more, and no parent.
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The program's name comes before, in parentheses, and can contain anything.
        let parent =
            stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        parents.extend(parent.and_then(Pid::from_raw).map(|parent| (id, parent)));
    }
    let mut found = vec![getpid()];
    loop {
        let known = found.len();
        for (id, parent) in &parents {
            if found.contains(parent) && !found.contains(id) {
                found.push(*id);
            }
        }
        if found.len() == known {
            found.remove(0);
            return found;
        }
    }
}
