//! `lango eval retrieval`: measures how well texts are found.

use std::path::Path;
use std::time::Instant;

use lango_app::knowledge::{self, EmbeddingChoice};
use lango_eval::retrieval::{ModeReport, RetrievalReport, measure_retrieval};

use crate::commands::CommandContext;
use crate::failure::{ExitStatus, Failure};
use lango_terminal::{show_progress, stderr_is_terminal, write_stderr};

pub(super) async fn retrieval(
    context: &CommandContext,
    directory: &Path,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let embedding = knowledge::choose_embedding(context.config());
    if let EmbeddingChoice::Absent(why) = &embedding {
        write_stderr(&format!("{why}\n"));
    }
    let shows_progress = stderr_is_terminal();
    let began = Instant::now();
    let progress = |done: u32| {
        if shows_progress && done.is_multiple_of(20) {
            let rate = f64::from(done) / began.elapsed().as_secs_f64().max(0.001);
            show_progress(&format!("{done} documents, {rate:.0} a second "));
        }
    };
    let measured = measure_retrieval(directory, embedding.embedder(), progress).await;
    if shows_progress {
        show_progress("");
    }
    let report = measured?;
    if json {
        context.printer.json(&report)?;
    } else {
        context.printer.print(&render_report(&report))?;
    }
    Ok(ExitStatus::Success)
}

fn render_report(report: &RetrievalReport) -> String {
    let RetrievalReport { documents, passages, questions, model, modes } = report;
    let model = model.as_deref().unwrap_or("none");
    let mut text = format!(
        "{documents} documents, {passages} passages, {questions} questions, model {model}\n\n\
         {:<8}  {:>8}  {:>7}  {:>11}\n",
        "mode", "recall@5", "nDCG@10", "ms/question"
    );
    for ModeReport { mode, recall_at_5, ndcg_at_10, milliseconds_per_question } in modes {
        text.push_str(&format!(
            "{mode:<8}  {recall_at_5:>8.3}  {ndcg_at_10:>7.3}  {milliseconds_per_question:>11.1}\n"
        ));
    }
    text
}
