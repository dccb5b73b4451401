//! Shows the progress of a long command: a bar on a terminal, else a line now and then.

use std::time::{Duration, Instant};

use lango_librarian::documents::IngestProgress;
use lango_text::to_one_line;

use lango_terminal::{is_dumb_terminal, show_progress, stderr_is_terminal, write_stderr};

/// Sets how often a bar is drawn.
const FRAME_INTERVAL: Duration = Duration::from_millis(100);
/// Sets how often a line is printed without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// Sets the width of a bar.
const BAR_CHARACTERS: u64 = 24;

/// Shows progress on standard error.
pub(super) struct ProgressMeter {
    style: MeterStyle,
    began: Instant,
    last: Option<Instant>,
    drawn: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MeterStyle {
    Bar,
    Lines,
    Silent,
}

impl ProgressMeter {
    pub(super) fn new(quiet: bool) -> Self {
        let style = match (quiet, stderr_is_terminal() && !is_dumb_terminal()) {
            (true, _) => MeterStyle::Silent,
            (false, true) => MeterStyle::Bar,
            (false, false) => MeterStyle::Lines,
        };
        Self { style, began: Instant::now(), last: None, drawn: false }
    }

    pub(super) fn show(&mut self, progress: &IngestProgress<'_>) {
        let now = Instant::now();
        let pause = match self.style {
            MeterStyle::Silent => return,
            MeterStyle::Bar => FRAME_INTERVAL,
            MeterStyle::Lines => LINE_INTERVAL,
        };
        // Lines are for long commands: the first one comes after a pause, too.
        let since = self.last.unwrap_or(self.began);
        let first_frame = self.style == MeterStyle::Bar && self.last.is_none();
        if !first_frame && now.duration_since(since) < pause {
            return;
        }
        self.last = Some(now);
        let elapsed = now.duration_since(self.began);
        if self.style == MeterStyle::Bar {
            self.drawn = true;
            show_progress(&render_bar(progress, elapsed));
        } else {
            write_stderr(&format!("{}\n", render_figures(progress, elapsed)));
        }
    }

    /// Removes the bar.
    pub(super) fn clear(&mut self) {
        if self.drawn {
            show_progress("");
            self.drawn = false;
        }
    }
}

fn render_bar(progress: &IngestProgress<'_>, elapsed: Duration) -> String {
    let full = progress.done * BAR_CHARACTERS / progress.total.max(1);
    let marks: String =
        (0..BAR_CHARACTERS).map(|place| if place < full { '█' } else { '░' }).collect();
    let name = progress.current.rsplit('/').next().unwrap_or(progress.current);
    format!("{marks} {}  {}", render_figures(progress, elapsed), to_one_line(name, 24))
}

fn render_figures(progress: &IngestProgress<'_>, elapsed: Duration) -> String {
    let IngestProgress { done, total, passages, bytes, skipped, .. } = *progress;
    let mut text = format!("{done}/{total} files, {passages} passages, {}", render_size(bytes));
    if skipped > 0 {
        text += &format!(", {skipped} not read");
    }
    let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
    let rate = done * 1_000 / milliseconds;
    let left = (total - done.min(total)) * milliseconds / done.max(1) / 1_000;
    text += &format!(", {rate}/s");
    if done < total {
        text += &format!(", {}:{:02} left", left / 60, left % 60);
    }
    text
}

fn render_size(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} B"),
        10_240..10_485_760 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_says_how_much_how_fast_and_how_long() {
        let progress = IngestProgress {
            done: 25,
            total: 100,
            passages: 70,
            bytes: 2 << 20,
            skipped: 1,
            current: "/a/b/notes.md",
        };
        let shown = render_bar(&progress, Duration::from_secs(10));
        assert_eq!(
            shown,
            "██████░░░░░░░░░░░░░░░░░░ 25/100 files, 70 passages, 2048 KiB, 1 not read, 2/s, \
             0:30 left  notes.md"
        );
    }
}
