//! Finding texts by words and by meaning.
