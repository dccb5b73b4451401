//! Runs the encoder on a text: which agent, how near to which tool, and which part of it answers a
//! question. No decision is made here.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use lango_encoder::{Encoder, TextToken};
use parking_lot::Mutex;

use super::question::ParameterQuestion;
use super::trained_tools::TrainedTools;
use super::weights::{AGENTS, EmbeddedWeights, HIDDEN, dot_product};

/// Limits the tokens of a request in which answers are searched.
const MAX_TEXT_TOKENS: usize = 200;
/// Limits the tokens of a question. A longer one loses its middle, because choices are at the end.
const MAX_QUESTION_TOKENS: usize = 48;
/// Is how many of these tokens are at the beginning.
const QUESTION_HEAD_TOKENS: usize = 8;
/// Limits the tokens of an answer.
const MAX_ANSWER_TOKENS: usize = 90;
/// Limits the cached vectors of unknown tools' cards; a team has fewer.
const MAX_CACHED_CARD_COUNT: usize = 2048;

/// Limits the cached requests.
const MAX_CACHED_GIST_COUNT: usize = 4;

const START_TOKEN: u32 = 101;
const SEPARATOR_TOKEN: u32 = 102;

/// The encoder with its trained layers.
#[derive(Debug)]
pub(crate) struct RequestReader {
    encoder: &'static Encoder,
    weights: EmbeddedWeights,
    pub(crate) trained_tools: TrainedTools,
    /// Vectors of cards that are not in the file.
    cards: VectorCache,
    /// Vectors of cards from the layers that were not trained on tools.
    plain_cards: VectorCache,
    /// The requests that were read last, newest at the end: the specialist reads what the
    /// orchestrator has just read. A lock that is held to look and to add.
    gists: Mutex<VecDeque<Arc<RequestGist>>>,
}

/// Represents a request, read once for all comparisons.
#[derive(Debug)]
pub(crate) struct RequestGist {
    /// The logarithm of each agent's probability, in the order of [`AGENTS`].
    pub(crate) agents: [f32; AGENTS.len()],
    /// As tools are compared with it.
    ask: Vec<f32>,
    text: String,
    /// As any text is compared with it; made when it is first asked for.
    plain: OnceLock<Vec<f32>>,
}

impl RequestGist {
    /// Returns the request.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Caches vectors by their text. The lock is held to look and to add.
#[derive(Debug, Default)]
struct VectorCache(Mutex<HashMap<String, Arc<[f32]>>>);

impl VectorCache {
    fn get(&self, text: String, make: impl FnOnce(&str) -> Vec<f32>) -> Arc<[f32]> {
        let cached = || self.0.lock();
        if let Some(vector) = cached().get(&text) {
            return Arc::clone(vector);
        }
        let vector: Arc<[f32]> = make(&text).into();
        let mut cached = cached();
        if cached.len() >= MAX_CACHED_CARD_COUNT {
            cached.clear();
        }
        cached.insert(text, Arc::clone(&vector));
        vector
    }
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TextAnswer {
    /// The request does not say.
    Nothing,
    /// This part of the request, in bytes.
    Span(Range<usize>),
    /// A part that may have been longer: it has as many tokens as an answer can have.
    Cut(Range<usize>),
    /// The choice of this number.
    Choice(usize),
    /// There are more choices than can be read.
    Unread,
}

impl RequestReader {
    /// Returns the instance of this process, which the first call loads.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<RequestReader> = OnceLock::new();
        SHARED.get_or_init(|| Self {
            encoder: Encoder::shared(),
            weights: EmbeddedWeights::load(),
            trained_tools: TrainedTools::load(),
            cards: VectorCache::default(),
            plain_cards: VectorCache::default(),
            gists: Mutex::default(),
        })
    }

    /// Returns the weights of the two kinds of evidence: of tools, and of agents.
    pub(crate) fn decision_weights(&self) -> (f32, f32) {
        (self.weights.tool_weight, self.weights.agent_weight)
    }

    /// Reads a request.
    pub(crate) fn read_gist(&self, text: &str) -> Arc<RequestGist> {
        let cached = || self.gists.lock();
        if let Some(gist) = cached().iter().find(|gist| gist.text == text) {
            return Arc::clone(gist);
        }
        let gist = Arc::new(self.compute_gist(text));
        let mut cached = cached();
        if cached.len() >= MAX_CACHED_GIST_COUNT {
            cached.pop_front();
        }
        cached.push_back(Arc::clone(&gist));
        gist
    }

    fn compute_gist(&self, text: &str) -> RequestGist {
        let mean = self.mean_vector(text);
        let logits = self.weights.agent.apply(&mean);
        let max = logits.iter().copied().fold(f32::MIN, f32::max);
        let sum: f32 = logits.iter().map(|logit| (logit - max).exp()).sum();
        let mut agents = [0.0; AGENTS.len()];
        for (agent, logit) in agents.iter_mut().zip(&logits) {
            *agent = logit - max - sum.ln();
        }
        let ask = normalise_vector(self.weights.ask.apply(&mean));
        RequestGist { agents, ask, text: text.to_owned(), plain: OnceLock::new() }
    }

    /// Returns how near a request is to a card of the file.
    pub(crate) fn nearness_to_card(&self, gist: &RequestGist, card: usize) -> f32 {
        self.weights.sharpness * dot_product(&gist.ask, &self.weights.cards[card])
    }

    /// Returns how near a request is to the text of an offer.
    pub(crate) fn nearness_to_text(&self, gist: &RequestGist, text: String) -> f32 {
        let make = |text: &str| normalise_vector(self.weights.offer.apply(&self.mean_vector(text)));
        self.weights.sharpness * dot_product(&gist.ask, &self.cards.get(text, make))
    }

    /// Returns how similar a request is to a text for the encoder without the layers that were
    /// trained on tools: between -1 and 1.
    pub(crate) fn similarity_to_text(&self, gist: &RequestGist, text: String) -> f32 {
        let make = |text: &str| self.encoder.encode(&[text]).pop().unwrap_or_default();
        let plain = gist.plain.get_or_init(|| make(&gist.text));
        dot_product(plain, &self.plain_cards.get(text, make))
    }

    /// Returns the mean of a text's vectors.
    fn mean_vector(&self, text: &str) -> Vec<f32> {
        let ids: Vec<u32> = self.encoder.tokenize(text).iter().map(|token| token.id).collect();
        let count = ids.len();
        let rows = self.encoder.run_layers(&self.weights.layers, &[ids]);
        let mut mean = vec![0.0; HIDDEN];
        for row in rows.chunks_exact(HIDDEN) {
            for (sum, number) in mean.iter_mut().zip(row) {
                *sum += number;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a text has at most 256 tokens")]
        let factor = 1.0 / count.max(1) as f32;
        for number in &mut mean {
            *number *= factor;
        }
        mean
    }

    /// Tells whether answers are searched in all of a text.
    pub(crate) fn can_read_all(&self, text: &str) -> bool {
        self.encoder.count_tokens(text) <= MAX_TEXT_TOKENS + 2
    }

    /// Answers questions about a text, in their order.
    pub(crate) fn answer_questions(
        &self,
        text: &str,
        questions: &[ParameterQuestion],
    ) -> Vec<TextAnswer> {
        let words = remove_markers(self.encoder.tokenize(text), MAX_TEXT_TOKENS);
        let pairs: Vec<QuestionPair> = questions
            .iter()
            .map(|question| QuestionPair::of(self.encoder, question, &words))
            .collect();
        let ids: Vec<Vec<u32>> = pairs.iter().map(|pair| pair.ids.clone()).collect();
        let rows = self.encoder.run_layers(&self.weights.layers, &ids);
        let mut rows = rows.chunks_exact(HIDDEN);
        let read = |pair: &QuestionPair| {
            let rows = rows.by_ref().take(pair.ids.len());
            let ends: Vec<[f32; 2]> = rows
                .map(|row| match self.weights.span.apply(row).as_slice() {
                    [start, end] => [*start, *end],
                    _ => [0.0; 2],
                })
                .collect();
            pair.find_best_answer(&ends, &words)
        };
        pairs.iter().map(read).collect()
    }
}

/// Represents a question followed by the request, as tokens.
struct QuestionPair {
    ids: Vec<u32>,
    /// The position at which the request begins.
    first: usize,
    /// The first and the last token of each choice.
    choices: Vec<(usize, usize)>,
    /// True if all choices are in it.
    is_whole: bool,
}

/// Represents a question, as tokens.
#[derive(Default)]
struct QuestionTokens {
    tokens: Vec<TextToken>,
    choices: Vec<(usize, usize)>,
}

impl QuestionTokens {
    fn of(encoder: &Encoder, question: &ParameterQuestion) -> Self {
        let mut tokens = remove_markers(encoder.tokenize(&question.text), usize::MAX);
        if tokens.len() > MAX_QUESTION_TOKENS {
            let cut = tokens.len() - MAX_QUESTION_TOKENS;
            tokens.drain(QUESTION_HEAD_TOKENS..QUESTION_HEAD_TOKENS + cut);
        }
        let choices = question.choices.iter().filter_map(|place| {
            let inside = |token: &TextToken| token.start < place.end && token.end > place.start;
            let first = tokens.iter().position(inside)?;
            let last = tokens.iter().rposition(inside)?;
            let is_whole = tokens[first].start <= place.start && tokens[last].end >= place.end;
            is_whole.then_some((first + 1, last + 1))
        });
        Self { choices: choices.collect(), tokens }
    }

    /// Tells whether no choice was lost.
    fn is_whole(&self, question: &ParameterQuestion) -> bool {
        self.choices.len() == question.choices.len()
    }
}

impl QuestionPair {
    fn of(encoder: &Encoder, question: &ParameterQuestion, words: &[TextToken]) -> Self {
        let asked = QuestionTokens::of(encoder, question);
        // The choices count more than their description.
        let asked = if asked.is_whole(question) {
            Some(asked)
        } else {
            let question = question.without_description();
            Some(QuestionTokens::of(encoder, &question)).filter(|asked| asked.is_whole(&question))
        };
        let is_whole = asked.is_some();
        let QuestionTokens { tokens, choices } = asked.unwrap_or_default();
        let mut ids = vec![START_TOKEN];
        ids.extend(tokens.iter().map(|token| token.id));
        ids.push(SEPARATOR_TOKEN);
        let first = ids.len();
        ids.extend(words.iter().map(|token| token.id));
        ids.push(SEPARATOR_TOKEN);
        Self { ids, first, choices, is_whole }
    }

    /// Finds the best answer. `ends` says for each token how likely an answer begins and ends
    /// there. "Nothing" is an answer at the very first.
    fn find_best_answer(&self, ends: &[[f32; 2]], words: &[TextToken]) -> TextAnswer {
        let score = |first: usize, last: usize| ends[first][0] + ends[last][1];
        let nothing = score(0, 0);
        if !self.is_whole {
            return TextAnswer::Unread;
        }
        if !self.choices.is_empty() {
            let scores = self.choices.iter().map(|(first, last)| score(*first, *last));
            return match scores.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) {
                Some((choice, best)) if best > nothing => TextAnswer::Choice(choice),
                _ => TextAnswer::Nothing,
            };
        }
        let mut best = (nothing, None);
        for first in 0..words.len() {
            for last in first..words.len().min(first + MAX_ANSWER_TOKENS + 1) {
                let found = score(self.first + first, self.first + last);
                if found > best.0 {
                    best = (found, Some((first, last)));
                }
            }
        }
        match best.1 {
            Some((first, last)) => {
                let place = words[first].start..words[last].end;
                if last - first < MAX_ANSWER_TOKENS {
                    TextAnswer::Span(place)
                } else {
                    TextAnswer::Cut(place)
                }
            }
            None => TextAnswer::Nothing,
        }
    }
}

/// Returns the tokens without the start and end markers.
fn remove_markers(mut tokens: Vec<TextToken>, max_tokens: usize) -> Vec<TextToken> {
    tokens.pop();
    tokens.drain(..1.min(tokens.len()));
    tokens.truncate(max_tokens);
    tokens
}

/// Scales a vector to length 1.
fn normalise_vector(mut vector: Vec<f32>) -> Vec<f32> {
    let length = dot_product(&vector, &vector).sqrt().max(f32::MIN_POSITIVE);
    for number in &mut vector {
        *number /= length;
    }
    vector
}
