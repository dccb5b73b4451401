//! Tests the tools as the runtime calls them, with a real node.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lango_egress::{Guard, Rules};
use lango_payments::testing::{Shop, Terms, TestNode};
use lango_payments::{
    AccountAddress, KeyFuture, PaymentDesk, PaymentSettings, SignerError, UsdcAmount, WalletKey,
    WalletKeyStore, WalletSource, Wei,
};
use lango_protocol::{CallId, SessionId, Space, SpaceAccess, TurnId};
use lango_store::{Database, DatabaseLocation};
use lango_tool::{ExcludedPaths, Proposal, RegisteredTool, SafetyLevel, ToolContext, ToolError};
use tokio_util::sync::CancellationToken;

use super::{PaymentResources, payment_tools};

const RECIPIENT: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

#[derive(Default)]
struct MemoryKeys(Mutex<HashMap<AccountAddress, [u8; 32]>>);

impl WalletKeyStore for MemoryKeys {
    fn load(&self, address: AccountAddress) -> KeyFuture<'_, WalletKey> {
        let found = self.0.lock().unwrap().get(&address).copied();
        Box::pin(async move {
            let missing = || SignerError::Key("the vault is locked".to_owned());
            WalletKey::from_bytes(&found.ok_or_else(missing)?)
        })
    }

    fn store<'a>(&'a self, key: &'a WalletKey) -> KeyFuture<'a, ()> {
        self.0.lock().unwrap().insert(key.address(), *key.to_bytes());
        Box::pin(async { Ok(()) })
    }
}

struct Desk {
    node: TestNode,
    tools: Vec<RegisteredTool>,
    keys: Arc<MemoryKeys>,
    settings: PaymentSettings,
    directory: tempfile::TempDir,
}

impl Desk {
    async fn open(change: impl FnOnce(&mut PaymentSettings)) -> Self {
        let desk = Self::open_without_wallet(change).await;
        desk.create_wallet().await;
        desk
    }

    async fn open_without_wallet(change: impl FnOnce(&mut PaymentSettings)) -> Self {
        let node = TestNode::start().await;
        let directory = tempfile::tempdir().unwrap();
        let mut settings = PaymentSettings {
            max_fee: Wei(u128::from(u64::MAX)),
            confirmations: 1,
            poll_interval: Duration::from_millis(10),
            ..PaymentSettings::of(node.network())
        };
        change(&mut settings);
        let keys = Arc::new(MemoryKeys::default());
        let mut desk = Self { node, tools: Vec::new(), keys, settings, directory };
        desk.tools = desk.open_tools().await;
        desk
    }

    /// Opens the tools as another process would.
    async fn open_tools(&self) -> Vec<RegisteredTool> {
        let location = DatabaseLocation::Sqlite(self.directory.path().join("lango.db"));
        let database = Database::open(&location).await.unwrap();
        let (settings, keys) = (self.settings.clone(), Arc::clone(&self.keys));
        let source = WalletSource::KeyStore;
        let desk = PaymentDesk::open(database, settings, source, keys).await.unwrap();
        let guard = Guard::new(Rules::parse(&["127.0.0.1".to_owned()], &[], &[]).unwrap());
        payment_tools(&PaymentResources { desk, guard })
    }

    async fn create_wallet(&self) {
        let created = self.call("payment_create_wallet", "{}").await.unwrap();
        let created: serde_json::Value = serde_json::from_str(&created).unwrap();
        self.node.fund(created["address"].as_str().unwrap().parse().unwrap(), 100).await;
    }

    async fn received(&self) -> u64 {
        self.node.units_of(RECIPIENT.parse().unwrap()).await
    }

    fn tool(&self, name: &str) -> &RegisteredTool {
        self.tools.iter().find(|tool| tool.name() == name).unwrap()
    }

    fn propose(&self, name: &str, arguments: &str) -> Proposal {
        self.tool(name).prepare(arguments).unwrap().propose().unwrap()
    }

    async fn call(&self, name: &str, arguments: &str) -> Result<String, ToolError> {
        self.call_as(Space::Owner, name, arguments).await
    }

    async fn call_as(
        &self,
        space: Space,
        name: &str,
        arguments: &str,
    ) -> Result<String, ToolError> {
        let prepared = self.tool(name).prepare(arguments)?;
        Ok(prepared.run(context(space)).await?.text)
    }
}

fn context(space: Space) -> ToolContext {
    ToolContext {
        session: SessionId::generate(),
        turn: TurnId::generate(),
        call: CallId::generate(),
        agent: "vault".parse().unwrap(),
        space: SpaceAccess::to(space),
        cancel: CancellationToken::new(),
        excluded: ExcludedPaths::default(),
    }
}

fn payment(amount: &str) -> String {
    serde_json::json!({"to": RECIPIENT, "amount": amount, "purpose": "the dataset"}).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_approval_shows_exactly_what_is_paid() {
    let desk = Desk::open(|_| ()).await;
    let proposal = desk.propose("payment_send", &payment("2"));
    for line in [
        &format!("Pay 2 USDC to {RECIPIENT}"),
        "for: the dataset",
        "network fee: at most 18.446744073709551615 ETH",
    ] {
        assert!(proposal.summary.lines().any(|shown| shown == line), "{}", proposal.summary);
    }
    assert_eq!(proposal.level, Some(SafetyLevel::Dangerous));
    assert!(proposal.always_ask.is_some(), "no rule allows a payment");
    assert_ne!(proposal, desk.propose("payment_send", &payment("2.000001")));
    assert_eq!(proposal, desk.propose("payment_send", &payment("2.00")));

    let paid = desk.call("payment_send", &payment("2")).await.unwrap();
    assert!(paid.contains(r#""state":"confirmed""#), "{paid}");
    assert_eq!(desk.node.units_of(RECIPIENT.parse().unwrap()).await, 2_000_000);
    let balance = desk.call("payment_balance", "{}").await.unwrap();
    assert!(balance.contains(r#""balance":"98 USDC""#), "{balance}");
    let history = desk.call("payment_history", "{}").await.unwrap();
    assert!(history.contains(r#""week":"2 USDC""#), "{history}");
    let limits = desk.call("payment_limits", "{}").await.unwrap();
    assert!(limits.contains(r#""left_in_24_hours":"48 USDC""#), "{limits}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_paid_is_refused_before_a_person_is_asked() {
    let desk = Desk::open(|_| ()).await;
    let tool = desk.tool("payment_send");
    for amount in
        ["0", "-1", "1e309", "NaN", "1.2345678", "1,000", "2 EUR", "\u{0662}", "0.0000001"]
    {
        let refused = tool.prepare(&payment(amount));
        assert!(matches!(refused, Err(ToolError::Arguments(_))), "{amount}");
    }
    for to in ["alice", "0x3c44CdDdB6a900fa2b585dd299e03d12FA4293BC", "0x00"] {
        let arguments = serde_json::json!({"to": to, "amount": "1", "purpose": "x"});
        let refused = tool.prepare(&arguments.to_string());
        assert!(matches!(refused, Err(ToolError::Arguments(_))), "{to}");
    }
    let error = desk.call("payment_send", &payment("10.01")).await.unwrap_err();
    assert!(matches!(error, ToolError::Forbidden(_)), "{error}");
    assert_eq!(desk.node.units_of(RECIPIENT.parse().unwrap()).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_key_is_one_payment() {
    let desk = Desk::open(|_| ()).await;
    let with_key = |amount: &str| {
        serde_json::json!({
            "to": RECIPIENT, "amount": amount, "purpose": "rent", "idempotency_key": "november",
        })
        .to_string()
    };
    let first = desk.call("payment_send", &with_key("3")).await.unwrap();
    assert_eq!(desk.call("payment_send", &with_key("3")).await.unwrap(), first);
    let error = desk.call("payment_send", &with_key("4")).await.unwrap_err();
    assert!(error.to_string().contains("was used for another payment"), "{error}");
    assert_eq!(desk.node.units_of(RECIPIENT.parse().unwrap()).await, 3_000_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_payments_below_the_limit_are_made_without_a_question() {
    let desk =
        Desk::open(|settings| settings.limits.auto_approve_below = UsdcAmount::from_whole(1)).await;
    assert_eq!(desk.tool("payment_send").level(), SafetyLevel::Moderate);
    let small = desk.propose("payment_send", &payment("0.999999"));
    assert_eq!((small.level, small.always_ask), (None, None));
    assert_eq!(small.carried_text.unwrap().text, RECIPIENT, "words of others are asked about");
    let large = desk.propose("payment_send", &payment("1"));
    assert_eq!(large.level, Some(SafetyLevel::Dangerous));
    let strict = Desk::open(|_| ()).await;
    assert_eq!(strict.tool("payment_send").level(), SafetyLevel::Dangerous);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_api_client_reaches_the_wallet() {
    let desk = Desk::open(|_| ()).await;
    for (name, arguments) in [
        ("payment_send", payment("1")),
        ("payment_balance", "{}".to_owned()),
        ("payment_wallet", "{}".to_owned()),
        ("payment_history", "{}".to_owned()),
        ("payment_limits", "{}".to_owned()),
        ("payment_create_wallet", "{}".to_owned()),
        ("payment_fetch", r#"{"url": "http://127.0.0.1:1/"}"#.to_owned()),
    ] {
        let client = Space::Client("laptop".parse().unwrap());
        let error = desk.call_as(client, name, &arguments).await.unwrap_err();
        assert!(matches!(error, ToolError::Forbidden(_)), "{name}: {error}");
    }
}

fn fetch(shop: &Shop, max_amount: Option<&str>) -> String {
    serde_json::json!({ "url": shop.url(), "max_amount": max_amount }).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_tells_its_price_first_and_is_paid_as_its_question_showed() {
    let desk = Desk::open(|_| ()).await;
    let shop = Shop::open(&desk.node, Terms::of(&desk.node, 2, RECIPIENT)).await;
    // A price that is not known yet is never paid, whatever the limit is.
    let first = desk.propose("payment_fetch", &fetch(&shop, Some("5")));
    assert!(first.summary.contains("Nothing is paid"), "{}", first.summary);
    let told = desk.call("payment_fetch", &fetch(&shop, Some("5"))).await.unwrap();
    assert!(told.contains("costs 0.25 USDC") && told.contains(RECIPIENT), "{told}");
    assert!(shop.presented().is_empty());
    let question = desk.propose("payment_fetch", &fetch(&shop, Some("5")));
    for line in [&format!("Pay 0.25 USDC to {RECIPIENT}"), "network fee: paid by the recipient"] {
        assert!(question.summary.lines().any(|shown| shown == line), "{}", question.summary);
    }
    assert_eq!((question.level, question.bound.len()), (Some(SafetyLevel::Dangerous), 1));
    assert!(question.always_ask.is_some(), "no rule allows a payment");
    // Less than the price is said before anything is asked of the site.
    let low = desk.propose("payment_fetch", &fetch(&shop, Some("0.24")));
    assert!(low.summary.contains("Nothing would be paid"), "{}", low.summary);
    let paid = desk.call("payment_fetch", &fetch(&shop, Some("5"))).await.unwrap();
    assert!(paid.contains("paid 0.25 USDC (confirmed)\nthe data"), "{paid}");
    assert_eq!((desk.received().await, shop.presented().len()), (250_000, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_price_that_another_call_reads_meanwhile_is_not_paid() {
    let desk = Desk::open(|_| ()).await;
    let shop = Shop::open(&desk.node, Terms::of(&desk.node, 2, RECIPIENT)).await;
    desk.call("payment_fetch", &fetch(&shop, None)).await.unwrap();
    let approved = desk.tool("payment_fetch").prepare(&fetch(&shop, Some("5"))).unwrap();
    let question = approved.propose().unwrap();
    assert!(question.summary.contains("Pay 0.25 USDC"), "{}", question.summary);
    // While a person looks at it, the site wants more, and another call reads that.
    shop.change(|terms| terms.units = "4000000".to_owned());
    let told = desk.call("payment_fetch", &fetch(&shop, None)).await.unwrap();
    assert!(told.contains("costs 4 USDC"), "{told}");
    assert_eq!(approved.propose().unwrap(), question, "the runtime sees no other call");
    let error = approved.run(context(Space::Owner)).await.unwrap_err();
    assert!(error.to_string().contains("the site changed its price"), "{error}");
    assert!(shop.presented().is_empty());
    assert_eq!(desk.received().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wallet_of_another_process_pays_from_the_next_question_on() {
    let desk = Desk::open_without_wallet(|_| ()).await;
    let others = desk.open_tools().await;
    let send = others.iter().find(|tool| tool.name() == "payment_send").unwrap();
    let early = send.prepare(&payment("2")).unwrap();
    let question = early.propose().unwrap();
    assert!(question.summary.contains("there is no wallet"), "{}", question.summary);
    desk.create_wallet().await;
    let error = early.run(context(Space::Owner)).await.unwrap_err();
    assert!(error.to_string().contains("by another process just now"), "{error}");
    assert_eq!(desk.received().await, 0, "nothing was shown that could be paid");
    let next = send.prepare(&payment("2")).unwrap();
    assert!(next.propose().unwrap().summary.starts_with("Pay 2 USDC to"));
    let paid = next.run(context(Space::Owner)).await.unwrap().text;
    assert!(paid.contains(r#""state":"confirmed""#), "{paid}");
    assert_eq!(desk.received().await, 2_000_000);
}
