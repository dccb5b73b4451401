//! Reads durations such as `30s`, `5m` and `1h30m`.

use std::time::Duration;

/// Limits a duration: a week.
const MAX_SECONDS: u64 = 7 * 24 * 3600;

/// Reads a duration. The error says how to write one.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no duration. Write it as 30s, 5m, 2h or 1h30m");
    let mut seconds: u64 = 0;
    let mut number = String::new();
    for character in text.trim().chars() {
        if character.is_ascii_digit() && number.len() < 9 {
            number.push(character);
            continue;
        }
        let factor = match character {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 24 * 3600,
            _ => return Err(wrong()),
        };
        let amount: u64 = number.parse().map_err(|_| wrong())?;
        number.clear();
        seconds = seconds.saturating_add(amount.saturating_mul(factor));
    }
    if !number.is_empty() || seconds == 0 {
        return Err(wrong());
    }
    if seconds > MAX_SECONDS {
        return Err(format!("{text:?} is longer than a week"));
    }
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, seconds) in [("30s", 30), ("5m", 300), ("1h30m", 5400), ("2d", 172_800)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "5", "m", "0s", "5 m", "-1s", "8d", "99999999999s", "1w"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
