//! The model that is part of the program: a small encoder that chooses, and words made by rules.

#[cfg_attr(not(test), expect(dead_code, reason = "used once the encoder is wired to a model"))]
mod talk;
#[cfg_attr(not(test), expect(dead_code, reason = "used once the encoder is wired to a model"))]
mod wording;
