//! Measures what the sandbox costs: CPU time of a command at each level, over the bare command.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use lango_places::{Places, PlacesSettings};
use lango_sandbox::{ConfinementLevel, Job, LevelRequirement, Sandbox, SandboxPolicy};
use rustix::process::{WaitOptions, getpid, set_child_subreaper, wait};

use crate::{REPEATS, block_on, figures, finish};

/// Commands in one measurement.
const COMMANDS: u32 = 40;
/// The command that is run: as little as a command can be.
const COMMAND: [&str; 3] = ["-c", "--", "true"];

/// Every figure is taken in a process of its own, whose children are then all there were.
pub(crate) fn measure() -> Result<()> {
    let own = std::env::current_exe()?;
    let mut table = figures::Table::default();
    let (mut bare, mut over): (Vec<f64>, [Vec<f64>; 2]) = (Vec::new(), Default::default());
    for _ in 0..REPEATS {
        let figure = |kind: &str| -> Result<f64> {
            let output = Command::new(&own).args(["sandbox-worker", kind]).output()?;
            if !output.status.success() {
                bail!("{kind}: {}", String::from_utf8_lossy(&output.stderr));
            }
            Ok(String::from_utf8(output.stdout)?.trim().parse()?)
        };
        let floor = figure("bare")?;
        bare.push(floor);
        for (level, over) in ["bubblewrap", "landlock"].iter().zip(&mut over) {
            over.push(figure(level)? - floor);
        }
    }
    let [bubblewrap, landlock] = over;
    table.add("/bin/sh -c true, CPU-ms", None, bare);
    table.add("bubblewrap: what the sandbox adds, CPU-ms", Some(15.0), bubblewrap);
    table.add("landlock: what the sandbox adds, CPU-ms", Some(15.0), landlock);
    finish(&table)
}

/// Prints the CPU time of one command: of the children, and of this process for starting them.
pub(crate) fn work(kind: &str) -> Result<()> {
    // The time of a process is that of who waits for it. Those whose parent is gone come to us.
    set_child_subreaper(Some(getpid()))?;
    let spent = match kind {
        "bare" => {
            for _ in 0..3 {
                run_bare()?;
            }
            let before = cpu()?;
            for _ in 0..COMMANDS {
                run_bare()?;
            }
            cpu()? - before
        }
        "bubblewrap" => block_on(confined(ConfinementLevel::Bubblewrap))?,
        "landlock" => block_on(confined(ConfinementLevel::Landlock))?,
        _ => bail!("there is no level {kind}"),
    };
    writeln!(std::io::stdout(), "{}", spent / f64::from(COMMANDS))?;
    Ok(())
}

fn run_bare() -> Result<()> {
    let output = Command::new("/bin/sh").args(COMMAND).stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "the bare command failed");
    Ok(())
}

async fn confined(level: ConfinementLevel) -> Result<f64> {
    let sandbox = Sandbox {
        requirement: LevelRequirement::Exactly(level),
        // As users have it: the real program is larger than this one, and starting it costs more.
        helper: Some(std::env::current_exe()?.with_file_name("lango")),
        ..Sandbox::default()
    };
    let directory = tempfile::tempdir()?;
    let home = std::env::home_dir();
    let settings = PlacesSettings { home: home.clone(), ..PlacesSettings::default() };
    let policy = SandboxPolicy { home, places: Places::new(settings), ..SandboxPolicy::default() };
    let run = async || -> Result<()> {
        let job = Job {
            descriptors: Vec::new(),
            program: "/bin/sh".into(),
            arguments: COMMAND.map(Into::into).into(),
            directory: directory.path().to_owned(),
            environment: Vec::new(),
            bounds: policy.job_bounds(directory.path()),
            stdin: Stdio::null(),
        };
        let status = sandbox.spawn(job).await?.wait().await?;
        ensure!(status.success(), "the confined command failed: {status}");
        // It has ended, so only those who were left to us can be meant.
        while wait(WaitOptions::empty()).is_ok() {}
        Ok(())
    };
    for _ in 0..3 {
        run().await?;
    }
    let before = cpu()?;
    for _ in 0..COMMANDS {
        run().await?;
    }
    Ok(cpu()? - before)
}

/// CPU time of this process and of all children that were waited for, in milliseconds.
pub(crate) fn cpu() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name of the program comes before, in parentheses. Then: times of its children, in
    // hundredths of a second, which is fine enough for the sum of many.
    let rest = stat.rsplit(')').next().context("no statistics")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let field = |index: usize| -> Result<f64> {
        Ok(fields.get(index).context("too few statistics")?.parse::<f64>()? * 10.0)
    };
    let own = crate::worker::cpu().as_secs_f64() * 1000.0;
    Ok(own + field(13)? + field(14)?)
}
