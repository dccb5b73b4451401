//! Tests what a command can connect to.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use lango_sandbox::{ConfinementLevel, NetworkAccess};

use crate::workspace::{LEVELS, TestWorkspace};

fn connect(address: &str) -> String {
    format!(
        "/usr/bin/perl -MIO::Socket::INET -e 'exit(IO::Socket::INET->new(\"{address}\") ? 0 : 1)'"
    )
}

#[tokio::test]
async fn the_machine_cannot_be_reached_unless_granted() {
    for level in LEVELS {
        let mut workspace = TestWorkspace::at(level);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let command = connect(&listener.local_addr().unwrap().to_string());
        workspace.refuses(&command).await;
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "{level}: a connection was accepted");
        workspace.bounds.network = NetworkAccess::On;
        workspace.prints(&command).await;
        listener.accept().unwrap();
    }
}

#[tokio::test]
async fn bubblewrap_gives_a_loopback_of_its_own() {
    let workspace = TestWorkspace::at(ConfinementLevel::Bubblewrap);
    workspace
        .prints(
            "/usr/bin/perl -MIO::Socket::INET -e '
            $l = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\") or die;
            IO::Socket::INET->new(\"127.0.0.1:\" . $l->sockport) or die'",
        )
        .await;
}

/// Returns a directory for service sockets in which the test may create one.
fn service_directory() -> tempfile::TempDir {
    let user = std::fs::metadata("/proc/self").unwrap().uid();
    let places = ["/run".to_owned(), format!("/run/user/{user}"), "/run/lock".to_owned()];
    places.iter().find_map(|place| tempfile::tempdir_in(place).ok()).expect("a place below /run")
}

/// Checks sockets in a directory that is neither hidden nor a usual one for sockets. It must not lie in
/// `/tmp`, where a job finds a directory of its own instead.
#[tokio::test]
async fn a_socket_anywhere_in_the_file_system_cannot_be_reached_without_network() {
    for level in LEVELS {
        let workspace = TestWorkspace::within(level, Path::new("/var/tmp"));
        let path = workspace.outside().join("service");
        let listener = UnixListener::bind(&path).unwrap();
        let command = format!(
            "/usr/bin/perl -MIO::Socket::UNIX -e 'exit(IO::Socket::UNIX->new(\"{}\") ? 0 : 1)'",
            path.display()
        );
        workspace.refuses(&command).await;
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "{level}: a connection was accepted");
        // A pair connects a process with its own children only.
        workspace
            .prints(
                "/usr/bin/perl -MSocket -e 'socketpair($a, $b, AF_UNIX, SOCK_STREAM, 0) or die'",
            )
            .await;
    }
}

#[tokio::test]
async fn sockets_of_services_cannot_be_reached() {
    for level in LEVELS {
        for network in [NetworkAccess::Off, NetworkAccess::On] {
            let mut workspace = TestWorkspace::at(level);
            workspace.bounds.network = network;
            let directory = service_directory();
            let path = directory.path().join("service");
            let listener = UnixListener::bind(&path).unwrap();
            let command = format!(
                "/usr/bin/perl -MIO::Socket::UNIX -e 'exit(IO::Socket::UNIX->new(\"{}\") ? 0 : 1)'",
                path.display()
            );
            workspace.refuses(&command).await;
            listener.set_nonblocking(true).unwrap();
            assert!(listener.accept().is_err());
            // An abstract socket, which is not in the file system.
            let name = format!("lango-test-{}", std::process::id());
            let address = SocketAddr::from_abstract_name(&name).unwrap();
            let listener = UnixListener::bind_addr(&address).unwrap();
            let command = format!(
                "/usr/bin/perl -MSocket -e 'socket($s, AF_UNIX, SOCK_STREAM, 0) or exit 1;
                 exit(connect($s, pack(\"S a*\", 1, \"\\0{name}\")) ? 0 : 1)'"
            );
            workspace.refuses(&command).await;
            listener.set_nonblocking(true).unwrap();
            assert!(listener.accept().is_err());
        }
    }
}
