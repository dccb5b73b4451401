//! Sets up logging, which is silent by default.
//!
//! Spans and events come from `tracing` calls in every crate. They carry names, ids, counts and
//! times. The words of a user, a model or a tool are logged at `debug` or below, and secrets never.
//! Exporters for metrics and traces are further layers of the same registry.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lango_redaction::Scrubber;
use lango_text::make_text_visible;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt};

use crate::environment::read_variable;
use crate::{AppError, Home};

/// Names the variable with the filter, in the syntax of `tracing_subscriber::EnvFilter`.
pub const LOG_VARIABLE: &str = "LANGO_LOG";

/// Limits a log file, in bytes.
const MAX_FILE_BYTES: u64 = 10 * 1024 * 1024;
/// Limits the log files that are kept beside the current one.
const MAX_OLD_FILE_COUNT: u32 = 4;

/// Selects what is logged, and where.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogOptions {
    /// The count of `-v`: 0 for silence, 1 for `info`, 2 for `debug`, more for `trace`.
    pub verbosity: u8,
    /// Also logs to a rotating file in the state directory.
    pub to_file: bool,
}

/// Starts logging. Without `-v`, a filter in the environment or a file nothing is set up, so that
/// spans and events cost next to nothing. The values that `scrubber` knows are not logged.
pub fn start_logging(
    home: &Home,
    options: LogOptions,
    scrubber: &Scrubber,
) -> Result<(), AppError> {
    let from_environment = read_variable(LOG_VARIABLE);
    let chosen = options.verbosity > 0 || from_environment.is_some();
    // A server tells its operator of a failing database, whatever else is silent.
    let to_stderr = chosen || options.to_file;
    if !to_stderr && !options.to_file {
        return Ok(());
    }
    let filter = |usual: &str| {
        let text = from_environment.as_deref().unwrap_or(usual);
        EnvFilter::try_new(text).map_err(|error| {
            AppError::usage(format!(
                "{LOG_VARIABLE} is {text:?}, which is no filter: {error}. Examples: debug, \
                 lango_runtime=debug, info,lango_mcp=trace"
            ))
        })
    };
    let stderr_layer = if to_stderr {
        let level = match options.verbosity {
            0 if !chosen => "lango_store=error",
            0 | 1 => "lango=info",
            2 => "lango=debug",
            _ => "lango=trace",
        };
        let known = scrubber.clone();
        let writer = move || ScrubbedLog { target: VisibleStderr, scrubber: known.clone() };
        let layer = fmt::layer().with_writer(writer).with_ansi(false);
        Some(layer.with_filter(filter(level)?))
    } else {
        None
    };
    let file_layer = if options.to_file {
        let file = RotatingFile::open(&home.log_file(), MAX_FILE_BYTES).map_err(|error| {
            let path = home.log_file();
            AppError::usage(format!("the log file {} cannot be opened: {error}", path.display()))
        })?;
        let log = ScrubbedLog { target: file, scrubber: scrubber.clone() };
        let layer = fmt::layer().with_writer(Mutex::new(log)).with_ansi(false);
        Some(layer.with_filter(filter("lango=info")?))
    } else {
        None
    };
    // A second start in one process, as in tests, keeps the first subscriber.
    let _ = tracing_subscriber::registry().with(stderr_layer).with(file_layer).try_init();
    Ok(())
}

/// Replaces known secrets in log lines. Each line is written at once.
struct ScrubbedLog<W> {
    target: W,
    scrubber: Scrubber,
}

impl<W: Write> Write for ScrubbedLog<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        self.target.write_all(self.scrubber.scrub(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

/// Writes log lines to standard error, with everything visible that models, files and peers put into
/// them.
struct VisibleStderr;

impl Write for VisibleStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        io::stderr().write_all(make_text_visible(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// A file that is renamed when it is full. The newest lines are in the file of the given name,
/// older ones in `NAME.1` to `NAME.4`. Only its owner can read it.
#[derive(Debug)]
struct RotatingFile {
    path: PathBuf,
    file: File,
    written: u64,
    max_bytes: u64,
}

impl RotatingFile {
    fn open(path: &Path, max_bytes: u64) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        let file = append_to(path)?;
        let written = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, written, max_bytes })
    }

    fn rotate(&mut self) -> io::Result<()> {
        let old = |number: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        for number in (1..MAX_OLD_FILE_COUNT).rev() {
            match fs::rename(old(number), old(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::rename(&self.path, old(1))?;
        self.file = append_to(&self.path)?;
        self.written = 0;
        Ok(())
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

impl Write for RotatingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written > 0 && self.written + bytes.len() as u64 > self.max_bytes {
            self.rotate()?;
        }
        let written = self.file.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_full_file_is_renamed_and_old_ones_go() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("logs/serve.log");
        let mut file = RotatingFile::open(&path, 20).unwrap();
        for number in 0..12 {
            writeln!(file, "line number {number:02}").unwrap();
        }
        let read = |name: &str| fs::read_to_string(directory.path().join("logs").join(name));
        assert_eq!(read("serve.log").unwrap(), "line number 11\n");
        assert_eq!(read("serve.log.1").unwrap(), "line number 10\n");
        assert_eq!(read("serve.log.4").unwrap(), "line number 07\n");
        assert!(read("serve.log.5").is_err());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let again = RotatingFile::open(&path, 20).unwrap();
        assert_eq!(again.written, 15);
    }
}
