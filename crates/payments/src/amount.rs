//! Defines exact amounts: USDC in its base units, and fees in wei. No amount is ever a float.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const USDC_DECIMALS: usize = 6;
const ETHER_DECIMALS: usize = 18;

/// Limits one amount, so that sums of the ledger fit into the integers of both databases. It is more
/// than there is.
const MAX_USDC_UNITS: u64 = 1_000_000_000_000_000_000;

/// Limits the text of an amount; every valid one is shorter.
const MAX_AMOUNT_BYTES: usize = 64;

/// Says why a text is not an amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// There is no text.
    #[error("the amount is empty; write it as 2 or 2.50")]
    Empty,
    /// Zero cannot be paid.
    #[error("the amount is 0, and there is nothing to pay")]
    Zero,
    /// It has a sign.
    #[error("{0:?} has a sign; write the amount without it")]
    Signed(String),
    /// It has an exponent.
    #[error("{0:?} has an exponent; write the amount in full, such as 2500")]
    Exponent(String),
    /// It has more decimals than the currency.
    #[error("{text:?} has {found} decimals, and {currency} has {decimals}")]
    Decimals {
        /// The given text.
        text: String,
        /// The number of decimals that it has.
        found: usize,
        /// The currency.
        currency: &'static str,
        /// The number of decimals that the currency has.
        decimals: usize,
    },
    /// It has separators of thousands, or another decimal separator than a point.
    #[error("{0:?} has a separator; write the amount without one, with a point before decimals")]
    Separator(String),
    /// It names another currency.
    #[error("{text:?} is not in {currency}; only {currency} can be paid")]
    Currency {
        /// The given text.
        text: String,
        /// The only currency.
        currency: &'static str,
    },
    /// It has digits of another script.
    #[error("{0:?} has digits that are not 0 to 9; write it with those")]
    OtherDigits(String),
    /// It is no number.
    #[error("{0:?} is not an amount; write it as 2 or 2.50")]
    NotANumber(String),
    /// It is larger than any amount can be.
    #[error("{0:?} is more than can be paid")]
    TooLarge(String),
}

/// An amount of USDC, in millionths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UsdcAmount(u64);

impl UsdcAmount {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// Creates an amount of base units, if it is within what an amount can be.
    pub fn from_units(units: u64) -> Option<Self> {
        (units <= MAX_USDC_UNITS).then_some(Self(units))
    }

    /// Creates an amount of whole USDC.
    pub const fn from_whole(usdc: u32) -> Self {
        Self(usdc as u64 * 1_000_000)
    }

    /// Parses an amount to pay, which is not zero.
    pub fn parse_payment(text: &str) -> Result<Self, AmountError> {
        match text.parse()? {
            Self::ZERO => Err(AmountError::Zero),
            amount => Ok(amount),
        }
    }

    /// Returns the base units.
    pub const fn units(self) -> u64 {
        self.0
    }

    /// Returns the base units as the database stores them.
    pub(crate) fn to_sql(self) -> i64 {
        // An amount is at most MAX_USDC_UNITS, which fits.
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }

    /// Returns what is left after `other`; zero if that is more.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns the sum, at most the largest amount.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0).min(MAX_USDC_UNITS))
    }
}

/// Reads an amount such as `2`, `2.50` or `2 USDC`.
impl FromStr for UsdcAmount {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, AmountError> {
        let units = parse_decimal(text, "USDC", USDC_DECIMALS)?;
        let units = u64::try_from(units).ok().and_then(Self::from_units);
        units.ok_or_else(|| AmountError::TooLarge(text.to_owned()))
    }
}

impl fmt::Display for UsdcAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} USDC", render_decimal(self.0.into(), USDC_DECIMALS, 2))
    }
}

/// Is written as its base units, which every reader understands in the same way.
impl Serialize for UsdcAmount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for UsdcAmount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let units = text.parse().ok().and_then(Self::from_units);
        units.ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not an amount")))
    }
}

/// An amount of ether, in wei: what the network takes for a transaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wei(pub u128);

impl Wei {
    /// No fee.
    pub const ZERO: Self = Self(0);
}

/// Reads an amount such as `0.0005` or `0.0005 ETH`.
impl FromStr for Wei {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, AmountError> {
        parse_decimal(text, "ETH", ETHER_DECIMALS).map(Self)
    }
}

impl fmt::Display for Wei {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ETH", render_decimal(self.0, ETHER_DECIMALS, 0))
    }
}

impl Serialize for Wei {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Wei {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let wei = is_plain.then(|| text.parse().ok()).flatten().map(Self);
        wei.ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not an amount of wei")))
    }
}

/// Reads digits with at most one point, and nothing else but the name of the currency behind them.
fn parse_decimal(
    given: &str,
    currency: &'static str,
    decimals: usize,
) -> Result<u128, AmountError> {
    let shown = || lango_text::make_visible_short(given);
    if given.len() > MAX_AMOUNT_BYTES {
        return Err(AmountError::NotANumber(shown()));
    }
    let number = strip_currency(given, currency);
    if number.is_empty() {
        return Err(AmountError::Empty);
    }
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_plain {
        return Err(explain(number, shown(), currency));
    }
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if fraction.contains('.') || whole.is_empty() => {
            let is_grouped = !whole.is_empty();
            let error = if is_grouped { AmountError::Separator } else { AmountError::NotANumber };
            return Err(error(shown()));
        }
        Some((_, "")) => return Err(AmountError::NotANumber(shown())),
        Some(parts) => parts,
        None => (number, ""),
    };
    if fraction.len() > decimals {
        let (text, found) = (shown(), fraction.len());
        return Err(AmountError::Decimals { text, found, currency, decimals });
    }
    if whole.len() > 1 && whole.starts_with('0') {
        return Err(AmountError::NotANumber(shown()));
    }
    let digits = format!("{whole}{fraction:0<decimals$}");
    digits.parse().map_err(|_| AmountError::TooLarge(shown()))
}

fn strip_currency<'a>(text: &'a str, currency: &str) -> &'a str {
    let split = text.len().checked_sub(currency.len());
    match split.and_then(|at| text.split_at_checked(at)) {
        Some((number, name)) if name.eq_ignore_ascii_case(currency) => {
            number.strip_suffix(' ').unwrap_or(number)
        }
        _ => text,
    }
}

/// Finds the reason why a text with other characters than digits and points is no amount.
fn explain(number: &str, shown: String, currency: &'static str) -> AmountError {
    let has = |test: fn(char) -> bool| number.chars().any(test);
    let starts_as_number = number.starts_with(|c: char| c.is_ascii_digit());
    let is_exponent = |c: char| matches!(c, 'e' | 'E');
    if number.starts_with(['+', '-', '\u{2212}']) {
        AmountError::Signed(shown)
    } else if has(|c| c.is_numeric() && !c.is_ascii_digit()) {
        AmountError::OtherDigits(shown)
    } else if number
        .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
        .starts_with(is_exponent)
        && starts_as_number
        && number.ends_with(|c: char| c.is_ascii_digit())
    {
        AmountError::Exponent(shown)
    } else if has(|c| matches!(c, '$' | '€' | '£' | '¥' | '₩' | '₿' | '¢'))
        || (starts_as_number && number.ends_with(char::is_alphabetic))
        || (number.starts_with(char::is_alphabetic) && has(|c| c.is_ascii_digit()))
    {
        AmountError::Currency { text: shown, currency }
    } else if starts_as_number
        && number.chars().all(|c| !c.is_alphabetic())
        && number.ends_with(|c: char| c.is_ascii_digit())
    {
        AmountError::Separator(shown)
    } else {
        AmountError::NotANumber(shown)
    }
}

/// Writes an amount without the zeros at its end, but with at least `least` decimals if it has any.
fn render_decimal(units: u128, decimals: usize, least: usize) -> String {
    let digits = format!("{units:0>width$}", width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let significant = fraction.trim_end_matches('0');
    if significant.is_empty() {
        return whole.to_owned();
    }
    format!("{whole}.{significant:0<least$}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(text: &str) -> String {
        UsdcAmount::parse_payment(text).unwrap_err().to_string()
    }

    #[test]
    fn amounts_are_exact() {
        for (text, units, shown) in [
            ("2", 2_000_000, "2 USDC"),
            ("2.5", 2_500_000, "2.50 USDC"),
            ("0.000001", 1, "0.000001 USDC"),
            ("2.123456", 2_123_456, "2.123456 USDC"),
            ("1000000000000", MAX_USDC_UNITS, "1000000000000 USDC"),
            ("2 USDC", 2_000_000, "2 USDC"),
            ("2usdc", 2_000_000, "2 USDC"),
        ] {
            let amount = UsdcAmount::parse_payment(text).unwrap();
            assert_eq!((amount.units(), amount.to_string().as_str()), (units, shown), "{text}");
        }
        assert_eq!("0.0005".parse::<Wei>().unwrap(), Wei(500_000_000_000_000));
        assert_eq!(Wei(500_000_000_000_000).to_string(), "0.0005 ETH");
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        for (text, reason) in [
            ("", "is empty"),
            ("USDC", "is empty"),
            ("0", "the amount is 0"),
            ("0.00", "the amount is 0"),
            ("-1", "has a sign"),
            ("+1", "has a sign"),
            ("\u{2212}1", "has a sign"),
            ("1e309", "has an exponent"),
            ("1E3", "has an exponent"),
            ("NaN", "is not an amount"),
            ("inf", "is not an amount"),
            ("two", "is not an amount"),
            ("1.2345678", "has 7 decimals"),
            ("0.0000001", "has 7 decimals"),
            ("1,000", "has a separator"),
            ("1.000.000", "has a separator"),
            ("1_000", "has a separator"),
            ("1'000", "has a separator"),
            ("1 000", "has a separator"),
            ("2,50", "has a separator"),
            ("$2", "is not in USDC"),
            ("2€", "is not in USDC"),
            ("2 EUR", "is not in USDC"),
            ("2 USD", "is not in USDC"),
            ("EUR 2", "is not in USDC"),
            ("2 ETH", "is not in USDC"),
            ("\u{0662}", "digits that are not 0 to 9"),
            ("\u{ff12}", "digits that are not 0 to 9"),
            ("1\u{0966}", "digits that are not 0 to 9"),
            ("0x10", "is not an amount"),
            (".5", "is not an amount"),
            ("5.", "is not an amount"),
            ("007", "is not an amount"),
            (" 2", "is not an amount"),
            ("2\n", "is not an amount"),
            ("1000000000000.000001", "is more than can be paid"),
            ("99999999999999999999999999999999999999999999", "is more than can be paid"),
        ] {
            let refusal = refusal(text);
            assert!(refusal.contains(reason), "{text:?}: {refusal}");
        }
    }

    proptest! {
        #[test]
        fn an_amount_that_is_written_is_read_back(units in 0..=MAX_USDC_UNITS) {
            let amount = UsdcAmount::from_units(units).unwrap();
            prop_assert_eq!(amount.to_string().parse::<UsdcAmount>().unwrap(), amount);
            let document = serde_json::to_string(&amount).unwrap();
            prop_assert_eq!(serde_json::from_str::<UsdcAmount>(&document).unwrap(), amount);
        }

        #[test]
        fn no_text_is_read_as_another_amount(text in "\\PC{0,24}") {
            if let Ok(amount) = text.parse::<UsdcAmount>() {
                let plain: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
                let value: f64 = plain.parse().unwrap();
                #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
                let difference = (amount.units() as f64 / 1e6 - value).abs();
                prop_assert!(difference <= value * 1e-9, "{text:?} was read as {amount}");
            }
        }
    }
}
