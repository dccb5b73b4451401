//! Digests, encryption and signatures.

use serde_json::json;

use crate::fixture::Fixture;

#[tokio::test]
async fn digests_are_those_of_other_programs() {
    let fixture = Fixture::new().await;
    std::fs::write(fixture.path("abc"), "abc").unwrap();
    for (algorithm, digest) in [
        ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("blake3", "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"),
    ] {
        for source in ["data", "path"] {
            let output = fixture
                .output("crypto_hash", json!({ source: "abc", "algorithm": algorithm }))
                .await;
            assert_eq!((&output["digest"], &output["bytes"]), (&json!(digest), &json!(3)));
        }
    }
    let sha512 =
        fixture.output("crypto_hash", json!({ "data": "abc", "algorithm": "sha512" })).await;
    assert!(sha512["digest"].as_str().unwrap().starts_with("ddaf35a193617aba"));
    for wrong in [json!({}), json!({ "data": "a", "path": "b" }), json!({ "path": "../x" })] {
        assert!(fixture.call("crypto_hash", wrong).await.is_err());
    }
}

#[tokio::test]
async fn files_of_every_size_come_back_as_they_were() {
    let fixture = Fixture::new().await;
    for size in [0, 1, 65_535, 65_536, 65_537, 131_072, 300_001] {
        let plain: Vec<u8> = (0..251).cycle().take(size).collect();
        std::fs::write(fixture.path("data.bin"), &plain).unwrap();
        let output = fixture.output("crypto_encrypt", json!({ "path": "data.bin" })).await;
        assert_eq!((&output["path"], &output["key"]), (&json!("data.bin.enc"), &json!("default")));
        std::fs::remove_file(fixture.path("data.bin")).unwrap();
        fixture.output("crypto_decrypt", json!({ "path": "data.bin.enc" })).await;
        assert_eq!(std::fs::read(fixture.path("data.bin")).unwrap(), plain, "{size}");
        std::fs::remove_file(fixture.path("data.bin.enc")).unwrap();
    }
}

#[tokio::test]
async fn changed_cut_and_swapped_pieces_are_refused_and_leave_no_file() {
    let fixture = Fixture::new().await;
    let plain = vec![7; 200_000];
    std::fs::write(fixture.path("data"), &plain).unwrap();
    fixture.output("crypto_encrypt", json!({ "path": "data" })).await;
    std::fs::remove_file(fixture.path("data")).unwrap();
    let sealed = std::fs::read(fixture.path("data.enc")).unwrap();
    let (head, piece) = (28, 65_536 + 16);
    let mut changed = sealed.clone();
    changed[head + 100] ^= 1;
    let swapped = [
        &sealed[..head],
        &sealed[head + piece..head + 2 * piece],
        &sealed[head..head + piece],
        &sealed[head + 2 * piece..],
    ]
    .concat();
    let other_header = [b"SOMETHING-EL".as_slice(), &sealed[12..]].concat();
    let cuts = [0, 11, head, head + piece, head + 2 * piece, sealed.len() - 1];
    let cut = cuts.iter().map(|length| sealed[..*length].to_vec());
    for damaged in cut.chain([changed, swapped, other_header]) {
        std::fs::write(fixture.path("data.enc"), &damaged).unwrap();
        let error = fixture.error("crypto_decrypt", json!({ "path": "data.enc" })).await;
        assert!(!fixture.path("data").exists(), "{error}");
    }
    std::fs::write(fixture.path("data.enc"), &sealed).unwrap();
    fixture.output("crypto_create_key", json!({ "name": "other", "kind": "xchacha20" })).await;
    let error =
        fixture.error("crypto_decrypt", json!({ "path": "data.enc", "key": "other" })).await;
    assert!(error.contains("the key is another one"), "{error}");
    fixture.output("crypto_decrypt", json!({ "path": "data.enc" })).await;
    assert_eq!(std::fs::read(fixture.path("data")).unwrap(), plain);
}

#[tokio::test]
async fn decrypted_text_is_a_handle_and_no_existing_file_is_replaced() {
    let fixture = Fixture::new().await;
    let text = "the spare key is under the third pot";
    let sealed = fixture.output("crypto_encrypt", json!({ "data": text })).await;
    let ciphertext = &sealed["ciphertext"];
    let opened = fixture.call("crypto_decrypt", json!({ "ciphertext": ciphertext })).await.unwrap();
    assert!(opened.text.contains("secret-handle-"), "{opened:?}");
    assert!(!format!("{opened:?}").contains("third pot"), "{opened:?}");
    let error = fixture.error("crypto_decrypt", json!({ "ciphertext": "LNGO1:nonsense" })).await;
    assert!(error.contains("not encrypted by"), "{error}");
    std::fs::write(fixture.path("a"), "a").unwrap();
    std::fs::write(fixture.path("a.enc"), "mine").unwrap();
    let error = fixture.error("crypto_encrypt", json!({ "path": "a" })).await;
    assert!(error.contains("exists already"), "{error}");
    assert_eq!(std::fs::read(fixture.path("a.enc")).unwrap(), b"mine");
}

#[tokio::test]
async fn a_signature_is_valid_for_its_data_and_key_alone() {
    let fixture = Fixture::new().await;
    let missing = fixture.error("crypto_sign", json!({ "data": "x" })).await;
    assert!(missing.contains("crypto_create_key"), "{missing}");
    let key = fixture.output("crypto_create_key", json!({ "name": "release" })).await;
    let signed = fixture.output("crypto_sign", json!({ "data": "build 8841" })).await;
    let (signature, public) = (&signed["signature"], &key["public"]);
    assert_eq!(&signed["public"], public);
    std::fs::write(fixture.path("note"), "build 8841").unwrap();
    for (arguments, valid) in [
        (json!({ "data": "build 8841", "signature": signature }), true),
        (json!({ "path": "note", "signature": signature, "key": "release" }), true),
        (json!({ "data": "build 8841", "signature": signature, "key": public }), true),
        (json!({ "data": "build 8842", "signature": signature }), false),
        (json!({ "data": "build 8841", "signature": "8f3a9c11d2" }), false),
        (json!({ "data": "build 8841", "signature": "" }), false),
    ] {
        let output = fixture.output("crypto_verify", arguments.clone()).await;
        assert_eq!(output["valid"], valid, "{arguments}");
    }
    fixture.output("crypto_create_key", json!({ "name": "second" })).await;
    let other = json!({ "data": "build 8841", "signature": signature, "key": "second" });
    assert_eq!(fixture.output("crypto_verify", other).await["valid"], false);
    let again = fixture.error("crypto_create_key", json!({ "name": "release" })).await;
    assert!(again.contains("already"), "{again}");
    assert!(fixture.store.verify_audit().await.unwrap().problem.is_none());
}

#[tokio::test]
async fn links_and_paths_do_not_lead_out_of_the_workspace() {
    let fixture = Fixture::new().await;
    let outside = fixture.directory.path().join("outside");
    std::fs::write(&outside, "outside").unwrap();
    std::os::unix::fs::symlink(&outside, fixture.path("link")).unwrap();
    let absolute = outside.to_str().unwrap().to_owned();
    for path in ["../outside", &absolute, "link", "x/../../outside", ".", "", "/etc/passwd"] {
        for tool in ["crypto_hash", "crypto_encrypt", "crypto_decrypt"] {
            let refused = fixture.call(tool, json!({ "path": path })).await;
            assert!(refused.is_err(), "{tool} {path:?}");
        }
    }
    assert!(!fixture.directory.path().join("outside.enc").exists());
}

#[tokio::test]
async fn what_is_encrypted_for_a_public_age_key_opens_with_its_own_alone() {
    let fixture = Fixture::new().await;
    let created =
        fixture.output("crypto_create_key", json!({ "name": "mail", "kind": "age" })).await;
    let public = created["public"].as_str().unwrap().to_owned();
    assert!(public.starts_with("age1"), "{created}");
    // Several pieces, and not a whole number of them.
    let plain: Vec<u8> = (0..300_001_u32).map(|number| (number % 251) as u8).collect();
    std::fs::write(fixture.path("big"), &plain).unwrap();
    for key in [public.as_str(), "mail"] {
        let sealed = fixture.output("crypto_encrypt", json!({ "path": "big", "key": key })).await;
        assert_eq!(sealed["path"], "big.age");
        std::fs::remove_file(fixture.path("big")).unwrap();
        let bytes = std::fs::read(fixture.path("big.age")).unwrap();
        assert!(bytes.starts_with(b"age-encryption.org/v1"));
        fixture.output("crypto_decrypt", json!({ "path": "big.age" })).await;
        assert_eq!(std::fs::read(fixture.path("big")).unwrap(), plain);
        // What was changed or cut leaves no file behind.
        std::fs::remove_file(fixture.path("big")).unwrap();
        for broken in [bytes[..bytes.len() - 70_000].to_vec(), {
            let mut changed = bytes.clone();
            let middle = changed.len() / 2;
            changed[middle] ^= 1;
            changed
        }] {
            std::fs::write(fixture.path("big.age"), broken).unwrap();
            let error = fixture.error("crypto_decrypt", json!({ "path": "big.age" })).await;
            assert!(error.contains("changed or cut"), "{error}");
            assert!(!fixture.path("big").exists());
        }
        std::fs::remove_file(fixture.path("big.age")).unwrap();
        std::fs::write(fixture.path("big"), &plain).unwrap();
    }
    let text = "the spare key is under the third pot";
    let sealed = fixture.output("crypto_encrypt", json!({ "data": text, "key": public })).await;
    let ciphertext = sealed["ciphertext"].as_str().unwrap();
    assert!(ciphertext.starts_with("-----BEGIN AGE ENCRYPTED FILE-----"), "{ciphertext}");
    let opened = fixture.call("crypto_decrypt", json!({ "ciphertext": ciphertext })).await.unwrap();
    assert!(opened.text.contains("secret-handle-"), "{opened:?}");
    assert!(!format!("{opened:?}").contains("third pot"), "{opened:?}");
    let other = Fixture::new().await;
    let none = other.error("crypto_decrypt", json!({ "ciphertext": ciphertext })).await;
    assert!(none.contains("has no age key"), "{none}");
    other.output("crypto_create_key", json!({ "name": "mail", "kind": "age" })).await;
    let wrong = other.error("crypto_decrypt", json!({ "ciphertext": ciphertext })).await;
    assert!(wrong.contains("for another key"), "{wrong}");
    let typo = public.replace("age1", "age1x");
    let error = fixture.error("crypto_encrypt", json!({ "data": text, "key": typo })).await;
    assert!(error.contains("is no public key of age"), "{error}");
}

/// Returns the most memory that this process ever had, in MiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() / 1024
}

/// A file of any size is worked on in pieces.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_takes_no_more_memory_than_a_small_one() {
    const BYTES: u64 = 64 * 1024 * 1024;
    let fixture = Fixture::new().await;
    let file = std::fs::File::create(fixture.path("large.bin")).unwrap();
    file.set_len(BYTES).unwrap();
    let before = peak_memory();
    for (tool, arguments) in [
        ("crypto_hash", json!({ "path": "large.bin" })),
        ("crypto_create_key", json!({ "name": "signer" })),
        ("crypto_sign", json!({ "path": "large.bin", "key": "signer" })),
        ("crypto_encrypt", json!({ "path": "large.bin" })),
    ] {
        fixture.output(tool, arguments).await;
    }
    let sealed = fixture.path("large.bin.enc");
    assert!(std::fs::metadata(&sealed).unwrap().len() > BYTES);
    std::fs::remove_file(fixture.path("large.bin")).unwrap();
    fixture.output("crypto_decrypt", json!({ "path": "large.bin.enc" })).await;
    let opened = std::fs::metadata(fixture.path("large.bin")).unwrap();
    assert_eq!(opened.len(), BYTES);
    let taken = peak_memory() - before;
    assert!(taken < 16, "it took {taken} MiB");
}
