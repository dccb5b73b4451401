//! Reads redirections of input and output.

use lango_text::make_visible_short;

use super::context::CommandContext;
use super::parser::{CommandParser, ParseStop};
use super::word::ShellWord;

/// Describes a redirection that was read.
#[derive(Debug)]
struct Redirection {
    /// The operator, with a descriptor if it is not the default one.
    operator: String,
    target: String,
    reason: RedirectionReason,
}

#[derive(Debug, Clone, Copy)]
enum RedirectionReason {
    Reads,
    Writes,
    Text,
}

impl Redirection {
    fn add_to(self, context: &mut CommandContext) {
        let Self { operator, target, reason } = self;
        context.input |= operator.contains('<');
        context.limit(|| match reason {
            RedirectionReason::Reads => format!("reads from {}", make_visible_short(&target)),
            RedirectionReason::Writes => format!("writes to {}", make_visible_short(&target)),
            RedirectionReason::Text => "is given a text as input".to_owned(),
        });
        context.redirections.extend([operator, target]);
    }
}

impl CommandParser<'_, '_> {
    /// Tells whether a redirection starts here, without a descriptor or with one of a single digit.
    pub(super) fn at_redirection(&self) -> bool {
        match self.cursor.peek() {
            Some('<' | '>') => true,
            Some('&') => self.cursor.peek_second() == Some('>'),
            Some('0'..='9') => matches!(self.cursor.peek_second(), Some('<' | '>')),
            _ => false,
        }
    }

    /// Reads a redirection from its operator on. Returns none if its target does not matter.
    fn read_redirection(&mut self, descriptor: &str) -> Result<Option<Redirection>, ParseStop> {
        let operator = self.read_operator();
        if matches!(operator.as_str(), "<<" | "<<-") {
            return self.read_here_document(&operator, descriptor).map(Some);
        }
        let target = self.read_target()?;
        if !target.unknown && !target.is_static() {
            self.collector.note_incomplete("the target of a redirection is filled in by the shell");
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
            "<<<" => RedirectionReason::Text,
            "<" | "<&" => RedirectionReason::Reads,
            _ => RedirectionReason::Writes,
        };
        let usual = if input { "0" } else { "1" };
        let descriptor = if descriptor == usual { "" } else { descriptor };
        let operator = format!("{descriptor}{operator}");
        Ok(Some(Redirection { operator, target: target.text, reason }))
    }

    /// Reads a redirection with its descriptor, for the command that it belongs to.
    pub(super) fn read_redirection_into(
        &mut self,
        context: &mut CommandContext,
    ) -> Result<(), ParseStop> {
        let descriptor = match self.cursor.peek() {
            Some(first @ ('&' | '0'..='9')) => {
                self.cursor.take_joined();
                first.to_string()
            }
            _ => String::new(),
        };
        if let Some(redirection) = self.read_redirection(&descriptor)? {
            redirection.add_to(context);
        }
        Ok(())
    }

    /// Reads the redirections after something in brackets, a loop and the like, as a step of their
    /// own. Input goes to everything in there: what came since `before`.
    pub(super) fn read_trailing_redirections(&mut self, before: usize) -> Result<(), ParseStop> {
        let mut context = CommandContext::default();
        loop {
            self.skip_blanks();
            if !self.at_redirection() {
                break;
            }
            self.read_redirection_into(&mut context)?;
        }
        if context.input {
            self.collector.mark_input_since(before);
        }
        if !context.is_empty() {
            self.collector.add_step(&context, &[], None);
        }
        Ok(())
    }

    fn read_operator(&mut self) -> String {
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

    fn read_target(&mut self) -> Result<ShellWord, ParseStop> {
        self.skip_blanks();
        if self.at_process_substitution() {
            return self.read_process_substitution();
        }
        match self.cursor.peek() {
            Some(next) if !super::lexer::ends_word(next) => self.read_word(),
            _ => Err(ParseStop::because("a redirection has no target")),
        }
    }

    fn read_here_document(
        &mut self,
        operator: &str,
        descriptor: &str,
    ) -> Result<Redirection, ParseStop> {
        let delimiter = self.read_target()?;
        let target = self.expect_document(delimiter, operator == "<<-");
        let descriptor = if descriptor == "0" { "" } else { descriptor };
        Ok(Redirection {
            operator: format!("{descriptor}<<"),
            target,
            reason: RedirectionReason::Text,
        })
    }
}

/// Tells whether this names a descriptor or closes one.
fn is_descriptor(target: &str) -> bool {
    let digits = target.strip_suffix('-').unwrap_or(target);
    !target.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
