//! Tables in Markdown.

use anyhow::{Context as _, Result};

/// Returns the cells of the rows of all tables in a section, without their headings.
pub(crate) fn rows(document: &str, heading: &str) -> Result<Vec<Vec<String>>> {
    let (_, section) =
        document.split_once(heading).with_context(|| format!("there is no heading {heading:?}"))?;
    let section = section.split("\n## ").next().unwrap_or(section);
    let mut rows = Vec::new();
    let mut in_body = false;
    for line in section.lines() {
        let Some(row) = line.strip_prefix('|') else {
            in_body = false;
            continue;
        };
        if row.starts_with("---") {
            in_body = true;
        } else if in_body {
            let cells = row.trim_end().trim_end_matches('|').split('|');
            rows.push(cells.map(|cell| cell.trim().to_owned()).collect());
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_section_are_read() {
        let document = "## A\n| x |\n|---|\n| y |\n## B\ntext\n| h | i |\n|---|---|\n| j | k l |\n\
                        | m | |\n\n| n |\n|---|\n| o |\n\n## C\n| p |\n|---|\n| q |";
        let rows = rows(document, "## B").unwrap();
        assert_eq!(rows, [vec!["j", "k l"], vec!["m", ""], vec!["o"]]);
        assert!(super::rows(document, "## D").is_err());
    }
}
