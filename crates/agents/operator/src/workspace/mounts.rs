//! Tells whether a directory is on this machine.

use std::path::Path;

use cap_std::fs::Dir;

/// Lists the file systems on disks and in memory, by their magic numbers. An access to others, such
/// as network and user-space file systems, may block forever.
const LOCAL_FILE_SYSTEMS: [i64; 9] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0xf2f5_2010, // F2FS
    0x2fc1_2fc1, // ZFS
    0xca45_1a4e, // bcachefs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlay
];

/// Tells whether the directory and everything below it is on a disk or in the memory of this
/// machine. If that cannot be determined, the answer is no.
pub(super) fn is_local(directory: &Dir, root: &Path) -> bool {
    let kind = rustix::fs::fstatfs(directory).map(|found| found.f_type);
    let local = kind.is_ok_and(|kind| LOCAL_FILE_SYSTEMS.contains(&kind));
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    local && !mounts.is_empty() && !has_mount_below(&mounts, root)
}

/// Tells whether another file system is mounted below a directory.
fn has_mount_below(mounts: &str, root: &Path) -> bool {
    // The fifth field; a space in a path is written as \040.
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let mut points = points.map(|point| point.replace("\\040", " "));
    points.any(|point| Path::new(&point) != root && Path::new(&point).starts_with(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_below_is_noticed_and_one_beside_or_above_is_not() {
        let line = |point: &str| format!("29 1 254:1 / {point} rw - ext4 /dev/vda rw\n");
        let root = Path::new("/home/me/my work");
        let below = |point: &str| has_mount_below(&line(point), root);
        assert!(below("/home/me/my\\040work/far"));
        assert!(!below("/home/me/my\\040work"));
        assert!(!below("/home/me/my\\040workplace"));
        assert!(!below("/home/me"));
        assert!(!below("/"));
    }

    #[test]
    fn what_a_network_or_a_program_could_hold_up_is_not_at_hand() {
        let open = |path: &str| Dir::open_ambient_dir(path, cap_std::ambient_authority()).unwrap();
        assert!(!is_local(&open("/proc"), Path::new("/proc")));
    }
}
