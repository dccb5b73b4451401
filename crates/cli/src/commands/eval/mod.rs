//! `lango eval`: measures quality.

mod calls;
mod calls_text;
mod retrieval;

use super::CommandContext;
use crate::failure::{ExitStatus, Failure};
use lango_arguments::EvalCommand;

pub(crate) async fn eval(
    context: &CommandContext,
    command: EvalCommand,
) -> Result<ExitStatus, Failure> {
    match command {
        EvalCommand::Retrieval { directory, json } => {
            retrieval::retrieval(context, &directory, json).await
        }
        EvalCommand::Calls(arguments) => calls::calls(context, &arguments).await,
    }
}
