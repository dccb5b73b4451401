//! A PostgreSQL server for one run: its own cluster in a temporary directory, on loopback only,
//! gone afterwards. Nothing of a server that the machine already has is touched.

mod installation;

use std::fs::DirBuilder;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};

use installation::{Installation, ensure_installed};

use crate::cargo::quietly;

/// The variable that tells the tests the address of the server.
pub(crate) const URL_VARIABLE: &str = "LANGO_TEST_POSTGRES";

/// Ports to try: between finding a free one and using it, another program may take it.
const ATTEMPTS: u32 = 5;

/// A running server. Stopped, and its directory removed, when dropped or when this process ends.
pub(crate) struct PrivateServer {
    port: u16,
    _keeper: Keeper,
}

impl PrivateServer {
    /// Makes a cluster and starts it. Installs PostgreSQL where it is missing.
    pub(crate) fn start() -> Result<Self> {
        let installation = ensure_installed()?;
        let directory = private_directory()?;
        let data = directory.join("data");
        // From here on the directory is removed, whatever happens.
        let keeper = Keeper::start(&installation, &directory, &data)?;
        installation.give_to_server_user(&directory)?;
        make_cluster(&installation, &directory, &data)?;
        let mut attempt = 1;
        let port = loop {
            let port = free_port()?;
            match start_server(&installation, &directory, &data, port) {
                Ok(()) => break port,
                Err(_) if attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
            }
        };
        Ok(Self { port, _keeper: keeper })
    }

    /// The address of its database.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

/// Directly under `/tmp`, because the path of the server's socket must be short, and because the
/// server's user must reach it.
fn private_directory() -> Result<PathBuf> {
    let nanoseconds =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
    let name = format!("lango-postgres-{}-{nanoseconds}", std::process::id());
    let directory = Path::new("/tmp").join(name);
    let made = DirBuilder::new().mode(0o700).create(&directory);
    made.with_context(|| format!("could not make {}", directory.display()))?;
    Ok(directory)
}

fn make_cluster(installation: &Installation, directory: &Path, data: &Path) -> Result<()> {
    let mut initdb = installation.command("initdb");
    initdb
        .current_dir(directory)
        .args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"])
        .arg("--pgdata")
        .arg(data);
    quietly(&mut initdb).context("could not make a PostgreSQL cluster")
}

fn start_server(
    installation: &Installation,
    directory: &Path,
    data: &Path,
    port: u16,
) -> Result<()> {
    let log = directory.join("log");
    // What is lost in a crash of the machine is of no interest here.
    let settings = format!(
        "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={} \
         -c fsync=off -c full_page_writes=off -c max_connections=200",
        directory.display()
    );
    let mut start = installation.command("pg_ctl");
    start.current_dir(directory).arg("start").arg("--pgdata").arg(data);
    start.arg("--log").arg(&log).args([
        "--wait",
        "--timeout=60",
        "--silent",
        "--options",
        &settings,
    ]);
    // Not captured: the server keeps what it inherits open.
    let status = start.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !status.context("could not run pg_ctl")?.success() {
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        bail!("the PostgreSQL server did not start:\n{said}");
    }
    Ok(())
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr()?.port())
}

/// Clears up after this process, even if it is killed: a shell that waits for its input to end,
/// which it does when this process does, and that no Ctrl-C reaches.
struct Keeper {
    shell: Child,
}

impl Keeper {
    const SCRIPT: &str = r#"
        trap '' INT TERM HUP
        directory=$1
        shift
        cat
        "$@"
        rm -rf -- "$directory"
    "#;

    fn start(installation: &Installation, directory: &Path, data: &Path) -> Result<Self> {
        let mut stop = installation.command("pg_ctl");
        stop.arg("stop").arg("--pgdata").arg(data).args(["--mode=immediate", "--silent"]);
        let mut shell = Command::new("sh");
        shell.args(["-c", Self::SCRIPT, "keeper"]).arg(directory);
        shell.arg(stop.get_program()).args(stop.get_args()).current_dir("/");
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let shell = shell.spawn().context("could not run sh")?;
        Ok(Self { shell })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // Nothing can be done about a shell that cannot be waited for.
        let _ = self.shell.wait();
    }
}
