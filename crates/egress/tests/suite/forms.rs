//! Tests that a forbidden address is refused in every spelling.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use lango_egress::{Destination, Guard, Rules, kind_of};
use proptest::prelude::*;

/// Generates addresses that are not public, from every range.
fn forbidden() -> impl Strategy<Value = Ipv4Addr> {
    prop_oneof![
        any::<u32>().prop_map(|bits| Ipv4Addr::from_bits(bits & 0x00ff_ffff | 0x7f00_0000)),
        any::<u32>().prop_map(|bits| Ipv4Addr::from_bits(bits & 0x00ff_ffff | 0x0a00_0000)),
        any::<u32>().prop_map(|bits| Ipv4Addr::from_bits(bits & 0x000f_ffff | 0xac10_0000)),
        any::<u32>().prop_map(|bits| Ipv4Addr::from_bits(bits & 0x0000_ffff | 0xc0a8_0000)),
        any::<u32>().prop_map(|bits| Ipv4Addr::from_bits(bits & 0x0000_ffff | 0xa9fe_0000)),
        any::<u32>().prop_map(|bits| Ipv4Addr::from_bits(bits & 0x003f_ffff | 0x6440_0000)),
        any::<u32>().prop_map(|bits| Ipv4Addr::from_bits(bits & 0x00ff_ffff)),
        any::<u32>().prop_map(|bits| Ipv4Addr::from_bits(bits | 0xe000_0000)),
        Just(Ipv4Addr::new(169, 254, 169, 254)),
    ]
}

/// Writes one part of an address as a number in a random base and case, with leading zeros.
fn number(value: u32, base: u8, zeros: usize, upper: bool) -> String {
    let zeros = "0".repeat(zeros);
    match (base % 3, upper) {
        (0, _) => value.to_string(),
        (1, true) => format!("0X{zeros}{value:X}"),
        (1, false) => format!("0x{zeros}{value:x}"),
        _ => format!("0{zeros}{value:o}"),
    }
}

/// Writes an address in one of the spellings that browsers accept.
fn spelling(address: Ipv4Addr, parts: usize, bases: [u8; 4], zeros: usize, upper: bool) -> String {
    let [a, b, c, d] = address.octets().map(u32::from);
    let values = match parts % 4 {
        0 => vec![address.to_bits()],
        1 => vec![a, b << 16 | c << 8 | d],
        2 => vec![a, b, c << 8 | d],
        _ => vec![a, b, c, d],
    };
    let texts: Vec<String> =
        values.iter().zip(bases).map(|(value, base)| number(*value, base, zeros, upper)).collect();
    texts.join(".")
}

/// Writes the same characters, some of them percent-encoded or in full width.
fn disguised(text: &str, choices: &[u8]) -> String {
    let character = |(index, character): (usize, char)| match choices[index % choices.len()] % 4 {
        0 => format!("%{:02x}", u32::from(character)),
        1 if character == '.' => "。".to_owned(),
        1 => char::from_u32(u32::from(character) - 0x21 + 0xff01).unwrap().to_string(),
        _ => character.to_string(),
    };
    text.chars().enumerate().map(character).collect()
}

fn is_refused(url: &str) -> bool {
    match Destination::of_url(url) {
        Err(_) => true,
        Ok((_, destination)) => Guard::new(Rules::default()).check(&destination).is_err(),
    }
}

proptest! {
    #[test]
    fn c1_no_spelling_of_a_forbidden_address_passes(
        address in forbidden(),
        parts in 0_usize..4,
        bases in any::<[u8; 4]>(),
        zeros in 0_usize..4,
        upper in any::<bool>(),
        choices in proptest::collection::vec(any::<u8>(), 1..8),
        scheme in prop_oneof![Just("http"), Just("HTTPS"), Just("ws"), Just("wss")],
        dot in any::<bool>(),
        port in proptest::option::of(any::<u16>()),
    ) {
        let plain = spelling(address, parts, bases, zeros, upper);
        let tail = format!("{}{}/", if dot { "." } else { "" }, port.map(|p| format!(":{p}")).unwrap_or_default());
        // The plain spelling is an address, and is known for what it is.
        let (_, destination) = Destination::of_url(&format!("http://{plain}{tail}")).unwrap();
        prop_assert_eq!(destination.address(), Some(IpAddr::V4(address)));
        let plain_url = format!("{scheme}://{plain}{tail}");
        prop_assert!(is_refused(&plain_url), "{}", plain_url);
        let hidden_url = format!("{scheme}:\t//{}{tail}", disguised(&plain, &choices));
        prop_assert!(is_refused(&hidden_url), "{}", hidden_url);
    }

    #[test]
    fn c1_no_ipv6_address_that_carries_a_forbidden_one_passes(
        address in forbidden(),
        wrapping in 0_usize..6,
        prefix in any::<u32>(),
        written_out in any::<bool>(),
    ) {
        let halves = |bits: u32| {
            let [a, b, c, d] = bits.to_be_bytes();
            [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])]
        };
        let [high, low] = halves(address.to_bits());
        let [turned_high, turned_low] = halves(!address.to_bits());
        let [p1, p2] = halves(prefix);
        let segments = match wrapping {
            0 => [0, 0, 0, 0, 0, 0xffff, high, low],
            1 => [0, 0, 0, 0, 0, 0, high, low],
            2 => [0x64, 0xff9b, 0, 0, 0, 0, high, low],
            3 => [0x2002, high, low, p1, p2, 1, 2, 3],
            4 => [0x2001, 0, 0x808, 0x808, p1, p2, turned_high, turned_low],
            _ => [0x2a00, p1, p2, 4, 0x200, 0x5efe, high, low],
        };
        let outer = Ipv6Addr::from(segments);
        prop_assert!(kind_of(outer.into()).is_some(), "{}", outer);
        let text = if written_out {
            segments.map(|segment| format!("{segment:04X}")).join(":")
        } else {
            outer.to_string()
        };
        let url = format!("http://[{text}]/");
        prop_assert!(is_refused(&url), "{}", url);
    }

    #[test]
    fn whatever_is_written_nothing_breaks(text in "\\PC{0,60}", port in any::<u16>()) {
        let _ = is_refused(&text);
        let _ = is_refused(&format!("http://{text}:{port}/"));
        let _ = Destination::of_authority(&text);
        let _ = text.parse::<lango_egress::Pattern>();
    }

    #[test]
    fn public_addresses_pass(bits in any::<u32>()) {
        let address = Ipv4Addr::from_bits(bits);
        prop_assert_eq!(is_refused(&format!("http://{address}/")), kind_of(address.into()).is_some());
    }
}
