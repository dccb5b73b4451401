//! Separates the front matter of Markdown files from their body.

const FENCE: &str = "---";

/// Says why a text has no front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontMatterError {
    /// The first line is not `---`.
    Missing,
    /// No other line is `---`.
    Unclosed,
}

/// Returns the front matter of a text, which is YAML between two `---` lines, and the rest. The
/// first of these lines stays: it is valid YAML, and the line numbers of a parser are the file's.
pub fn split_front_matter(text: &str) -> Result<(&str, &str), FrontMatterError> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let mut lines = text.split_inclusive('\n');
    let opening = lines.next().filter(|line| line.trim_end() == FENCE);
    let mut end = opening.ok_or(FrontMatterError::Missing)?.len();
    for line in lines {
        if line.trim_end() == FENCE {
            return Ok((&text[..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    Err(FrontMatterError::Unclosed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_stands_between_two_lines() {
        assert_eq!(split_front_matter("---\na: 1\n---\nrest\n"), Ok(("---\na: 1\n", "rest\n")));
        assert_eq!(
            split_front_matter("\u{feff}\n--- \r\na: 1\r\n---\r\n"),
            Ok(("--- \r\na: 1\r\n", ""))
        );
        assert_eq!(split_front_matter("---\n---"), Ok(("---\n", "")));
        assert_eq!(split_front_matter("a: 1\n---\n"), Err(FrontMatterError::Missing));
        assert_eq!(split_front_matter(""), Err(FrontMatterError::Missing));
        assert_eq!(split_front_matter("---\na: 1\n"), Err(FrontMatterError::Unclosed));
    }
}
