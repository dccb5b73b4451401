//! Reads redirections of input and output.

use lango_text::visible_short;

use super::context::CommandContext;
use super::parser::{Parser, Stop};
use super::word::Word;

/// Describes a redirection that was read.
#[derive(Debug)]
struct Redirection {
    /// The operator, with a descriptor if it is not the default one.
    operator: String,
    target: String,
    reason: Reason,
}

#[derive(Debug, Clone, Copy)]
enum Reason {
    Reads,
    Writes,
    Text,
}

impl Redirection {
    fn add_to(self, context: &mut CommandContext) {
        let Self { operator, target, reason } = self;
        context.input |= operator.contains('<');
        context.limit(|| match reason {
            Reason::Reads => format!("reads from {}", visible_short(&target)),
            Reason::Writes => format!("writes to {}", visible_short(&target)),
            Reason::Text => "is given a text as input".to_owned(),
        });
        context.redirections.extend([operator, target]);
    }
}

impl Parser<'_, '_> {
    /// Tells whether a redirection starts here, without a descriptor or with one of a single digit.
    pub(super) fn at_redirection(&self) -> bool {
        match self.cursor.peek() {
            Some('<' | '>') => true,
            Some('&') => self.cursor.second() == Some('>'),
            Some('0'..='9') => matches!(self.cursor.second(), Some('<' | '>')),
            _ => false,
        }
    }

    /// Reads a redirection from its operator on. Returns none if its target does not matter.
    fn redirection(&mut self, descriptor: &str) -> Result<Option<Redirection>, Stop> {
        let operator = self.operator();
        if matches!(operator.as_str(), "<<" | "<<-") {
            return self.here_document(&operator, descriptor).map(Some);
        }
        let target = self.target()?;
        if !target.unknown && !target.is_static() {
            self.collector.note("the target of a redirection is filled in by the shell");
        }
        let input = operator.starts_with('<');
        let copies = operator.ends_with('&') && is_descriptor(&target.text);
        let nowhere = match target.text.as_str() {
            "/dev/null" => operator != "<<<",
            "/dev/stdout" | "/dev/stderr" => !input,
            _ => false,
        };
        if copies || nowhere {
            return Ok(None);
        }
        let reason = match operator.as_str() {
            "<<<" => Reason::Text,
            "<" | "<&" => Reason::Reads,
            _ => Reason::Writes,
        };
        let usual = if input { "0" } else { "1" };
        let descriptor = if descriptor == usual { "" } else { descriptor };
        let operator = format!("{descriptor}{operator}");
        Ok(Some(Redirection { operator, target: target.text, reason }))
    }

    /// Reads a redirection with its descriptor, for the command that it belongs to.
    pub(super) fn redirect(&mut self, context: &mut CommandContext) -> Result<(), Stop> {
        let descriptor = match self.cursor.peek() {
            Some(first @ ('&' | '0'..='9')) => {
                self.cursor.take_joined();
                first.to_string()
            }
            _ => String::new(),
        };
        if let Some(redirection) = self.redirection(&descriptor)? {
            redirection.add_to(context);
        }
        Ok(())
    }

    /// Reads the redirections after something in brackets, a loop and the like, as a step of their
    /// own. Input goes to everything in there: what came since `before`.
    pub(super) fn trailing_redirections(&mut self, before: usize) -> Result<(), Stop> {
        let mut context = CommandContext::default();
        loop {
            self.skip_blanks();
            if !self.at_redirection() {
                break;
            }
            self.redirect(&mut context)?;
        }
        if context.input {
            self.collector.mark_input_since(before);
        }
        if !context.is_empty() {
            self.collector.step(&context, &[], None);
        }
        Ok(())
    }

    fn operator(&mut self) -> String {
        let mut operator: String = self.cursor.take_joined().into_iter().collect();
        while let Some(next) = self.cursor.peek() {
            let longer = format!("{operator}{next}");
            if !["<<", "<<<", "<<-", "<&", "<>", ">>", ">&", ">|"].contains(&longer.as_str()) {
                break;
            }
            operator = longer;
            self.cursor.take_joined();
        }
        operator
    }

    fn target(&mut self) -> Result<Word, Stop> {
        self.skip_blanks();
        if self.at_process_substitution() {
            return self.process_substitution();
        }
        match self.cursor.peek() {
            Some(next) if !super::lexer::ends_word(next) => self.word(),
            _ => Err(Stop::because("a redirection has no target")),
        }
    }

    fn here_document(&mut self, operator: &str, descriptor: &str) -> Result<Redirection, Stop> {
        let delimiter = self.target()?;
        let target = self.expect_document(delimiter, operator == "<<-");
        let descriptor = if descriptor == "0" { "" } else { descriptor };
        Ok(Redirection { operator: format!("{descriptor}<<"), target, reason: Reason::Text })
    }
}

/// Tells whether this names a descriptor or closes one.
fn is_descriptor(target: &str) -> bool {
    let digits = target.strip_suffix('-').unwrap_or(target);
    !target.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
