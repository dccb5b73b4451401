//! Cleans up after a job.

use std::fs;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::cgroup::CgroupGroup;
use crate::job::JobBounds;
use crate::opened_repository::OpenedRepository;
use crate::plan::PathPlan;
use crate::planted::PlantedRepository;
use crate::repositories::DirectorySnapshot;
use crate::vacancy::Placeholder;

/// Limits how long the first process may take to end after it was asked to.
const PROCESS_END_TIMEOUT: Duration = Duration::from_secs(5);

/// The leftovers of a job. Cleaning them up blocks.
#[derive(Debug, Default)]
pub(crate) struct JobResidue {
    /// The process that was started.
    pub(crate) first: Option<OwnedFd>,
    /// The file in which bubblewrap reports the id of the first process inside.
    pub(crate) information: Option<fs::File>,
    pub(crate) group: Option<CgroupGroup>,
    pub(crate) placeholders: Vec<Placeholder>,
    pub(crate) temporary: Option<PathBuf>,
    /// Closed to tell that this process does not want the job any more, or is gone.
    pub(crate) lifeline: Option<OwnedFd>,
    /// True if a helper supervises the job. It ends all processes when the lifeline is closed, and
    /// must not be killed before them.
    pub(crate) is_supervised: bool,
    /// What is checked after the job.
    pub(crate) after: AfterCheck,
}

/// What a job could plant, and how the places were before it.
#[derive(Debug, Default)]
pub(crate) struct AfterCheck {
    directories: Vec<DirectorySnapshot>,
    repository: Option<OpenedRepository>,
    keeps_plain_repositories: bool,
}

impl AfterCheck {
    /// Takes what must be checked out of the bounds: the places that the job can write to.
    pub(crate) fn take_from(bounds: &mut JobBounds, plan: &PathPlan) -> Self {
        let mut directories = std::mem::take(&mut bounds.directories);
        directories.retain(|before| plan.writable_paths().any(|r| before.top().starts_with(r)));
        let keeps_plain_repositories = bounds.keeps_plain_repositories;
        Self { directories, repository: bounds.repository.take(), keeps_plain_repositories }
    }

    /// Disables what the job planted, and returns it.
    fn disable_planted(self) -> Vec<PlantedRepository> {
        let keeps_plain = self.keeps_plain_repositories;
        let new = |before: &DirectorySnapshot| before.disable_planted(keeps_plain);
        let mut planted: Vec<_> = self.directories.iter().flat_map(new).collect();
        planted.extend(self.repository.iter().flat_map(OpenedRepository::disable_planted));
        planted
    }
}

impl JobResidue {
    /// Ends all processes, without waiting for it.
    pub(crate) fn kill(&mut self) {
        self.lifeline = None;
        if let Some(first) = self.first.as_ref().filter(|_| !self.is_supervised) {
            // This fails if the process is gone, as intended.
            let _ = pidfd_send_signal(first, Signal::KILL);
        }
    }

    /// Waits until all processes are gone, and removes the rest. Returns the repositories that the
    /// job made.
    ///
    /// A placeholder that is removed while a process still runs would uncover its path.
    pub(crate) fn clear(mut self) -> Vec<PlantedRepository> {
        let inside = self.find_first_process();
        if let Some(first) = self.first.as_ref().filter(|first| !has_ended(first)) {
            // This fails if the process is gone, as intended.
            let _ = pidfd_send_signal(first, Signal::KILL);
            has_ended(first);
        }
        if let Some(inside) = &inside {
            has_ended(inside);
        }
        if let Some(group) = self.group.take() {
            group.remove();
        }
        for placeholder in self.placeholders.drain(..) {
            placeholder.release();
        }
        if let Some(temporary) = self.temporary.take() {
            // A directory that cannot be removed is in a temporary directory that the system
            // clears.
            let _ = fs::remove_dir_all(temporary);
        }
        self.after.disable_planted()
    }

    /// Returns the first process inside, whose end ends all others.
    fn find_first_process(&mut self) -> Option<OwnedFd> {
        let mut text = [0; 256];
        let length = self.information.take()?.read(&mut text).ok()?;
        let text = String::from_utf8_lossy(&text[..length]).into_owned();
        let (_, number) = text.split_once("\"child-pid\":")?;
        let digits: String = number.trim_start().chars().take_while(char::is_ascii_digit).collect();
        let id = Pid::from_raw(digits.parse().ok()?)?;
        // This fails if the process is already gone.
        pidfd_open(id, PidfdFlags::empty()).ok()
    }
}

fn has_ended(process: &OwnedFd) -> bool {
    let limit = Timespec { tv_sec: PROCESS_END_TIMEOUT.as_secs().cast_signed(), tv_nsec: 0 };
    let mut watched = [PollFd::new(process, PollFlags::IN)];
    loop {
        match poll(&mut watched, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(count) => return count > 0,
            Err(_) => return false,
        }
    }
}
