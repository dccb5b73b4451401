//! Enums whose values are stored by name.

/// Makes an enum whose values are stored by name.
macro_rules! stored_names {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "lowercase")]
        pub enum $name {
            $($(#[$value_doc])* $value,)*
        }

        impl $name {
            /// Returns its name, which is also stored.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$value => $text,)* }
            }

            fn from_stored(text: &str) -> Result<Self, AutomatorError> {
                match text {
                    $($text => Ok(Self::$value),)*
                    other => Err($crate::AutomatorError::unreadable(other)),
                }
            }
        }
    };
}
