//! Compares names as people type them: patterns, extensions, words, typing errors.

/// Compares a text with a pattern: `*` is any text within a part of a path, `?` one character.
pub fn matches_wildcards(pattern: &str, text: &str) -> bool {
    let mut characters = pattern.chars();
    match characters.next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = characters.as_str();
            let (rest, deep) = match rest.strip_prefix('*') {
                Some(rest) => (rest.strip_prefix('/').unwrap_or(rest), true),
                None => (rest, false),
            };
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.take_while(|end| deep || !text[..*end].contains('/'))
                .any(|end| matches_wildcards(rest, &text[end..]))
        }
        Some('?') => {
            let mut rest = text.chars();
            rest.next().is_some_and(|c| c != '/')
                && matches_wildcards(characters.as_str(), rest.as_str())
        }
        Some(c) => {
            text.strip_prefix(c).is_some_and(|rest| matches_wildcards(characters.as_str(), rest))
        }
    }
}

/// Returns a name without its extension. A name that begins with a dot has none.
pub fn strip_extension(name: &str) -> &str {
    let at = name.rfind('.').filter(|at| *at > 0 && !name[..*at].ends_with('/'));
    match at {
        Some(at)
            if (1..=5).contains(&(name.len() - at - 1))
                && name[at + 1..].chars().all(char::is_alphanumeric) =>
        {
            &name[..at]
        }
        _ => name,
    }
}

/// Splits a name into its words, in lower case.
pub fn split_name(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Returns a word without the ending of the plural.
pub fn singular(word: &str) -> String {
    let long = word.chars().count() > 3;
    match word.strip_suffix('s') {
        Some(rest) if long && !rest.ends_with('s') => rest.to_owned(),
        _ => word.to_owned(),
    }
}

/// Returns how many letters were typed wrongly, left out, added or swapped; `limit` at most.
pub fn typing_distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) >= limit {
        return limit;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (row[j] + usize::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(limit).min(limit)
}

#[cfg(test)]
mod tests;
