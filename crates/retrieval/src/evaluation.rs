//! Measures the quality of a ranking on questions with known answers.
//!
//! A collection is a directory in the BEIR layout: `corpus.jsonl` (`_id`, `title`, `text`),
//! `queries.jsonl` (`_id`, `text`), and `qrels/*.tsv` (query, document, score; with a header line).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Says why a collection cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CollectionError {
    /// A file is missing or cannot be read.
    #[error("{}: {error}. A collection has corpus.jsonl, queries.jsonl and qrels/*.tsv", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error.
        error: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("{}, line {line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// There is nothing to measure.
    #[error("{}: no question has a known answer", path.display())]
    NoAnswers {
        /// The directory.
        path: PathBuf,
    },
}

/// Represents a document of a collection.
#[derive(Debug, Clone, Deserialize)]
pub struct CorpusDocument {
    /// Its id.
    #[serde(rename = "_id")]
    pub id: String,
    /// May be empty.
    #[serde(default)]
    pub title: String,
    /// The text.
    pub text: String,
}

/// Represents a question.
#[derive(Debug, Clone, Deserialize)]
pub struct LabelledQuestion {
    /// Its id.
    #[serde(rename = "_id")]
    pub id: String,
    /// The text.
    pub text: String,
}

/// Holds questions with known answers. Documents are read when they are needed.
#[derive(Debug, Clone)]
pub struct QuestionCollection {
    directory: PathBuf,
    /// The questions that have answers.
    pub questions: Vec<LabelledQuestion>,
    /// The documents that answer each question, and how well.
    pub answers: HashMap<String, BTreeMap<String, u32>>,
}

impl QuestionCollection {
    /// Reads questions and answers. Where there is a `qrels/test.tsv`, only that file counts.
    pub fn read(directory: &Path) -> Result<Self, CollectionError> {
        let answers = read_answers(&directory.join("qrels"))?;
        let all: Vec<LabelledQuestion> =
            read_json_lines(directory.join("queries.jsonl"))?.collect::<Result<_, _>>()?;
        let questions: Vec<LabelledQuestion> =
            all.into_iter().filter(|question| answers.contains_key(&question.id)).collect();
        if questions.is_empty() {
            return Err(CollectionError::NoAnswers { path: directory.to_owned() });
        }
        Ok(Self { directory: directory.to_owned(), questions, answers })
    }

    /// Returns the documents, one by one.
    pub fn documents(
        &self,
    ) -> Result<impl Iterator<Item = Result<CorpusDocument, CollectionError>>, CollectionError>
    {
        read_json_lines(self.directory.join("corpus.jsonl"))
    }
}

/// Reads a file with one JSON object in each line.
fn read_json_lines<T: for<'de> Deserialize<'de>>(
    path: PathBuf,
) -> Result<impl Iterator<Item = Result<T, CollectionError>>, CollectionError> {
    let file =
        File::open(&path).map_err(|error| CollectionError::File { path: path.clone(), error })?;
    let numbered = (1..).zip(BufReader::new(file).lines());
    Ok(numbered.filter_map(move |(line, text)| {
        let text = match text {
            Ok(text) if text.trim().is_empty() => return None,
            Ok(text) => text,
            Err(error) => return Some(Err(CollectionError::File { path: path.clone(), error })),
        };
        Some(serde_json::from_str(&text).map_err(|error| CollectionError::Line {
            path: path.clone(),
            line,
            reason: error.to_string(),
        }))
    }))
}

fn read_answers(
    directory: &Path,
) -> Result<HashMap<String, BTreeMap<String, u32>>, CollectionError> {
    let failed = |error| CollectionError::File { path: directory.to_owned(), error };
    let only = directory.join("test.tsv");
    let mut files = Vec::new();
    if only.is_file() {
        files.push(only);
    } else {
        for entry in std::fs::read_dir(directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|extension| extension == "tsv") {
                files.push(path);
            }
        }
        files.sort();
    }
    let mut answers: HashMap<String, BTreeMap<String, u32>> = HashMap::new();
    for path in files {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| CollectionError::File { path: path.clone(), error })?;
        for (line, text) in (1..).zip(text.lines()) {
            let columns: Vec<&str> = text.split('\t').map(str::trim).collect();
            let score = columns.last().and_then(|score| score.parse::<f64>().ok());
            let (Some(question), Some(document), Some(score)) =
                (columns.first(), columns.get(columns.len().saturating_sub(2)), score)
            else {
                // The header, or an empty line.
                if line == 1 || text.trim().is_empty() {
                    continue;
                }
                let reason = "expected: question, document, score".to_owned();
                return Err(CollectionError::Line { path, line, reason });
            };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let score = score.max(0.0) as u32;
            if score > 0 {
                let entry = answers.entry((*question).to_owned()).or_default();
                entry.insert((*document).to_owned(), score);
            }
        }
    }
    Ok(answers)
}

/// Holds the quality of rankings, on average over the questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RankingQuality {
    /// The share of the known answers among the first five.
    pub recall_at_5: f64,
    /// The quality of the first ten, from 0 to 1; earlier is better.
    pub ndcg_at_10: f64,
    /// Questions.
    pub questions: usize,
}

/// Measures rankings: for each question, documents with the best first, each once.
pub fn measure_rankings<'a>(
    collection: &QuestionCollection,
    rankings: impl IntoIterator<Item = (&'a str, &'a [String])>,
) -> RankingQuality {
    let mut sum = RankingQuality::default();
    for (question, ranking) in rankings {
        let Some(answers) = collection.answers.get(question) else { continue };
        let mut seen = HashSet::new();
        let ranking: Vec<&String> = ranking.iter().filter(|id| seen.insert(*id)).collect();
        sum.recall_at_5 += recall(&ranking, answers, 5);
        sum.ndcg_at_10 += ndcg(&ranking, answers, 10);
        sum.questions += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 questions")]
    let count = sum.questions.max(1) as f64;
    RankingQuality {
        recall_at_5: sum.recall_at_5 / count,
        ndcg_at_10: sum.ndcg_at_10 / count,
        questions: sum.questions,
    }
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn recall(ranking: &[&String], answers: &BTreeMap<String, u32>, depth: usize) -> f64 {
    let found = ranking.iter().take(depth).filter(|id| answers.contains_key(**id)).count();
    found as f64 / answers.len().max(1) as f64
}

fn ndcg(ranking: &[&String], answers: &BTreeMap<String, u32>, depth: usize) -> f64 {
    let gain = |scores: &mut dyn Iterator<Item = u32>| -> f64 {
        let discounts = (2_u32..).map(|rank| f64::from(rank).log2());
        scores.take(depth).zip(discounts).map(|(score, discount)| f64::from(score) / discount).sum()
    };
    let mut best: Vec<u32> = answers.values().copied().collect();
    best.sort_unstable_by(|one, other| other.cmp(one));
    let ideal = gain(&mut best.into_iter());
    let found = gain(&mut ranking.iter().map(|id| answers.get(id.as_str()).copied().unwrap_or(0)));
    if ideal > 0.0 { found / ideal } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collection() -> (tempfile::TempDir, QuestionCollection) {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "corpus.jsonl",
            "{\"_id\":\"d1\",\"text\":\"one\"}\n\n{\"_id\":\"d2\",\"title\":\"T\",\"text\":\"two\"}\n",
        );
        write(
            "queries.jsonl",
            "{\"_id\":\"q1\",\"text\":\"?\"}\n{\"_id\":\"q9\",\"text\":\"no answer\"}\n",
        );
        write("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\nq1\td3\t0\n");
        let read = QuestionCollection::read(directory.path()).unwrap();
        (directory, read)
    }

    #[test]
    fn a_collection_is_read_and_questions_without_answers_do_not_count() {
        let (_directory, collection) = collection();
        assert_eq!(collection.questions.len(), 1);
        assert_eq!(collection.answers["q1"].len(), 2);
        assert_eq!(collection.documents().unwrap().count(), 2);
    }

    #[test]
    fn figures_are_those_of_the_definitions() {
        let (_directory, collection) = collection();
        let ranking = |ids: &[&str]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
        let perfect = ranking(&["d1", "d2"]);
        let measured = measure_rankings(&collection, [("q1", perfect.as_slice())]);
        assert!(
            (measured.ndcg_at_10 - 1.0).abs() < 1e-9 && (measured.recall_at_5 - 1.0).abs() < 1e-9
        );
        // Gains 1/log2(2) and 2/log2(4) of an ideal 2/log2(2) + 1/log2(3); a repeated one is no
        // gain.
        let other = ranking(&["d2", "d2", "x", "d1"]);
        let measured = measure_rankings(&collection, [("q1", other.as_slice())]);
        let ideal = 2.0 + 1.0 / 3_f64.log2();
        assert!((measured.ndcg_at_10 - (1.0 + 2.0 / 2.0) / ideal).abs() < 1e-9, "{measured:?}");
        let none = measure_rankings(&collection, [("q1", ranking(&["x"]).as_slice())]);
        assert!(none.ndcg_at_10.abs() < f64::EPSILON && none.recall_at_5.abs() < f64::EPSILON);
    }

    #[test]
    fn a_missing_file_and_a_broken_line_are_named() {
        let empty = tempfile::tempdir().unwrap();
        let error = QuestionCollection::read(empty.path()).unwrap_err().to_string();
        assert!(error.contains("qrels") && error.contains("corpus.jsonl"), "{error}");
        let (directory, _) = collection();
        std::fs::write(directory.path().join("queries.jsonl"), "{\n").unwrap();
        let error = QuestionCollection::read(directory.path()).unwrap_err().to_string();
        assert!(error.contains("queries.jsonl, line 1"), "{error}");
    }
}
