//! One request after the other, so that the time of each is its own.

use std::future::Future;

use lango_model::ModelError;

use super::examine::Examiner;
use super::labelled::Labelled;
use super::report::CallsReport;
use super::tally::Verdict;

/// How a measurement ended.
#[derive(Debug)]
pub enum End {
    /// Every request was examined.
    Measured,
    /// It was stopped.
    Interrupted,
    /// The model could not be asked any more.
    Failed(ModelError),
}

/// Examines requests until all of them are done or `stop` is, and adds them to the report. `progress` is
/// given how many are done.
pub async fn measure(
    report: &mut CallsReport,
    examiner: &Examiner<'_>,
    requests: &[Labelled],
    stop: impl Future,
    mut progress: impl FnMut(usize),
) -> End {
    tokio::pin!(stop);
    for (number, request) in (1_usize..).zip(requests) {
        let observed = tokio::select! {
            biased;
            _ = &mut stop => return End::Interrupted,
            observed = examiner.examine(&request.text) => observed,
        };
        match observed {
            Ok(observed) => {
                report.add(request, &observed, &Verdict::of(request, &observed, examiner.team));
                progress(number);
            }
            Err(error) => return End::Failed(error),
        }
    }
    End::Measured
}
