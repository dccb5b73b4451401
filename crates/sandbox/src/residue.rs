//! What a job leaves behind, and how it is cleared away.

use std::fs;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::cgroup::Group;
use crate::vacancy::StandIn;

/// How long the first process may take to end by itself after it was asked to.
const PATIENCE: Duration = Duration::from_secs(5);

/// All that must go after a job. Clearing it away blocks.
#[derive(Debug, Default)]
pub(crate) struct Residue {
    /// The process that we started.
    pub(crate) first: Option<OwnedFd>,
    /// Where bubblewrap tells the number of the first process inside.
    pub(crate) information: Option<fs::File>,
    pub(crate) group: Option<Group>,
    pub(crate) stand_ins: Vec<StandIn>,
    pub(crate) temporary: Option<PathBuf>,
}

impl Residue {
    /// Waits until all processes are gone, and removes the rest.
    ///
    /// A stand-in that goes while somebody is inside would open what it stands for.
    pub(crate) fn clear(mut self) {
        let inside = self.inside();
        if let Some(first) = self.first.as_ref().filter(|first| !has_ended(first)) {
            // It fails on one that is gone, which is what is wanted.
            let _ = pidfd_send_signal(first, Signal::KILL);
            has_ended(first);
        }
        if let Some(inside) = &inside {
            has_ended(inside);
        }
        if let Some(group) = self.group.take() {
            group.remove();
        }
        for stand_in in self.stand_ins.drain(..) {
            stand_in.release();
        }
        if let Some(temporary) = self.temporary.take() {
            // What cannot be removed is in a directory of the system's that is cleared anyway.
            let _ = fs::remove_dir_all(temporary);
        }
    }

    /// The first process inside, whose end is that of all others.
    fn inside(&mut self) -> Option<OwnedFd> {
        let mut text = [0; 256];
        let length = self.information.take()?.read(&mut text).ok()?;
        let text = String::from_utf8_lossy(&text[..length]).into_owned();
        let (_, number) = text.split_once("\"child-pid\":")?;
        let digits: String = number.trim_start().chars().take_while(char::is_ascii_digit).collect();
        let id = Pid::from_raw(digits.parse().ok()?)?;
        // It fails where the process is gone already.
        pidfd_open(id, PidfdFlags::empty()).ok()
    }
}

fn has_ended(process: &OwnedFd) -> bool {
    let limit = Timespec { tv_sec: PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
    let mut watched = [PollFd::new(process, PollFlags::IN)];
    loop {
        match poll(&mut watched, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(count) => return count > 0,
            Err(_) => return false,
        }
    }
}
