//! Implements the helper: this program, started again to drop its rights before it becomes another
//! program.
//!
//! Nothing can be done between fork and exec without `unsafe` code, so a small process does it. It
//! does only what is necessary: no runtime, no configuration, no command line.

mod file_modes;
mod filter;
mod limits;
mod order;
mod rights;
mod rules;
mod supervise;

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};

pub(crate) use filter::try_filter;
pub(crate) use limits::choose_limits;
pub(crate) use order::{FilterSettings, HelperOrder, LandlockRules, NO_PROGRAM, READY};

/// The first argument that turns a program into the helper.
pub const HELPER_ARGUMENT: &str = "__confine";

/// The exit code of a helper that failed.
const FAILURE_EXIT_CODE: u8 = 125;

/// Runs the helper if the arguments of this process ask for it.
///
/// Call it first thing in `main`. It returns none if this process is not the helper, and otherwise
/// the exit code.
pub fn run_helper_if_requested() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != HELPER_ARGUMENT {
        return None;
    }
    Some(
        match arguments.next().ok_or("no order given".to_owned()).and_then(|d| read_and_follow(&d))
        {
            Ok(code) => ExitCode::from(code),
            Err(message) => {
                // Without standard error there is no way to report.
                let _ = writeln!(std::io::stderr(), "lango: the sandbox failed: {message}");
                ExitCode::from(FAILURE_EXIT_CODE)
            }
        },
    )
}

fn read_and_follow(descriptor: &OsString) -> Result<u8, String> {
    let mut text = Vec::new();
    let descriptor = descriptor.to_str().and_then(|text| text.parse().ok()).ok_or("no number")?;
    File::open(inherited_descriptor_path(descriptor))
        .and_then(|mut file| file.read_to_end(&mut text))
        .map_err(|error| format!("the order cannot be read: {error}"))?;
    let order: HelperOrder = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let mut report = File::options()
        .write(true)
        .open(inherited_descriptor_path(order.report))
        .map_err(|error| format!("no report can be made: {error}"))?;
    let outcome = follow_order(&order, &mut report);
    if let Err(message) = &outcome {
        // The caller also writes it to standard error.
        let _ = report.write_all(message.as_bytes());
    }
    outcome
}

fn follow_order(order: &HelperOrder, report: &mut File) -> Result<u8, String> {
    // Opened before the rights are dropped.
    let lifeline = File::open(inherited_descriptor_path(order.lifeline))
        .map_err(|error| format!("no lifeline: {error}"))?;
    for group in &order.groups {
        let entrance = File::options().write(true).open(inherited_descriptor_path(*group));
        entrance
            .and_then(|mut entrance| entrance.write_all(b"0"))
            .map_err(|error| format!("a control group cannot be joined: {error}"))?;
    }
    // The program must not inherit anything other than the standard streams and its own files.
    close_fds::CloseFdsBuilder::new().keep_fds(&order.kept).cloexecfrom(3);
    if order.is_supervised {
        return supervise::run_supervised(order, report, lifeline);
    }
    if supervise::is_closed(&lifeline) {
        // Killed before bubblewrap could bind its own life to it.
        return Err("the owner of the job is gone".to_owned());
    }
    limits::apply_limits(&order.limits)?;
    give_up_rights(order)?;
    Err(become_program(order, report))
}

/// Drops rights, so that this thread has only those of the program.
fn give_up_rights(order: &HelperOrder) -> Result<(), String> {
    rights::drop_capabilities()?;
    if let Some(rules) = &order.rules {
        rules::apply_rules(rules)?;
    }
    if let Some(filter) = &order.filter {
        filter::apply_settings(filter)?;
    }
    Ok(())
}

fn build_command(order: &HelperOrder) -> Command {
    let mut command = Command::new(&order.program);
    command
        .args(&order.arguments)
        .env_clear()
        .envs(order.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&order.directory)
        .stdin(Stdio::inherit());
    command
}

/// Becomes the program. Returns only if that fails.
fn become_program(order: &HelperOrder, report: &mut File) -> String {
    // The order of the two does not matter: the reader looks at the end.
    if let Err(error) = report.write_all(&[READY]) {
        return format!("no report can be made: {error}");
    }
    no_program_report(&build_command(order).exec())
}

/// Returns the report that the sandbox works but the program cannot be run.
fn no_program_report(error: &std::io::Error) -> String {
    format!("{}{error}", char::from(NO_PROGRAM))
}

/// Returns the path of an inherited descriptor. It is reopened by path, because taking ownership of
/// a number is unsafe.
fn inherited_descriptor_path(descriptor: i32) -> String {
    format!("/proc/self/fd/{descriptor}")
}
