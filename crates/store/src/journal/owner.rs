//! Identifies the process that holds a lease, and tells whether it still runs.

use std::fmt;
use std::fs;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use uuid::Uuid;

use super::clock::LeaseClock;

/// A process that holds a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseOwner {
    /// Its process id.
    pub pid: u32,
    /// The name of its machine.
    pub host: String,
}

impl fmt::Display for LeaseOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)
    }
}

/// A process, distinguished from all others that ever had the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// Its process id.
    pub pid: u32,
    /// The machine's name, its boot id and its namespace of process ids. Only if all three are
    /// equal can this process inspect the other one: containers often share a name.
    pub host: String,
    /// The start time of the process in kernel ticks; 0 if the system does not provide it.
    pub start: i64,
}

impl ProcessIdentity {
    /// Returns the identity of this process.
    pub fn current() -> &'static Self {
        static CURRENT: OnceLock<ProcessIdentity> = OnceLock::new();
        CURRENT.get_or_init(|| {
            let pid = std::process::id();
            // Without /proc the time is not known, and 0 is compared with nothing.
            let start = fs::read_to_string(format!("/proc/{pid}/stat"))
                .ok()
                .and_then(|stat| parse_stat(&stat))
                .map_or(0, |stat| stat.start);
            Self { pid, host: host_name(), start }
        })
    }

    /// Tells whether the process certainly no longer exists. Returns `false` if this cannot be
    /// determined.
    pub fn is_gone(&self) -> bool {
        if self.host != Self::current().host {
            return false;
        }
        match fs::read_to_string(format!("/proc/{}/stat", self.pid)) {
            Ok(stat) => parse_stat(&stat).is_some_and(|stat| {
                stat.has_ended || (self.start != 0 && stat.start != self.start)
            }),
            // There is no such process, or no /proc, or it hides the processes of other users.
            Err(_) => i32::try_from(self.pid)
                .ok()
                .and_then(Pid::from_raw)
                .is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH)),
        }
    }

    /// Tells whether the machine was started again since. Only where all processes run on one
    /// machine does another start mean that, and not another machine.
    pub(super) fn is_of_an_earlier_start(&self, clock: LeaseClock) -> bool {
        let (own, other) = (boot_of(&Self::current().host), boot_of(&self.host));
        clock == LeaseClock::Machine && !own.is_empty() && !other.is_empty() && own != other
    }

    pub(super) fn owner(&self) -> LeaseOwner {
        let host = self.host.split('/').next().unwrap_or_default().to_owned();
        LeaseOwner { pid: self.pid, host }
    }
}

/// Returns a random name of this process that no other ever has.
pub(super) fn own_incarnation() -> &'static str {
    static INCARNATION: OnceLock<String> = OnceLock::new();
    INCARNATION.get_or_init(|| Uuid::new_v4().to_string())
}

/// Returns the boot id of a [`ProcessIdentity::host`]; empty if the system has none.
fn boot_of(host: &str) -> &str {
    host.split('/').nth(1).unwrap_or_default()
}

fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().replace('/', "_");
    // Without /proc the name alone tells machines apart.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{name}/{}/{}", boot.trim(), namespace.display())
}

struct ProcessStat {
    /// True for a zombie: it was killed and its parent has not reaped it yet.
    has_ended: bool,
    start: i64,
}

/// Parses fields 3 and 22 of `/proc/<pid>/stat`. The second field is the program's name in
/// parentheses and may contain anything, so counting starts after the last parenthesis.
fn parse_stat(text: &str) -> Option<ProcessStat> {
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let start = fields.nth(18)?.parse().ok()?;
    Some(ProcessStat { has_ended: matches!(state, "Z" | "X" | "x"), start })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_program_name_does_not_shift_the_fields() {
        let text = "7 (a) S 1 (b)) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 9 9";
        let stat = parse_stat(text).unwrap();
        assert_eq!((stat.has_ended, stat.start), (false, 12345));
    }

    #[test]
    fn this_process_is_not_gone_but_its_predecessor_is() {
        let current = ProcessIdentity::current();
        assert!(!current.is_gone());
        let earlier = ProcessIdentity { start: current.start - 1, ..current.clone() };
        assert!(earlier.is_gone());
        let on_other_host = ProcessIdentity { host: "other/boot/ns".into(), ..earlier };
        assert!(!on_other_host.is_gone());
    }
}
