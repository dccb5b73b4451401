use super::*;
use crate::surroundings::NoSurroundings;

#[test]
fn what_needs_another_model_is_recognised() {
    let files = FileNames::new(&NoSurroundings);
    let declines = |text: &str| decline(&RequestWords::of(text), &files).is_some();
    for text in [
        "translate notes.txt to german",
        "tl;dr of docs/guide.md",
        "Please proofread docs/guide.md",
        "write me a bash script",
        "Können Sie mir bitte einen Brief an das Finanzamt schreiben?",
        "이 문장을 영어로 번역해줘",
    ] {
        assert!(declines(text), "{text}");
    }
    for text in [
        "show me notes.txt",
        "copy a.txt to b.txt",
        "make a folder called résumé",
        "find un-used files",
    ] {
        assert!(!declines(text), "{text}");
    }
}
