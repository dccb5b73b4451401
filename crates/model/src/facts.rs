//! Holds the properties of models: their limits, their capabilities and their prices.
//!
//! The table comes with the program (`models.toml`) and is extended by the user's configuration.
//! An unknown property stays unknown; this module neither guesses nor asks a provider.

use std::{
    collections::BTreeMap,
    fmt,
    iter::Sum,
    ops::{Add, AddAssign},
    sync::{Arc, LazyLock},
};

use lango_protocol::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Describes a model. An unknown property is `None`, never a guess.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ModelFacts {
    /// The tokens it can hold, input and output together.
    pub window: Option<u64>,
    /// The tokens that one reply can have.
    pub max_output: Option<u64>,
    /// Support for tool calls.
    pub tools: Option<bool>,
    /// Support for images.
    pub images: Option<bool>,
    /// Support for reasoning before the answer.
    pub reasoning: Option<bool>,
    /// Its prices.
    pub prices: Option<Prices>,
}

/// Holds prices in US dollars for a million tokens. Where a provider charges more for long prompts
/// or at certain hours, these are the prices of an ordinary prompt at an ordinary hour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// Input that was not cached.
    pub input: f64,
    /// Output, reasoning included.
    pub output: f64,
    /// Input that the provider had cached.
    pub cached: Option<f64>,
    /// Input that the provider puts into its cache.
    pub cache_write: Option<f64>,
}

impl Prices {
    /// Returns the cost of a call with this usage; `None` where a price that it needs is unknown.
    pub fn cost(&self, usage: &Usage) -> Option<Cost> {
        let cached = usage.cached.min(usage.input);
        let written = usage.cache_write.min(usage.input - cached);
        let fresh = usage.input - cached - written;
        let price = |tokens: u64, price: f64| to_millions(tokens) * price;
        let known = |tokens: u64, known: Option<f64>| match (tokens, known) {
            (0, _) => Some(0.0),
            (tokens, known) => known.map(|known| price(tokens, known)),
        };
        let cache = known(cached, self.cached)? + known(written, self.cache_write)?;
        Some(Cost(price(fresh, self.input) + cache + price(usage.output, self.output)))
    }
}

#[expect(clippy::cast_precision_loss, reason = "no call has 2^53 tokens")]
fn to_millions(tokens: u64) -> f64 {
    tokens as f64 / 1e6
}

/// Represents an amount of US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(f64);

impl Cost {
    /// Returns the amount.
    pub fn dollars(self) -> f64 {
        self.0
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Add::add)
    }
}

/// Writes `$1.25`, and `$0.0042` below ten cents.
impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0.0 || self.0 >= 0.1 {
            write!(formatter, "${:.2}", self.0)
        } else {
            write!(formatter, "${:.4}", self.0)
        }
    }
}

/// Describes one model, in the program's own table or in the configuration. Prices are in US
/// dollars for a million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ModelEntry {
    /// The tokens that the model can hold, input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// The tokens that one reply can have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Set to true if the model can call tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Set to true if the model takes images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// Set to true if the model can think before it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<bool>,
    /// The price of input that was not cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_price: Option<f64>,
    /// The price of output. Needed together with the price of input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_price: Option<f64>,
    /// The price of input that the provider had cached; without it, the price of input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_price: Option<f64>,
    /// The price of input that the provider puts into its cache; without it, the price of input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_price: Option<f64>,
}

impl ModelEntry {
    /// Merges two entries: a field that is not set comes from `base`.
    fn merge_over(self, base: Self) -> Self {
        Self {
            context_window: self.context_window.or(base.context_window),
            max_output: self.max_output.or(base.max_output),
            tools: self.tools.or(base.tools),
            images: self.images.or(base.images),
            reasoning: self.reasoning.or(base.reasoning),
            input_price: self.input_price.or(base.input_price),
            output_price: self.output_price.or(base.output_price),
            cached_price: self.cached_price.or(base.cached_price),
            cache_write_price: self.cache_write_price.or(base.cache_write_price),
        }
    }

    fn prices(&self) -> Option<Prices> {
        Some(Prices {
            input: self.input_price?,
            output: self.output_price?,
            cached: self.cached_price,
            cache_write: self.cache_write_price,
        })
    }

    fn has_price(&self) -> bool {
        [self.input_price, self.output_price, self.cached_price, self.cache_write_price]
            .iter()
            .any(Option::is_some)
    }
}

/// Describes an invalid entry of the configuration. The user can correct it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FactsError {
    /// A price that is negative or not a number.
    #[error("models.\"{model}\".{field} must be zero or more US dollars for a million tokens")]
    Price {
        /// The entry.
        model: String,
        /// The field, as the configuration writes it.
        field: &'static str,
    },
    /// A window or an output limit of no token.
    #[error("models.\"{model}\".{field} must be more than zero")]
    Zero {
        /// The entry.
        model: String,
        /// The field, as the configuration writes it.
        field: &'static str,
    },
}

/// Represents a row of the table.
#[derive(Debug, Clone, Copy, Default)]
struct FactsRow {
    entry: ModelEntry,
    /// True if the user set the prices, which then hold for local servers too.
    own_prices: bool,
}

/// Holds the properties of all known models. It is cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct FactsTable {
    rows: Arc<BTreeMap<String, FactsRow>>,
}

/// Lists the names and types of providers that run models on the user's own machines.
const LOCAL_PROVIDERS: [&str; 8] =
    ["ollama", "llamacpp", "llama.cpp", "lmstudio", "vllm", "local", "replay", "script"];

impl FactsTable {
    /// Returns the table that comes with the program.
    pub fn built_in() -> Self {
        // A file that does not parse is a defect that the tests of this file find: the table must
        // never be empty in silence.
        static TABLE: LazyLock<FactsTable> = LazyLock::new(|| {
            FactsTable::parse(include_str!("../models.toml"))
                .unwrap_or_else(|error| unreachable!("models.toml is wrong: {error}"))
        });
        TABLE.clone()
    }

    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let entries: BTreeMap<String, ModelEntry> = toml::from_str(text)?;
        let row = |entry| FactsRow { entry, own_prices: false };
        Ok(Self { rows: Arc::new(entries.into_iter().map(|(name, e)| (name, row(e))).collect()) })
    }

    /// Returns the table with the user's entries, which win field by field over the built-in entry
    /// of the same model. A name may carry its provider: `local/qwen3` holds for that provider
    /// only.
    pub fn with_entries<I>(&self, entries: I) -> Result<Self, FactsError>
    where
        I: IntoIterator<Item = (String, ModelEntry)>,
    {
        let mut rows = BTreeMap::clone(&self.rows);
        for (name, own) in entries {
            let known = self.find_row("", &name).unwrap_or_default();
            let entry = own.merge_over(known.entry);
            check_entry(&name, &entry)?;
            let own_prices = own.has_price() || known.own_prices;
            rows.insert(name.to_lowercase(), FactsRow { entry, own_prices });
        }
        Ok(Self { rows: Arc::new(rows) })
    }

    /// Returns the properties of `model` when `provider` runs it; `provider` is a name or a type.
    ///
    /// It uses the first of these: the entry `provider/model`; the entry of this name; the entry of
    /// the name without its routing prefix (`openai/`, `models/`); the longest entry that the name
    /// begins with, up to one of `-`, `:` and `@`, which also leaves out dates, `-latest` and
    /// `-preview`. A number after that sign is another version, not a variant: `claude-opus-4` says
    /// nothing about `claude-opus-4-9`.
    pub fn find(&self, provider: &str, model: &str) -> ModelFacts {
        let Some(FactsRow { entry, own_prices }) = self.find_row(provider, model) else {
            return ModelFacts::default();
        };
        // The price of a hosted model says nothing about the same model on a local server or a free
        // one.
        let local = LOCAL_PROVIDERS.iter().any(|local| provider.eq_ignore_ascii_case(local));
        let priced = own_prices || !(local || model.ends_with(":free"));
        ModelFacts {
            window: entry.context_window,
            max_output: entry.max_output,
            tools: entry.tools,
            images: entry.images,
            reasoning: entry.reasoning,
            prices: entry.prices().filter(|_| priced),
        }
    }

    fn find_row(&self, provider: &str, model: &str) -> Option<FactsRow> {
        let model = model.to_lowercase();
        let routed = format!("{}/{model}", provider.to_lowercase());
        let bare = model.rsplit('/').next().unwrap_or(&model);
        // OpenRouter writes `claude-sonnet-4.5` for what its maker calls `claude-sonnet-4-5`.
        let dashed =
            if bare.starts_with("claude") { bare.replace('.', "-") } else { String::new() };
        let names = [routed.as_str(), &model, bare, &dashed];
        names
            .iter()
            .find_map(|name| self.rows.get(*name))
            .or_else(|| names.iter().find_map(|name| self.find_longest_prefix(name)))
            .copied()
    }

    fn find_longest_prefix(&self, name: &str) -> Option<&FactsRow> {
        let boundaries = name.rmatch_indices(['-', ':', '@']);
        boundaries
            .filter(|(at, sign)| !is_version(&name[at + sign.len()..]))
            .find_map(|(at, _)| self.rows.get(&name[..at]))
    }
}

/// Tells whether `rest` begins with a number of one or two digits, such as the `5` of
/// `-5-20260101`.
fn is_version(rest: &str) -> bool {
    let part = rest.split(['-', ':', '@', '.']).next().unwrap_or_default();
    (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
}

fn check_entry(model: &str, entry: &ModelEntry) -> Result<(), FactsError> {
    let sizes = [("contextWindow", entry.context_window), ("maxOutput", entry.max_output)];
    if let Some((field, _)) = sizes.into_iter().find(|(_, size)| *size == Some(0)) {
        return Err(FactsError::Zero { model: model.to_owned(), field });
    }
    let prices = [
        ("inputPrice", entry.input_price),
        ("outputPrice", entry.output_price),
        ("cachedPrice", entry.cached_price),
        ("cacheWritePrice", entry.cache_write_price),
    ];
    let bad = |price: f64| !price.is_finite() || price < 0.0;
    if let Some((field, _)) = prices.into_iter().find(|(_, price)| price.is_some_and(bad)) {
        return Err(FactsError::Price { model: model.to_owned(), field });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> FactsTable {
        FactsTable::parse(include_str!("../models.toml")).unwrap()
    }

    fn entry(text: &str) -> ModelEntry {
        toml::from_str(text).unwrap()
    }

    fn own(name: &str, text: &str) -> Result<FactsTable, FactsError> {
        table().with_entries([(name.to_owned(), entry(text))])
    }

    #[test]
    fn the_built_in_table_holds_nothing_absurd() {
        // TOML refuses a duplicate name.
        let table = table();
        assert!(table.rows.len() > 60, "{}", table.rows.len());
        assert_eq!(FactsTable::built_in().rows.len(), table.rows.len());
        for (name, FactsRow { entry, .. }) in table.rows.iter() {
            assert_eq!(*name, name.to_lowercase());
            assert!(!name.contains('/'), "{name}");
            assert_eq!(check_entry(name, entry), Ok(()));
            assert!(entry.context_window.is_none_or(|it| (8_000..=10_000_000).contains(&it)));
            assert!(entry.max_output.is_none_or(|it| (1_000..=1_000_000).contains(&it)), "{name}");
            if let (Some(window), Some(output)) = (entry.context_window, entry.max_output) {
                assert!(output < window, "{name}");
            }
            if let Some(prices) = entry.prices() {
                assert!(prices.input > 0.0 && prices.input < prices.output, "{name}");
                assert!(prices.output <= 200.0, "{name}");
                assert!(prices.cached.is_none_or(|it| it > 0.0 && it < prices.input), "{name}");
                assert!(prices.cache_write.is_none_or(|it| it >= prices.input), "{name}");
            }
        }
    }

    #[test]
    fn a_model_is_found_under_the_names_it_goes_by() {
        let table = table();
        for (provider, name, entry) in [
            ("openai", "gpt-5-mini", "gpt-5-mini"),
            ("openrouter", "openai/gpt-5-mini", "gpt-5-mini"),
            ("openai", "gpt-5-mini-2025-08-07", "gpt-5-mini"),
            ("openai", "gpt-4o-2024-08-06", "gpt-4o"),
            ("openai", "GPT-4.1-mini", "gpt-4.1-mini"),
            ("anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5"),
            ("openrouter", "anthropic/claude-haiku-4.5", "claude-haiku-4-5"),
            ("vertex", "claude-haiku-4-5@20251001", "claude-haiku-4-5"),
            ("anthropic", "claude-3-5-haiku-latest", "claude-3-5-haiku"),
            ("anthropic", "claude-sonnet-4-20250514", "claude-sonnet-4"),
            ("gemini", "models/gemini-2.5-flash-preview-04-17", "gemini-2.5-flash"),
            ("gemini", "gemini-3.1-pro-preview", "gemini-3.1-pro"),
            ("ollama", "llama3.2:3b", "llama3.2"),
            ("ollama", "qwen3:8b", "qwen3"),
            ("ollama", "gpt-oss:20b", "gpt-oss"),
            ("ollama", "qwen3-coder:30b", "qwen3-coder"),
        ] {
            let expected = table.rows[entry].entry;
            assert_eq!(
                table.find_row(provider, name).map(|row| row.entry),
                Some(expected),
                "{name}"
            );
        }
    }

    #[test]
    fn another_model_is_not_taken_for_one_that_is_known() {
        let table = table();
        for name in ["gpt-4", "gpt-4omega", "gpt-5.9", "o", "gpt", "claude-opus-4-9", "o3x", ""] {
            assert_eq!(table.find("openai", name), ModelFacts::default(), "{name}");
        }
        assert_ne!(table.find("", "gpt-5").prices, table.find("", "gpt-5.2").prices);
        let little = own("gpt-4", "contextWindow = 8192").unwrap();
        assert_eq!(little.find("", "gpt-4-0613").window, Some(8192));
        assert_eq!(little.find("", "gpt-4o").window, Some(128_000));
        assert_eq!(little.find("", "gpt-4.1").window, Some(1_047_576));
    }

    #[test]
    fn the_users_entries_win_field_by_field() {
        let table = own("gpt-5-mini", "inputPrice = 9.0\nimages = false").unwrap();
        let facts = table.find("openai", "gpt-5-mini-2025-08-07");
        assert_eq!((facts.window, facts.images), (Some(400_000), Some(false)));
        let prices = facts.prices.unwrap();
        assert_eq!((prices.input, prices.output, prices.cached), (9.0, 2.0, Some(0.025)));
        // The family and its other members stay as they were.
        assert_eq!(table.find("", "gpt-5"), FactsTable::built_in().find("", "gpt-5"));
    }

    #[test]
    fn an_entry_with_a_provider_holds_for_that_provider_only() {
        let table = own("work/qwen3:8b", "contextWindow = 8192").unwrap();
        assert_eq!(table.find("work", "qwen3:8b").window, Some(8192));
        assert_eq!(table.find("work", "qwen3:8b").tools, Some(true));
        assert_eq!(table.find("ollama", "qwen3:8b").window, Some(40_960));
    }

    #[test]
    fn a_local_or_free_model_has_a_price_only_if_the_user_says_so() {
        assert!(table().find("moonshot", "kimi-k3").prices.is_some());
        assert_eq!(table().find("ollama", "kimi-k3").prices, None);
        assert_eq!(table().find("openrouter", "moonshotai/kimi-k3:free").prices, None);
        let table = own("qwen3", "inputPrice = 0.0\noutputPrice = 0.0").unwrap();
        let prices = table.find("ollama", "qwen3:8b").prices.unwrap();
        let usage = Usage { input: 1000, output: 1000, ..Usage::default() };
        assert_eq!(prices.cost(&usage), Some(Cost::default()));
    }

    #[test]
    fn an_entry_that_cannot_be_right_is_refused_by_name() {
        let error = own("mine", "inputPrice = -1.0\noutputPrice = 1.0").unwrap_err();
        assert!(error.to_string().starts_with("models.\"mine\".inputPrice must be"), "{error}");
        let half = own("mine", "outputPrice = 1.0").unwrap();
        assert_eq!(half.find("x", "mine").prices, None, "half a price is none");
        assert!(matches!(own("mine", "maxOutput = 0"), Err(FactsError::Zero { .. })));
        assert!(own("mine", "inputPrice = nan\noutputPrice = 1.0").is_err());
        assert!(toml::from_str::<ModelEntry>("window = 5").is_err());
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let prices = Prices { input: 2.0, output: 10.0, cached: Some(0.5), cache_write: Some(3.0) };
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            cached: 400_000,
            cache_write: 200_000,
            reasoning: 50_000,
        };
        let cost = prices.cost(&usage).unwrap();
        assert!((cost.dollars() - (0.8 + 0.2 + 0.6 + 1.0)).abs() < 1e-9, "{cost}");
        let plain = Prices { cached: None, cache_write: None, ..prices };
        assert_eq!(plain.cost(&usage), None, "a price that is needed is not known");
        let uncached = Usage { cached: 0, cache_write: 0, ..usage };
        assert!((plain.cost(&uncached).unwrap().dollars() - 3.0).abs() < 1e-9);
        // More cached than read is a provider's mistake, not a negative cost.
        let odd = Usage { input: 10, cached: 20, cache_write: 5, ..Usage::default() };
        assert!((prices.cost(&odd).unwrap().dollars() - 5e-6).abs() < 1e-12);
    }

    #[test]
    fn costs_add_up_and_read_well() {
        let total: Cost = [Cost(1.0), Cost(0.25)].into_iter().sum();
        assert_eq!(total.to_string(), "$1.25");
        assert_eq!((Cost(0.004) + Cost(0.0002)).to_string(), "$0.0042");
        assert_eq!(Cost::default().to_string(), "$0.00");
    }
}
