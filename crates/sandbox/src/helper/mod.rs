//! The helper: this program, started again to give up rights before it becomes another.
//!
//! Nothing can be done between fork and exec without `unsafe` code, so a small process does it.
//! It does nothing that it need not: no runtime, no configuration, no command line.

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
pub(crate) use limits::limits_for;
pub(crate) use order::{Filter, NO_PROGRAM, Order, READY, Rules};

/// The first argument that makes a program the helper.
pub const HELPER_ARGUMENT: &str = "__confine";

/// The exit code of a helper that could not do its work.
const FAILED: u8 = 125;

/// Does the helper's work if the arguments of this process ask for it.
///
/// Call it first thing in `main`. It returns only if this is no helper, or with the code to exit
/// with.
pub fn helper_requested() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != HELPER_ARGUMENT {
        return None;
    }
    Some(match arguments.next().ok_or("no order given".to_owned()).and_then(|d| obey(&d)) {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            // With standard error gone there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "lango: the sandbox failed: {message}");
            ExitCode::from(FAILED)
        }
    })
}

fn obey(descriptor: &OsString) -> Result<u8, String> {
    let mut text = Vec::new();
    let descriptor = descriptor.to_str().and_then(|text| text.parse().ok()).ok_or("no number")?;
    File::open(inherited(descriptor))
        .and_then(|mut file| file.read_to_end(&mut text))
        .map_err(|error| format!("the order cannot be read: {error}"))?;
    let order: Order = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let mut report = File::options()
        .write(true)
        .open(inherited(order.report))
        .map_err(|error| format!("no report can be made: {error}"))?;
    let outcome = follow(&order, &mut report);
    if let Err(message) = &outcome {
        // Also told on standard error, by the caller.
        let _ = report.write_all(message.as_bytes());
    }
    outcome
}

fn follow(order: &Order, report: &mut File) -> Result<u8, String> {
    // Opened before rights are given up.
    let lifeline = order.lifeline.map(|descriptor| File::open(inherited(descriptor))).transpose();
    let lifeline = lifeline.map_err(|error| format!("no lifeline: {error}"))?;
    for group in &order.groups {
        let entrance = File::options().write(true).open(inherited(*group));
        entrance
            .and_then(|mut entrance| entrance.write_all(b"0"))
            .map_err(|error| format!("a control group cannot be joined: {error}"))?;
    }
    // Whatever is open beside the standard streams is not the program's business.
    close_fds::CloseFdsBuilder::new().cloexecfrom(3);
    if let Some(lifeline) = lifeline {
        return supervise::run(order, report, lifeline);
    }
    limits::apply(&order.limits)?;
    give_up_rights(order)?;
    Err(become_program(order, report))
}

/// From here on this thread has the rights of the program.
fn give_up_rights(order: &Order) -> Result<(), String> {
    rights::give_up()?;
    if let Some(rules) = &order.rules {
        rules::apply(rules)?;
    }
    if let Some(filter) = &order.filter {
        filter::apply(filter)?;
    }
    Ok(())
}

fn command(order: &Order) -> Command {
    let mut command = Command::new(&order.program);
    command
        .args(&order.arguments)
        .env_clear()
        .envs(order.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&order.directory)
        .stdin(Stdio::inherit());
    command
}

/// Returns only if it fails.
fn become_program(order: &Order, report: &mut File) -> String {
    // The order of the two does not matter to the reader, who looks at the end.
    if let Err(error) = report.write_all(&[READY]) {
        return format!("no report can be made: {error}");
    }
    no_program(&command(order).exec())
}

/// A report that begins so says that the sandbox is fine and the program is not.
fn no_program(error: &std::io::Error) -> String {
    format!("{}{error}", char::from(NO_PROGRAM))
}

/// A descriptor that the parent left open. Opened again by name: taking over a number is unsafe.
fn inherited(descriptor: i32) -> String {
    format!("/proc/self/fd/{descriptor}")
}
