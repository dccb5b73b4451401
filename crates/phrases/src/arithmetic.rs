//! Computes sums that a request asks for: "what is 12 times 12".

use super::words::RequestWords;

/// Returns the answer to a request that is a sum and nothing else.
pub fn compute(request: &RequestWords<'_>) -> Option<String> {
    #[rustfmt::skip]
    const FILLER: &[&str] = &[
        "what", "what's", "whats", "is", "are", "how", "much", "calculate", "compute", "please",
        "its", "it's", "for", "homework", "the", "result", "of", "equals", "equal", "=", "hey",
        "can", "you", "tell", "me", "quick", "pls", "plz", "math", "my",
    ];
    let mut numbers: Vec<f64> = Vec::new();
    let mut operations: Vec<char> = Vec::new();
    for word in request.unquoted() {
        if let Some(operation) = operation(word) {
            if numbers.len() != operations.len() + 1 {
                return None;
            }
            operations.push(operation);
        } else if let Some(number) = number(word) {
            if numbers.len() != operations.len() {
                return None;
            }
            numbers.push(number);
        } else if let Some((mut more, mut between)) = expression(word) {
            if numbers.len() != operations.len() {
                return None;
            }
            numbers.append(&mut more);
            operations.append(&mut between);
        } else if !FILLER.contains(&word) && !matches!(word, "by" | "and") {
            return None;
        }
    }
    if operations.is_empty() || numbers.len() != operations.len() + 1 {
        return None;
    }
    // Products first.
    let mut at = 0;
    while at < operations.len() {
        if matches!(operations[at], '*' | '/') {
            let value = apply(operations[at], numbers[at], numbers[at + 1])?;
            numbers.splice(at..=at + 1, [value]);
            operations.remove(at);
        } else {
            at += 1;
        }
    }
    let mut value = numbers[0];
    for (operation, number) in operations.iter().zip(&numbers[1..]) {
        value = apply(*operation, value, *number)?;
    }
    let shown = format!("{value:.6}");
    Some(shown.trim_end_matches('0').trim_end_matches('.').to_owned())
}

fn apply(operation: char, a: f64, b: f64) -> Option<f64> {
    let value = match operation {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        _ => a / b,
    };
    (value.is_finite() && value.abs() < 1e15).then_some(value)
}

fn operation(word: &str) -> Option<char> {
    Some(match word {
        "+" | "plus" => '+',
        "-" | "minus" | "−" => '-',
        "*" | "x" | "×" | "times" | "multiplied" => '*',
        "/" | "÷" | "divided" => '/',
        _ => return None,
    })
}

fn number(word: &str) -> Option<f64> {
    let plain = word.replace(',', "");
    plain.chars().all(|c| c.is_ascii_digit() || c == '.').then(|| plain.parse().ok()).flatten()
}

/// Reads "12*12" and "17+4-1".
fn expression(word: &str) -> Option<(Vec<f64>, Vec<char>)> {
    let operators: Vec<char> =
        word.chars().filter(|c| matches!(c, '+' | '-' | '*' | '/' | 'x' | '×')).collect();
    let numbers: Option<Vec<f64>> =
        word.split(['+', '-', '*', '/', 'x', '×']).map(number).collect();
    let numbers = numbers.filter(|numbers| numbers.len() > 1)?;
    // A date such as 2026-11-18 is no sum.
    if word.split('-').count() == 3 && word.len() == 10 {
        return None;
    }
    let operators =
        operators.into_iter().map(|c| if matches!(c, 'x' | '×') { '*' } else { c }).collect();
    Some((numbers, operators))
}

#[cfg(test)]
mod tests;
