//! Tests vectors and their similarity.

use lango_encoder::Encoder;
use serde::Deserialize;

/// Limits how far a similarity may be from that of the model before rounding. The largest
/// difference seen among the 28,680 pairs of 240 texts was 0.017.
const TOLERANCE: f32 = 0.03;

#[derive(Deserialize)]
struct ExpectedVectors {
    pairs: Vec<Pair>,
    vectors: Vec<Case>,
}

#[derive(Deserialize)]
struct Pair {
    one: String,
    other: String,
    similarity: f32,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    vector: Vec<f32>,
}

fn expected() -> ExpectedVectors {
    serde_json::from_str(include_str!("data/vectors.json")).unwrap()
}

fn product(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn similarities_are_those_of_the_model_before_rounding() {
    let pairs = expected().pairs;
    assert!(pairs.len() >= 15);
    for Pair { one, other, similarity } in pairs {
        let vectors = Encoder::shared().encode(&[&one, &other]);
        let found = product(&vectors[0], &vectors[1]);
        assert!((found - similarity).abs() < TOLERANCE, "{one:?} {other:?}: {found} {similarity}");
    }
}

#[test]
fn vectors_are_close_to_those_of_the_model_before_rounding() {
    let cases = expected().vectors;
    assert_eq!(cases.len(), 3);
    for Case { text, vector } in cases {
        let found = &Encoder::shared().encode(&[&text])[0];
        let cosine = product(found, &vector);
        assert!(cosine > 0.998, "{text:?}: {cosine}");
    }
}

#[test]
fn a_batch_gives_the_same_vectors_as_one_after_the_other() {
    let encoder = Encoder::shared();
    let long = "a longer passage about nothing in particular ".repeat(40);
    let mut texts = vec!["short", &long, "", "another one, of a few more words"];
    // More than is worked on at once.
    texts.extend(std::iter::repeat_n("filling up", 200));
    let together = encoder.encode(&texts);
    assert_eq!(together.len(), texts.len());
    for (text, vector) in texts.iter().zip(&together).take(6) {
        assert_eq!(&encoder.encode(&[text])[0], vector, "{text:?}");
    }
    assert_eq!(together[4], together[203]);
    assert_ne!(together[0], together[3]);
    assert!(encoder.encode(&[]).is_empty());
}

#[test]
fn vectors_have_the_stated_size_and_length_one() {
    let encoder = Encoder::shared();
    assert_eq!((encoder.dimensions(), encoder.name()), (384, "all-minilm-l6-v2-q8"));
    for vector in encoder.encode(&["", "a", "\u{0}\u{1F600}", &"long ".repeat(5000)]) {
        assert_eq!(vector.len(), encoder.dimensions());
        assert!((product(&vector, &vector) - 1.0).abs() < 1e-5);
    }
}

#[test]
fn the_mean_of_the_hidden_vectors_is_the_texts_vector() {
    let encoder = Encoder::shared();
    let text = "Remind me tomorrow at nine.";
    let hidden = encoder.token_vectors(text);
    assert_eq!(hidden.len(), encoder.tokenize(text).len());
    let mut mean = vec![0.0; encoder.dimensions()];
    for row in &hidden {
        assert_eq!(row.len(), mean.len());
        for (sum, number) in mean.iter_mut().zip(row) {
            *sum += number;
        }
    }
    let length = product(&mean, &mean).sqrt();
    let cosine = product(&mean, &encoder.encode(&[text])[0]) / length;
    assert!((cosine - 1.0).abs() < 1e-5, "{cosine}");
}
