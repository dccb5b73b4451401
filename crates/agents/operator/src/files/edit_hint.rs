//! Explains why a text was not found, if that is cheap to tell.

/// Returns what a model should do about an `old_text` that does not occur in `content`.
pub(super) fn explain_missing_text(content: &[u8], old_text: &str) -> String {
    let content = String::from_utf8_lossy(content);
    if content.contains("\r\n") && content.replace("\r\n", "\n").contains(old_text) {
        return "The file has CRLF line ends: write \\r\\n in old_text and new_text.".to_owned();
    }
    let wanted: Vec<&str> =
        old_text.lines().map(str::trim).skip_while(|line| line.is_empty()).collect();
    let Some(first) = wanted.first() else {
        return "Read the file again.".to_owned();
    };
    let lines: Vec<&str> = content.lines().map(str::trim).collect();
    let mut starts = lines.iter().zip(1_u64..).filter(|(line, _)| *line == first).peekable();
    let Some(&(_, first_start)) = starts.peek() else {
        return "Read the file again: not even its first line occurs as a line.".to_owned();
    };
    let same = starts.map(|(_, number)| number).take(1000).find(|number| {
        let start = usize::try_from(number - 1).unwrap_or(usize::MAX);
        lines.get(start..start.saturating_add(wanted.len())).is_some_and(|part| part == wanted)
    });
    match same {
        Some(number) => format!(
            "At line {number} it occurs with other white space; read from there and copy it exactly."
        ),
        None => format!(
            "Its first line occurs at line {first_start}, but what follows differs; read from there."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_names_what_differs() {
        for (content, old, part) in [
            ("a\r\nb\r\n", "a\nb", "CRLF"),
            ("x\n    a {\n\tb\n", "a {\nb", "At line 2"),
            ("x\na\nc\n", "a\nb\n", "first line occurs at line 2"),
            ("x\n", "a", "not even"),
            ("x\n", "\n\n\n", "Read the file again."),
        ] {
            assert!(
                explain_missing_text(content.as_bytes(), old).contains(part),
                "{content:?} {old:?}"
            );
        }
    }
}
