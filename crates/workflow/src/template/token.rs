//! Cuts the text of a template or a condition into tokens.

/// A piece of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A name, a path, a number, or one of `and`, `or`, `not`, `true`, `false`, `null`, `contains`.
    Word(String),
    /// A text in quotes.
    Text(String),
    /// One of `==`, `!=`, `<`, `<=`, `>`, `>=`.
    Sign(&'static str),
    Open,
    Close,
}

const SIGNS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

/// Cuts a text. `{{` and `}}` count as parentheses.
pub(crate) fn tokenize(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
        let (token, length) = if let Some(sign) = sign {
            (Token::Sign(sign), sign.len())
        } else if rest.starts_with("{{") || rest.starts_with("}}") {
            (if first == '{' { Token::Open } else { Token::Close }, 2)
        } else if first == '(' || first == ')' {
            (if first == '(' { Token::Open } else { Token::Close }, 1)
        } else if first == '\'' || first == '"' {
            let Some(end) = rest[1..].find(first) else {
                return Err(format!("a text is not closed: write {first} after it"));
            };
            (Token::Text(rest[1..=end].to_owned()), end + 2)
        } else if is_word(first) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            (Token::Word(rest[..end].to_owned()), end)
        } else {
            return Err(format!("{first:?} has no meaning here"));
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.')
}
