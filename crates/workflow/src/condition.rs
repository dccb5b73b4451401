//! Conditions: what `when` says.
//!
//! Names and values are compared with `==`, `!=`, `<`, `<=`, `>`, `>=` and `contains`, and put together
//! with `and`, `or`, `not` and parentheses. A name alone must be true or false.

use std::cmp::Ordering;

use serde_json::Value;

use crate::WorkflowError;
use crate::template::{Operand, Reference, Token, Values, tokenize};

/// Limits the tokens of a condition, and with them its depth.
const MAX_TOKEN_COUNT: usize = 100;

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    root: Expression,
}

#[derive(Debug, Clone, PartialEq)]
enum Expression {
    Operand(Operand),
    Comparison(Operand, &'static str, Operand),
    Not(Box<Expression>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
}

impl Condition {
    /// Reads a condition. The error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let tokens = tokenize(text)?;
        if tokens.len() > MAX_TOKEN_COUNT {
            return Err(format!("the condition has more than {MAX_TOKEN_COUNT} words"));
        }
        let mut parser = Parser { tokens: &tokens };
        let root = parser.read_any()?;
        match parser.tokens.first() {
            None => Ok(Self { root }),
            Some(_) => Err("the condition goes on where it should end. Put parts together with \
                            `and` or `or`"
                .to_owned()),
        }
    }

    /// A condition that is always the same.
    pub(crate) fn constant(value: bool) -> Self {
        Self { root: Expression::Operand(Operand::Literal(Value::Bool(value))) }
    }

    /// Tells whether it holds.
    pub fn holds(&self, values: &Values) -> Result<bool, WorkflowError> {
        self.root.evaluate(values)
    }

    pub(crate) fn list_references(&self) -> Vec<&Reference> {
        let mut found = Vec::new();
        self.root.collect_references(&mut found);
        found
    }
}

impl Expression {
    fn collect_references<'a>(&'a self, found: &mut Vec<&'a Reference>) {
        match self {
            Self::Operand(operand) => found.extend(operand.reference()),
            Self::Comparison(left, _, right) => {
                found.extend(left.reference().into_iter().chain(right.reference()));
            }
            Self::Not(inner) => inner.collect_references(found),
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.collect_references(found);
                }
            }
        }
    }

    fn evaluate(&self, values: &Values) -> Result<bool, WorkflowError> {
        match self {
            Self::Operand(operand) => match operand.evaluate(values)? {
                Value::Bool(value) => Ok(value),
                other => {
                    let reason = format!(
                        "`when` needs true or false, and {operand} is {other}. Compare it, such as \
                         {operand} == 'yes'"
                    );
                    Err(WorkflowError::Value(reason))
                }
            },
            Self::Comparison(left, sign, right) => {
                compare(&left.evaluate(values)?, sign, &right.evaluate(values)?)
            }
            Self::Not(inner) => Ok(!inner.evaluate(values)?),
            Self::All(parts) => {
                for part in parts {
                    if !part.evaluate(values)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Any(parts) => {
                for part in parts {
                    if part.evaluate(values)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}

fn compare(left: &Value, sign: &str, right: &Value) -> Result<bool, WorkflowError> {
    if sign == "contains" {
        return match (left, right) {
            (Value::Array(list), value) => Ok(list.contains(value)),
            (Value::String(text), Value::String(part)) => Ok(text.contains(part.as_str())),
            _ => Err(WorkflowError::Value(format!("{left} cannot contain {right}"))),
        };
    }
    let order = match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64().partial_cmp(&right.as_f64()),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ if left == right => Some(Ordering::Equal),
        _ => None,
    };
    match (sign, order) {
        ("==", order) => Ok(order == Some(Ordering::Equal)),
        ("!=", order) => Ok(order != Some(Ordering::Equal)),
        ("<", Some(order)) => Ok(order.is_lt()),
        ("<=", Some(order)) => Ok(order.is_le()),
        (">", Some(order)) => Ok(order.is_gt()),
        (_, Some(order)) => Ok(order.is_ge()),
        (_, None) => {
            Err(WorkflowError::Value(format!("{left} and {right} have no order between them")))
        }
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
}

impl Parser<'_> {
    fn take_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.tokens.first(), Some(Token::Word(next)) if next == word);
        if is_next {
            self.tokens = &self.tokens[1..];
        }
        is_next
    }

    fn read_any(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.read_all()?];
        while self.take_word("or") {
            parts.push(self.read_all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::Any(parts) })
    }

    fn read_all(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.read_one()?];
        while self.take_word("and") {
            parts.push(self.read_one()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::All(parts) })
    }

    fn read_one(&mut self) -> Result<Expression, String> {
        if self.take_word("not") {
            return Ok(Expression::Not(Box::new(self.read_one()?)));
        }
        // `{{ name }} == 'x'` is a comparison, although `{{` counts as a parenthesis.
        if let [Token::Open, name, Token::Close, rest @ ..] = self.tokens {
            let left = Operand::from_token(name)?;
            self.tokens = rest;
            return self.read_comparison(left);
        }
        if let Some(Token::Open) = self.tokens.first() {
            self.tokens = &self.tokens[1..];
            let inner = self.read_any()?;
            let Some(Token::Close) = self.tokens.first() else {
                return Err("a parenthesis is not closed".to_owned());
            };
            self.tokens = &self.tokens[1..];
            return Ok(inner);
        }
        let left = self.read_operand()?;
        self.read_comparison(left)
    }

    fn read_comparison(&mut self, left: Operand) -> Result<Expression, String> {
        let sign = match self.tokens.first() {
            Some(Token::Sign(sign)) => *sign,
            Some(Token::Word(word)) if word == "contains" => "contains",
            _ => return Ok(Expression::Operand(left)),
        };
        self.tokens = &self.tokens[1..];
        if let [Token::Open, name, Token::Close, rest @ ..] = self.tokens {
            let right = Operand::from_token(name)?;
            self.tokens = rest;
            return Ok(Expression::Comparison(left, sign, right));
        }
        Ok(Expression::Comparison(left, sign, self.read_operand()?))
    }

    fn read_operand(&mut self) -> Result<Operand, String> {
        let Some(token) = self.tokens.first() else {
            return Err("the condition ends where a name or a value is missing".to_owned());
        };
        self.tokens = &self.tokens[1..];
        Operand::from_token(token)
    }
}
