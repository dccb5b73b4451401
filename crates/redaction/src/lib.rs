//! Replaces what must not leave the program: known secrets, in every common encoding.
//!
//! A [`LeakScanner`] is built from values and finds them in text; a [`Scrubber`] is a shared one that
//! learns new values while the program runs; a [`LeakStream`] finds values that are split over the
//! pieces of a stream. A [`PrivacyFilter`] replaces personal data, reversibly. Nothing here does I/O, and nothing knows where values come from.

mod forms;
mod privacy;
mod scanner;
mod scrubber;
mod stream;

pub use forms::MIN_SECRET_BYTES;
pub use privacy::{InvalidPattern, PersonalData, Placeholders, PrivacyFilter};
pub use scanner::LeakScanner;
pub use scrubber::Scrubber;
pub use stream::LeakStream;
