//! Tests reading ordinary files and malicious ones.

use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use lango_librarian::documents::{
    CutDocument, DocumentKind, DocumentReader, FileContent, ReadLimits, UnreadableReason,
};
use zip::write::SimpleFileOptions;

pub(crate) fn reader() -> DocumentReader {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_lango-librarian-read-document"));
    DocumentReader::new(program, ReadLimits::default())
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

async fn read(path: &Path) -> Result<CutDocument, UnreadableReason> {
    let reader = reader();
    let content = reader.load(path)?;
    reader.read(content).await
}

async fn read_bytes(name: &str, bytes: Vec<u8>) -> Result<CutDocument, UnreadableReason> {
    reader().read(FileContent { name: name.to_owned(), content_type: None, bytes }).await
}

#[tokio::test]
async fn a_pdf_is_read_page_by_page() {
    let document = read(&fixture("lighthouse.pdf")).await.unwrap();
    assert_eq!(document.kind, DocumentKind::Pdf);
    assert_eq!(document.title.as_deref(), Some("The lighthouse handbook"));
    let found = document.passages;
    let about = |words: &str| {
        let passage = found.iter().find(|passage| passage.text.contains(words));
        passage.unwrap_or_else(|| panic!("{words} is not in {found:?}")).span.to_string()
    };
    assert_eq!(about("four seconds in every minute"), "pages 1-3");
}

#[tokio::test]
async fn a_word_document_is_read_with_its_headings_lists_and_tables() {
    let document = read(&fixture("harbour.docx")).await.unwrap();
    assert_eq!(document.title.as_deref(), Some("Harbour rules"));
    let found = document.passages;
    let table = found.iter().find(|passage| passage.text.contains("Length | Fee")).unwrap();
    assert!(table.text.ends_with("Length | Fee\nunder 8 m | 12 crowns\nover 8 m | 20 crowns"));
    let heading = |words: &str| {
        found.iter().find(|passage| passage.text.contains(words)).unwrap().heading.as_str()
    };
    assert_eq!(heading("outer wall"), "Harbour rules > Mooring");
    assert_eq!(heading("- Two lines at the stern"), "Harbour rules > Mooring");
    assert_eq!(heading("20 crowns"), "Harbour rules > Mooring > Fees");
    assert_eq!(heading("closed — ice"), "Harbour rules > Winter");
}

#[tokio::test]
async fn what_is_damaged_or_locked_says_so() {
    let broken = read(&fixture("corrupt.pdf")).await.unwrap_err();
    assert!(matches!(broken, UnreadableReason::Corrupt { .. }), "{broken:?}");
    assert_eq!(read(&fixture("encrypted.pdf")).await.unwrap_err(), UnreadableReason::Encrypted);
    let half = std::fs::read(fixture("harbour.docx")).unwrap();
    let half = half[..half.len() / 2].to_vec();
    let broken = read_bytes("a.docx", half).await.unwrap_err();
    assert!(matches!(broken, UnreadableReason::Corrupt { .. }), "{broken:?}");
}

#[tokio::test]
async fn a_pdf_that_is_damaged_anywhere_does_no_harm() {
    let whole = std::fs::read(fixture("lighthouse.pdf")).unwrap();
    let mut readable = 0;
    for step in 0..24 {
        let mut bytes = whole.clone();
        if step % 2 == 0 {
            bytes.truncate(whole.len() * (step + 1) / 26);
        } else {
            for index in (step..bytes.len()).step_by(53 + step) {
                bytes[index] = bytes[index].wrapping_mul(31).wrapping_add(7);
            }
        }
        bytes.splice(0..5, *b"%PDF-");
        // The result is always a document or a reason.
        match read_bytes("a.pdf", bytes).await {
            Ok(_) => readable += 1,
            Err(UnreadableReason::Failed { detail }) => panic!("{detail}"),
            Err(_) => {}
        }
    }
    assert!(readable < 24, "none of them was damaged");
}

fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        let options =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[tokio::test]
async fn an_archive_that_unpacks_without_end_is_given_up() {
    let mut xml = b"<w:document><w:body><w:p><w:r><w:t>".to_vec();
    xml.resize(65 * 1024 * 1024, b' ');
    let bomb = archive(&[("word/document.xml", &xml)]);
    assert!(bomb.len() < 1024 * 1024, "{}", bomb.len());
    let reason = read_bytes("bomb.docx", bomb).await.unwrap_err();
    assert!(matches!(reason, UnreadableReason::Exhausted { .. }), "{reason:?}");
}

#[tokio::test]
async fn entities_and_copies_for_older_programs_are_understood() {
    let xml = br#"<?xml version="1.0"?><w:document xmlns:w="w" xmlns:mc="mc"><w:body>
        <w:p><w:r><w:t>a &amp; b &lt;c&gt; &#233;</w:t></w:r><w:r><w:tab/><w:t>d</w:t></w:r></w:p>
        <w:p><mc:AlternateContent><mc:Choice><w:r><w:t>once</w:t></w:r></mc:Choice>
        <mc:Fallback><w:r><w:t>twice</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>
        <w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p></w:body></w:document>"#;
    let document = read_bytes("a.docx", archive(&[("word/document.xml", xml)])).await.unwrap();
    let texts: Vec<&str> = document.passages.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts, ["a & b <c> é\td\n\nonce"]);
}

#[tokio::test]
async fn a_file_that_is_no_text_is_named_for_what_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    // A sparse file of a gigabyte, which must not be read into memory.
    std::fs::File::create(at("huge.txt")).unwrap().set_len(1024 * 1024 * 1024).unwrap();
    let huge = read(&at("huge.txt")).await.unwrap_err();
    assert_eq!(huge, UnreadableReason::TooLarge { bytes: 1 << 30, most: 32 << 20 });
    std::fs::write(at("binary.md"), b"# Title\n\0\x01\x02\xff").unwrap();
    assert_eq!(read(&at("binary.md")).await.unwrap_err(), UnreadableReason::Binary);
    std::fs::write(at("empty.md"), " \n\n").unwrap();
    assert_eq!(read(&at("empty.md")).await.unwrap_err(), UnreadableReason::Empty);
    std::fs::write(at("page.html"), "<html><script>x</script></html>").unwrap();
    assert_eq!(read(&at("page.html")).await.unwrap_err(), UnreadableReason::Empty);
    let cyrillic = b"\xf3\xdf\xe5\xfb\xfc \xe5\xf9\xa3 \xfd\xf4\xe9\xc8";
    std::fs::write(at("encoding.txt"), cyrillic).unwrap();
    assert_eq!(read(&at("encoding.txt")).await.unwrap_err(), UnreadableReason::Encoding);
    let pipe = at("pipe.txt");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(
        read(&pipe).await.unwrap_err(),
        UnreadableReason::NotAFile { what: "a pipe".to_owned() }
    );
    let device = read(Path::new("/dev/zero")).await.unwrap_err();
    assert_eq!(device, UnreadableReason::NotAFile { what: "a device".to_owned() });
}

#[tokio::test]
async fn a_helper_that_cannot_be_started_is_said() {
    let reader = DocumentReader::new(PathBuf::from("/no/such/program"), ReadLimits::default());
    let content = reader.load(&fixture("lighthouse.pdf")).unwrap();
    let reason = reader.read(content).await.unwrap_err();
    assert!(reason.to_string().contains("cannot be started"), "{reason}");
}
