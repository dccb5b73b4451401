//! Detects fields and buttons that the user must decide about, whatever the rules allow.

/// Tells what using an element may give away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Sensitivity {
    /// Nothing in particular.
    #[default]
    None,
    /// The element is a field for a secret; the text says which, for the user.
    Field(String),
    /// Using the element may send secrets or money; the text says what it belongs to, for the user.
    Form(String),
}

impl Sensitivity {
    /// Parses the result of our script: `field: why` or `form: why`.
    pub(crate) fn parse(words: &str) -> Self {
        match words.split_once(": ") {
            Some(("field", why)) => Self::Field(why.to_owned()),
            Some(("form", why)) => Self::Form(why.to_owned()),
            _ => Self::None,
        }
    }

    /// Says why the user must be asked before it is clicked. A click into a field only focuses it.
    pub(crate) fn click_warning(&self) -> Option<String> {
        match self {
            Self::Form(why) => Some(format!("this belongs to {why}")),
            Self::Field(_) | Self::None => None,
        }
    }

    /// Says why the user must be asked before text is typed into it.
    pub(crate) fn typing_warning(&self, submits: bool) -> Option<String> {
        match self {
            Self::Field(why) => Some(format!("this is {why}")),
            Self::Form(why) if submits => Some(format!("this sends {why}")),
            Self::Form(_) | Self::None => None,
        }
    }
}

/// Tells whether the name of a button is about money.
pub(crate) fn names_a_payment(name: &str) -> bool {
    const WORDS: [&str; 24] = [
        "pay",
        "buy",
        "purchase",
        "checkout",
        "order now",
        "place order",
        "place your order",
        "place my order",
        "subscribe",
        "donate",
        "send money",
        "transfer",
        "bezahlen",
        "kaufen",
        "bestellen",
        "acheter",
        "payer",
        "comprar",
        "pagar",
        "결제",
        "구매",
        "支付",
        "购买",
        "購入",
    ];
    let name = name.to_lowercase();
    WORDS.iter().any(|word| {
        name.match_indices(word).any(|(at, _)| {
            // Languages with spaces between words need a whole word.
            let before = name[..at].chars().next_back();
            let after = name[at + word.len()..].chars().next();
            !word.is_ascii()
                || (!before.is_some_and(char::is_alphanumeric)
                    && !after.is_some_and(char::is_alphanumeric))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_asked_about_where_they_would_be_given_away() {
        let field = Sensitivity::parse("field: a password field");
        assert_eq!(field.typing_warning(false).unwrap(), "this is a password field");
        assert_eq!(field.click_warning(), None);
        let form = Sensitivity::parse("form: a form with a password field");
        assert!(form.click_warning().is_some() && form.typing_warning(true).is_some());
        assert_eq!(form.typing_warning(false), None);
        assert_eq!(Sensitivity::parse(""), Sensitivity::None);
    }

    #[test]
    fn a_button_that_speaks_of_money_is_known_by_whole_words() {
        for name in ["Pay now", "BUY", "Proceed to checkout", "Jetzt kaufen", "결제하기", "Pay €5"]
        {
            assert!(names_a_payment(name), "{name}");
        }
        for name in ["Payload", "Display", "Buyer's guide", "Search", ""] {
            assert!(!names_a_payment(name), "{name}");
        }
    }
}
