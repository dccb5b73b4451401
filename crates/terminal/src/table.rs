//! Tables for the terminal.

use lango_text::make_line_visible;

/// Limits the characters of a line whose last column is wrapped.
const MAX_LINE_WIDTH: usize = 80;

/// Limits from below how narrow a wrapped column gets.
const MIN_COLUMN_WIDTH: usize = 24;

/// Renders rows with aligned columns; the last column is not padded. A cell is one line, so that no
/// text can pass for a row.
pub fn render_table(header: &[&str], rows: &[Vec<String>]) -> String {
    render_rows(header, rows, usize::MAX)
}

/// Does the same as [`render_table`], and wraps the last column between words, so that a line has at
/// most 80 characters. The rest of a cell is indented below its beginning.
pub fn render_wrapped_table(header: &[&str], rows: &[Vec<String>]) -> String {
    render_rows(header, rows, MAX_LINE_WIDTH)
}

fn render_rows(header: &[&str], rows: &[Vec<String>], max_width: usize) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| make_line_visible(cell)).collect()).collect();
    let columns = header.len();
    let mut widths: Vec<usize> = header.iter().map(|title| title.chars().count()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let before: usize = widths.iter().take(columns.saturating_sub(1)).map(|width| width + 2).sum();
    let rest = max_width.saturating_sub(before).max(MIN_COLUMN_WIDTH);
    let header: Vec<String> = header.iter().map(|title| (*title).to_owned()).collect();
    let mut text = String::new();
    for row in std::iter::once(&header).chain(&rows) {
        let mut line = String::new();
        for (index, cell) in row.iter().enumerate() {
            if index + 1 < columns {
                line.push_str(cell);
                let padding = widths[index].saturating_sub(cell.chars().count()) + 2;
                line.extend(std::iter::repeat_n(' ', padding));
            } else {
                let separator = format!("\n{}", " ".repeat(before));
                line.push_str(&wrap_words(cell, rest).join(&separator));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Divides a text between words into lines of at most `width` characters. A longer word has a line
/// of its own.
fn wrap_words(text: &str, width: usize) -> Vec<String> {
    if text.chars().count() <= width {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_column_is_wrapped_between_words_and_keeps_its_place() {
        let words = ["word"; 40].join(" ");
        let rows =
            [vec!["name".to_owned(), words.clone()], vec!["n".to_owned(), "short".to_owned()]];
        let text = render_wrapped_table(&["A", "B"], &rows);
        assert!(text.lines().all(|line| line.chars().count() <= MAX_LINE_WIDTH), "{text}");
        assert_eq!(text.split_whitespace().filter(|word| *word == "word").count(), 40);
        assert!(text.lines().nth(2).is_some_and(|line| line.starts_with("      word")), "{text}");
        assert!(text.ends_with("n     short\n"), "{text}");
        let unbroken = render_table(&["A", "B"], &rows);
        assert_eq!(unbroken.lines().count(), 3, "{unbroken}");
    }

    #[test]
    fn a_long_word_is_not_divided() {
        let long = "x".repeat(200);
        let text = render_wrapped_table(&["A"], &[vec![format!("a {long} b")]]);
        assert_eq!(text, format!("A\na\n{long}\nb\n"));
    }
}
