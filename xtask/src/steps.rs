//! Steps with headings, times and a summary.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

/// The steps of a task so far.
#[derive(Default)]
pub(crate) struct Steps {
    taken: Vec<Step>,
}

struct Step {
    name: &'static str,
    time: Duration,
    succeeded: bool,
}

impl Steps {
    /// Takes one step. Where it fails, the error says how to repeat it alone.
    pub(crate) fn take<T>(
        &mut self,
        name: &'static str,
        repeat: &str,
        step: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        println!("\n==> {name}: {repeat}");
        let began = Instant::now();
        let result = step();
        let time = began.elapsed();
        println!("<== {name}: {:.1} s", time.as_secs_f64());
        self.taken.push(Step { name, time, succeeded: result.is_ok() });
        result
            .map_err(|error| anyhow!("the step {name:?} failed: {error:#}\nTo repeat it: {repeat}"))
    }

    /// The steps with their times, one to a line.
    pub(crate) fn summary(&self) -> String {
        let width = self.taken.iter().map(|step| step.name.len()).max().unwrap_or(0).max(5);
        let line = |name: &str, time: Duration, note: &str| {
            format!("{name:width$} {:>8.1} s{note}\n", time.as_secs_f64())
        };
        let mut text = String::from("\n");
        for step in &self.taken {
            text += &line(step.name, step.time, if step.succeeded { "" } else { "  FAILED" });
        }
        text + &line("total", self.taken.iter().map(|step| step.time).sum(), "")
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn a_failed_step_is_marked_and_says_how_to_repeat_it() {
        let mut steps = Steps::default();
        steps.take("good", "cargo good", || Ok(())).unwrap();
        let error = steps.take("bad", "cargo bad --now", || -> Result<()> { bail!("no") });
        assert!(error.unwrap_err().to_string().contains("cargo bad --now"));
        let summary = steps.summary();
        let failed: Vec<&str> = summary.lines().filter(|line| line.contains("FAILED")).collect();
        assert_eq!(failed.len(), 1, "{summary}");
        assert!(failed[0].starts_with("bad "), "{summary}");
        assert!(summary.contains("total"), "{summary}");
    }
}
