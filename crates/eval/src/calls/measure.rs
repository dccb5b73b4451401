//! Examines one request after the other, so that each is timed on its own.

use std::future::Future;

use lango_model::ModelError;

use super::examine::Examiner;
use super::labelled::LabelledRequest;
use super::report::CallsReport;
use super::tally::RequestVerdict;

/// The end of a measurement.
#[derive(Debug)]
pub enum MeasurementEnd {
    /// Every request was examined.
    Measured,
    /// The measurement was stopped.
    Interrupted,
    /// The model could no longer be asked.
    Failed(ModelError),
}

/// Examines requests until all of them are done or `stop` is, and adds them to the report. Calls
/// `progress` with the number done.
pub async fn measure_requests(
    report: &mut CallsReport,
    examiner: &Examiner<'_>,
    requests: &[LabelledRequest],
    stop: impl Future,
    mut progress: impl FnMut(usize),
) -> MeasurementEnd {
    tokio::pin!(stop);
    for (number, request) in (1_usize..).zip(requests) {
        let observed = tokio::select! {
            biased;
            _ = &mut stop => return MeasurementEnd::Interrupted,
            observed = examiner.examine(&request.text) => observed,
        };
        match observed {
            Ok(observed) => {
                report.add(
                    request,
                    &observed,
                    &RequestVerdict::of(request, &observed, examiner.team),
                );
                progress(number);
            }
            Err(error) => return MeasurementEnd::Failed(error),
        }
    }
    MeasurementEnd::Measured
}
