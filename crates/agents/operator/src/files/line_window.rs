//! Extracts a range of lines from a stream of bytes in bounded space.

/// Collects the lines of a range while the whole text streams by.
///
/// It keeps whole lines only, as far as they fit; a first line that does not fit is cut.
pub(super) struct LineWindow {
    first: u64,
    /// The first line after the range.
    past: u64,
    max_bytes: usize,
    kept: Vec<u8>,
    /// The offset in `kept` of the line that is being read.
    line_start: usize,
    /// Lines that are complete in `kept`.
    kept_lines: u64,
    /// Bytes of the one cut line that did not fit.
    cut: u64,
    /// The line that is being read, counted from 1.
    line: u64,
    /// True if the line that is being read has any bytes.
    in_line: bool,
    no_more_fits: bool,
    ended: bool,
}

impl LineWindow {
    pub(super) fn new(first: u64, limit: u64, max_bytes: usize) -> Self {
        Self {
            first,
            past: first.saturating_add(limit),
            max_bytes,
            kept: Vec::new(),
            line_start: 0,
            kept_lines: 0,
            cut: 0,
            line: 1,
            in_line: false,
            no_more_fits: false,
            ended: false,
        }
    }

    /// Adds the next bytes of the text.
    pub(super) fn add(&mut self, chunk: &[u8]) {
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            if !self.no_more_fits && (self.first..self.past).contains(&self.line) {
                self.keep_part(part);
            }
            self.in_line = true;
            if part.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    /// Ends the text.
    pub(super) fn end(&mut self) {
        if self.in_line {
            self.end_line();
        }
        self.ended = true;
    }

    /// Tells whether nothing that follows could be kept.
    pub(super) fn is_full(&self) -> bool {
        self.line >= self.past || self.no_more_fits
    }

    /// Returns the number of lines of the text, once it has ended.
    pub(super) fn total_lines(&self) -> Option<u64> {
        self.ended.then(|| self.line - 1)
    }

    /// Returns the kept bytes, the number of the last line in them, and how much of that line was
    /// cut.
    pub(super) fn into_lines(mut self) -> (Vec<u8>, u64, u64) {
        self.kept.truncate(self.line_start);
        (self.kept, (self.first + self.kept_lines).saturating_sub(1), self.cut)
    }

    fn keep_part(&mut self, part: &[u8]) {
        let free = self.max_bytes.saturating_sub(self.kept.len());
        if part.len() <= free && self.cut == 0 {
            self.kept.extend_from_slice(part);
        } else if self.kept_lines == 0 {
            self.kept.extend_from_slice(&part[..free.min(part.len())]);
            self.cut += (part.len() - free.min(part.len())) as u64;
        } else {
            self.no_more_fits = true;
        }
    }

    fn end_line(&mut self) {
        if !self.no_more_fits && (self.first..self.past).contains(&self.line) {
            self.kept_lines += 1;
            self.line_start = self.kept.len();
            self.no_more_fits = self.cut > 0;
        }
        self.line += 1;
        self.in_line = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(text: &str, first: u64, limit: u64, bytes: usize, chunk: usize) -> LineWindow {
        let mut window = LineWindow::new(first, limit, bytes);
        for chunk in text.as_bytes().chunks(chunk) {
            window.add(chunk);
        }
        window.end();
        window
    }

    #[test]
    fn the_range_does_not_depend_on_how_the_bytes_arrive() {
        for chunk in 1..8 {
            let window = window("one\ntwo\nthree\nfour", 2, 2, 100, chunk);
            assert_eq!(window.total_lines(), Some(4));
            assert_eq!(window.into_lines(), (b"two\nthree\n".to_vec(), 3, 0));
        }
    }

    #[test]
    fn lines_that_do_not_fit_are_left_for_the_next_read() {
        for chunk in 1..8 {
            let window = window("one\ntwo\nthree\n", 1, 9, 9, chunk);
            assert!(window.is_full());
            assert_eq!(window.into_lines(), (b"one\ntwo\n".to_vec(), 2, 0));
        }
    }

    #[test]
    fn a_first_line_that_does_not_fit_is_cut() {
        for chunk in 1..8 {
            let window = window("0123456789\nnext\n", 1, 9, 4, chunk);
            assert_eq!(window.total_lines(), Some(2));
            assert_eq!(window.into_lines(), (b"0123".to_vec(), 1, 7));
        }
    }
}
