//! Texts as vectors: a small sentence encoder that is part of the program.
