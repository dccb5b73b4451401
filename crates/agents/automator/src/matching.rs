//! Finds the job that a person means.

use lango_text::significant_words;

use crate::AutomatorError;
use crate::job::Job;

/// Words that say nothing about which job is meant.
const GENERAL_WORDS: &[&str] = &[
    "a",
    "about",
    "all",
    "daily",
    "for",
    "hourly",
    "job",
    "jobs",
    "me",
    "monthly",
    "my",
    "nightly",
    "of",
    "one",
    "reminder",
    "reminders",
    "schedule",
    "scheduled",
    "task",
    "that",
    "the",
    "this",
    "to",
    "weekly",
    "it",
];

/// Limits the jobs that an error names.
const MAX_NAMED_COUNT: usize = 5;

/// Returns the one job that an id, a name or words of its task mean.
pub(crate) fn find_job(jobs: &[Job], words: &str) -> Result<Job, AutomatorError> {
    let given = words.trim().trim_matches(['`', '"', '\'']);
    if let Some(job) = jobs.iter().find(|job| job.id == given) {
        return Ok(job.clone());
    }
    let tests: [&dyn Fn(&Job) -> bool; 3] = [
        &|job| job.name.eq_ignore_ascii_case(given),
        &|job| !given.is_empty() && job.id.starts_with(given),
        &|job| describes(given, job),
    ];
    for test in tests {
        let mut found: Vec<Job> = jobs.iter().filter(|job| test(job)).cloned().collect();
        match found.len() {
            0 => {}
            1 => return Ok(found.remove(0)),
            _ => {
                let names = found.iter().take(MAX_NAMED_COUNT).map(|job| job.id.clone()).collect();
                return Err(AutomatorError::SeveralJobs { given: given.to_owned(), names });
            }
        }
    }
    Err(AutomatorError::UnknownJob(given.to_owned()))
}

/// Tells whether all words that say something are words of the job. Where none does, every job is
/// meant.
fn describes(words: &str, job: &Job) -> bool {
    let wanted = significant_words(words, GENERAL_WORDS);
    if wanted.is_empty() {
        return true;
    }
    let own = significant_words(&format!("{} {} {}", job.name, job.task, job.said), &[]);
    wanted.is_subset(&own)
}
