//! Reads what a request says is to stay as it is: "cache.dat must stay", "leave the guide alone".

/// Words of a clause about what stays.
const STAYING: &[&str] = &[
    "must stay",
    "should stay",
    "has to stay",
    "have to stay",
    "stays",
    "stay put",
    "must remain",
    "leave ",
    "keep ",
    "don't touch",
    "dont touch",
    "do not touch",
    "don't delete",
    "dont delete",
    "do not delete",
    "don't remove",
    "dont remove",
    "do not remove",
    "don't bin",
    "hands off",
    "still need",
    "is needed",
];
/// Words by which a clause is about something else: "keep a copy of a.txt as b.txt".
const OTHERWISE: &[&str] = &["copy", "backup", "spare", "leave only", "keep only"];

/// Returns the clauses of a request that say that something stays.
pub fn find_kept_clauses(text: &str) -> impl Iterator<Item = &str> {
    split_clauses(text).filter(|clause| {
        let clause = clause.trim().to_lowercase().replace('’', "'");
        STAYING.iter().any(|words| clause.contains(words))
            && !OTHERWISE.iter().any(|words| clause.contains(words))
    })
}

/// Splits a text at the ends of sentences, at commas, and before "but" and "and". A dot within a name ends
/// nothing.
fn split_clauses(text: &str) -> impl Iterator<Item = &str> {
    let (mut starts, mut at, mut is_first) = (Vec::new(), 0, true);
    for word in text.split_inclusive([' ', '\n']) {
        let trimmed = word.trim_end();
        if is_first || matches!(trimmed, "but" | "and") {
            starts.push(at);
        }
        at += word.len();
        is_first = trimmed.ends_with([',', ';', '.', '!', '?']);
    }
    let ends = starts.clone().into_iter().skip(1).chain([text.len()]);
    starts.into_iter().zip(ends).map(|(start, end)| &text[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_about_what_stays_are_found() {
        for (text, kept) in [
            ("delete from tmp a.tmp and b.tmp. cache.dat must stay", vec!["cache.dat must stay"]),
            ("bin the logs but don’t touch build.log", vec!["but don’t touch build.log"]),
            ("remove a.txt, b.txt stays!", vec!["b.txt stays!"]),
            ("move a.txt to old and leave b.txt alone", vec!["and leave b.txt alone"]),
            ("keep a copy of a.txt as b.txt", vec![]),
            ("delete a.txt and b.txt", vec![]),
            ("", vec![]),
        ] {
            let found: Vec<&str> = find_kept_clauses(text).map(str::trim).collect();
            assert_eq!(found, kept, "{text}");
        }
    }
}
