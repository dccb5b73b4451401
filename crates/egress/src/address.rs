//! Classifies addresses. This module knows numbers only: no names, no rules.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Says why an address is not on the public internet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AddressKind {
    /// A service that gives a cloud's machines their credentials.
    Metadata,
    /// `0.0.0.0` and `::`, which connect to this machine.
    Unspecified,
    /// This machine.
    Loopback,
    /// A private network.
    Private,
    /// A link-local address, which no router forwards.
    LinkLocal,
    /// Shared between a provider and its customers.
    Shared,
    /// Many receivers.
    Multicast,
    /// All receivers.
    Broadcast,
    /// Set aside for examples in texts.
    Documentation,
    /// Set aside for measurements.
    Benchmark,
    /// Not given to anybody.
    Reserved,
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Metadata => "metadata address",
            Self::Unspecified => "unspecified address",
            Self::Loopback => "loopback address",
            Self::Private => "private address",
            Self::LinkLocal => "link-local address",
            Self::Shared => "shared provider address",
            Self::Multicast => "multicast address",
            Self::Broadcast => "broadcast address",
            Self::Documentation => "documentation address",
            Self::Benchmark => "benchmark address",
            Self::Reserved => "reserved address",
        })
    }
}

/// Returns the kind of an address that is not public; `None` for one that is.
pub fn kind_of(address: IpAddr) -> Option<AddressKind> {
    match address {
        IpAddr::V4(address) => kind_of_v4(address),
        IpAddr::V6(address) => kind_of_v6(address),
    }
}

/// Lists the credential services of clouds. One of them is a public address.
const METADATA_V4: [Ipv4Addr; 6] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(168, 63, 129, 16),
];

const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

fn kind_of_v4(address: Ipv4Addr) -> Option<AddressKind> {
    if METADATA_V4.contains(&address) {
        return Some(AddressKind::Metadata);
    }
    let kind = match address.octets() {
        [0, 0, 0, 0] => AddressKind::Unspecified,
        [255, 255, 255, 255] => AddressKind::Broadcast,
        [127, ..] => AddressKind::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressKind::Private,
        [100, 64..=127, ..] => AddressKind::Shared,
        [169, 254, ..] => AddressKind::LinkLocal,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => AddressKind::Documentation,
        [198, 18..=19, ..] => AddressKind::Benchmark,
        [224..=239, ..] => AddressKind::Multicast,
        // "This network", protocol assignments, the old 6to4 relay, and class E.
        [0 | 240..=255, ..] | [192, 0, 0, _] | [192, 88, 99, _] => AddressKind::Reserved,
        _ => return None,
    };
    Some(kind)
}

fn kind_of_v6(address: Ipv6Addr) -> Option<AddressKind> {
    if METADATA_V6.contains(&address) {
        return Some(AddressKind::Metadata);
    }
    let segments = address.segments();
    let embedded = embedded_in(segments);
    let own = match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some(AddressKind::Unspecified),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(AddressKind::Loopback),
        [0xfe80..=0xfebf, ..] => Some(AddressKind::LinkLocal),
        [0xfec0..=0xfeff | 0xfc00..=0xfdff, ..] => Some(AddressKind::Private),
        [0xff00..=0xffff, ..] => Some(AddressKind::Multicast),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some(AddressKind::Documentation),
        [0x2001, 2, 0, ..] => Some(AddressKind::Benchmark),
        // Protocol assignments other than Teredo, which carries addresses.
        [0x2001, 1..=0x1ff, ..] => Some(AddressKind::Reserved),
        // Public as such; IPv4-mapped and NAT64 are exactly the address inside.
        [0x2000..=0x3fff, ..] | [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
            None
        }
        _ => Some(AddressKind::Reserved),
    };
    own.or_else(|| embedded.into_iter().flatten().find_map(kind_of_v4))
}

/// Returns the IPv4 addresses that a translator or tunnel would make of an IPv6 address.
fn embedded_in(segments: [u16; 8]) -> [Option<Ipv4Addr>; 2] {
    let at = |index: usize| {
        let [a, b] = segments[index].to_be_bytes();
        let [c, d] = segments[index + 1].to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    let last = at(6);
    match segments {
        // Mapped, NAT64, and ISATAP under any prefix.
        [0, 0, 0, 0, 0, 0xffff, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..]
        | [0x2003..=0x3fff | 0x2000, _, _, _, 0 | 0x200, 0x5efe, ..]
        | [0x2001, 1..=0xffff, _, _, 0 | 0x200, 0x5efe, ..] => [Some(last), None],
        [0x2002, ..] => [Some(at(1)), None],
        // Teredo: the server, and the client with its bits turned over.
        [0x2001, 0, ..] => [Some(at(2)), Some(Ipv4Addr::from_bits(!last.to_bits()))],
        _ => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Option<AddressKind> {
        kind_of(text.parse().unwrap())
    }

    #[test]
    fn every_range_that_is_not_public_has_its_kind_up_to_its_last_address() {
        use AddressKind::*;
        for (first, last, expected) in [
            ("0.0.0.1", "0.255.255.255", Reserved),
            ("10.0.0.0", "10.255.255.255", Private),
            ("100.64.0.0", "100.127.255.255", Shared),
            ("127.0.0.0", "127.255.255.255", Loopback),
            ("169.254.0.0", "169.254.255.255", LinkLocal),
            ("172.16.0.0", "172.31.255.255", Private),
            ("192.0.0.0", "192.0.0.255", Reserved),
            ("192.0.2.0", "192.0.2.255", Documentation),
            ("192.88.99.0", "192.88.99.255", Reserved),
            ("192.168.0.0", "192.168.255.255", Private),
            ("198.18.0.0", "198.19.255.255", Benchmark),
            ("198.51.100.0", "198.51.100.255", Documentation),
            ("203.0.113.0", "203.0.113.255", Documentation),
            ("224.0.0.0", "239.255.255.255", Multicast),
            ("240.0.0.0", "255.255.255.254", Reserved),
            ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Private),
            ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", LinkLocal),
            ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Private),
            ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Multicast),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Documentation),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Documentation),
            ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", Benchmark),
            ("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
            ("::2", "::ffff:ffff", Reserved),
            ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", Reserved),
        ] {
            assert_eq!(kind(first), Some(expected), "{first}");
            assert_eq!(kind(last), Some(expected), "{last}");
        }
        for (address, expected) in [
            ("0.0.0.0", Unspecified),
            ("::", Unspecified),
            ("255.255.255.255", Broadcast),
            ("::1", Loopback),
            ("169.254.169.254", Metadata),
            ("100.100.100.200", Metadata),
            ("168.63.129.16", Metadata),
            ("fd00:ec2::254", Metadata),
        ] {
            assert_eq!(kind(address), Some(expected), "{address}");
        }
    }

    #[test]
    fn what_lies_just_outside_is_public() {
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "::ffff:1.1.1.1",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
        ] {
            assert_eq!(kind(address), None, "{address}");
        }
    }

    #[test]
    fn an_address_inside_of_another_is_seen() {
        use AddressKind::*;
        for (address, expected) in [
            ("::ffff:127.0.0.1", Loopback),
            ("::ffff:a9fe:a9fe", Metadata),
            ("::ffff:0.0.0.0", Unspecified),
            ("::127.0.0.1", Reserved),
            ("::ffff:0:127.0.0.1", Reserved),
            ("64:ff9b::10.1.2.3", Private),
            ("64:ff9b::169.254.169.254", Metadata),
            ("2002:7f00:1::", Loopback),
            ("2002:a9fe:a9fe::1", Metadata),
            ("2001:0:7f00:1::", Loopback),
            // The client 127.0.0.1, turned over, behind a public server.
            ("2001:0:808:808::80ff:fffe", Loopback),
            ("2a00:1450::5efe:192.168.0.1", Private),
        ] {
            assert_eq!(kind(address), Some(expected), "{address}");
        }
    }
}
