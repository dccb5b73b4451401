//! Tables for the terminal.

use lango_text::make_line_visible;

/// Renders rows with aligned columns; the last column is not padded. A cell is one line, so that no
/// text can pass for a row.
pub(super) fn render_table(header: &[&str], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| make_line_visible(cell)).collect()).collect();
    let columns = header.len();
    let mut widths: Vec<usize> = header.iter().map(|title| title.chars().count()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let header: Vec<String> = header.iter().map(|title| (*title).to_owned()).collect();
    let mut text = String::new();
    for row in std::iter::once(&header).chain(&rows) {
        let mut line = String::new();
        for (index, cell) in row.iter().enumerate() {
            line.push_str(cell);
            if index + 1 < columns {
                let padding = widths[index].saturating_sub(cell.chars().count()) + 2;
                line.extend(std::iter::repeat_n(' ', padding));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
