//! Keeps the jobs of this process whose leftovers are not removed yet, so that none is forgotten
//! when the process ends.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::error::SandboxError;
use crate::launch;
use crate::planted::PlantedRepository;
use crate::residue::JobResidue;

/// Limits how long the end of the process waits for cleanups that other threads have begun.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(5);

/// The jobs of this process.
#[derive(Debug)]
struct Jobs {
    next: u64,
    running: BTreeMap<u64, JobResidue>,
    /// The number of cleanups that threads are doing.
    clearing: usize,
}

/// A lock because jobs are started, ended and dropped on any thread; it is held for a lookup.
static JOBS: Mutex<Jobs> = Mutex::new(Jobs { next: 0, running: BTreeMap::new(), clearing: 0 });
/// Reports the end of each cleanup.
static CLEARED: Condvar = Condvar::new();

fn lock_jobs() -> MutexGuard<'static, Jobs> {
    // No holder panics, and the map would be whole if one did.
    JOBS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A job that was started.
#[derive(Debug)]
pub(crate) struct RunningJob {
    number: u64,
}

impl RunningJob {
    pub(crate) fn register(residue: JobResidue) -> Self {
        let mut jobs = lock_jobs();
        let number = jobs.next;
        jobs.next += 1;
        jobs.running.insert(number, residue);
        Self { number }
    }

    /// Ends all processes, without waiting for it.
    pub(crate) fn kill(&self) {
        if let Some(residue) = lock_jobs().running.get_mut(&self.number) {
            residue.kill();
        }
    }

    /// Cleans up on a thread of its own. The receiver reports the repositories that the job made.
    pub(crate) fn clear(self) -> Result<oneshot::Receiver<Vec<PlantedRepository>>, SandboxError> {
        launch::run_in_background(move || {
            let mut jobs = lock_jobs();
            // The end of the process has taken it, and cleans up.
            let Some(residue) = jobs.running.remove(&self.number) else { return Vec::new() };
            jobs.clearing += 1;
            drop(jobs);
            let planted = residue.clear();
            lock_jobs().clearing -= 1;
            CLEARED.notify_all();
            planted
        })
    }
}

/// Ends all jobs of this process and removes what they left. Returns the repositories that they made
/// and that were not reported yet.
///
/// Call it at the end of `main`, after the asynchronous runtime is gone: a job that is dropped then is
/// cleaned up by a thread that would not outlive `main`.
pub fn end_all_jobs() -> Vec<PlantedRepository> {
    let mut running = std::mem::take(&mut lock_jobs().running);
    running.values_mut().for_each(JobResidue::kill);
    let planted = running.into_values().flat_map(JobResidue::clear).collect();
    let jobs = lock_jobs();
    // What is not cleared in time is recognized and removed by the next start.
    let _ = CLEARED.wait_timeout_while(jobs, CLEANUP_TIMEOUT, |jobs| jobs.clearing > 0);
    planted
}
