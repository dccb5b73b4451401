//! Runs a real Ethereum node on loopback for tests, with a token of six decimals.
//!
//! Not part of the program: it is behind the feature `testing`, which only tests enable.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![expect(clippy::missing_panics_doc, reason = "the same")]

mod shop;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use alloy_primitives::{B256, hex, keccak256};
use lango_egress::HttpClientBuilder;
use serde_json::{Value, json};

use crate::{AccountAddress, Network, UsdcAmount};
pub use shop::{Shop, Terms};

/// The first of the accounts whose keys the node has.
const RICH_ACCOUNT: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const TOKEN_BYTECODE: &str = include_str!("../../tests/contracts/TestUsdc.hex");
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The id of its network.
pub const CHAIN_ID: u64 = 31337;

/// A running node, which is ended when it is dropped.
pub struct TestNode {
    child: Child,
    port: u16,
    /// The contract of the token.
    pub token: AccountAddress,
}

impl TestNode {
    /// Starts a node with a fresh chain and a token.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a node with further arguments.
    pub async fn start_with(arguments: &[&str]) -> Self {
        let (child, port) = spawn(0, arguments);
        let token = AccountAddress::new([0; 20].into());
        let mut node = Self { child, port, token };
        node.token = node.deploy_token().await;
        node
    }

    /// Starts a node whose chain is kept in a file when it ends.
    pub async fn start_with_state(state: &Path) -> Self {
        Self::start_with(&["--state", state.to_str().unwrap()]).await
    }

    /// Ends the node, and starts it again at the same address.
    pub fn restart(&mut self, arguments: &[&str]) {
        self.stop();
        let (child, port) = spawn(self.port, arguments);
        (self.child, self.port) = (child, port);
    }

    /// Ends the node in an orderly way, so that it writes its state.
    pub fn stop(&mut self) {
        if self.child.try_wait().unwrap().is_some() {
            return;
        }
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap();
    }

    /// Returns its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns its network.
    pub fn network(&self) -> Network {
        Network::custom("local", CHAIN_ID, self.token, &self.url())
    }

    /// Asks the node.
    pub async fn call(&self, method: &str, params: Value) -> Value {
        call(&self.url(), method, params).await
    }

    async fn deploy_token(&self) -> AccountAddress {
        let data = format!("0x{}", TOKEN_BYTECODE.trim());
        let transaction = json!({"from": RICH_ACCOUNT, "data": data, "gas": "0x200000"});
        let receipt = self.transact(transaction).await;
        receipt["contractAddress"].as_str().unwrap().parse().unwrap()
    }

    /// Gives an account money and ether for fees.
    pub async fn fund(&self, account: AccountAddress, usdc: u32) {
        self.set_ether(account, 1_000_000_000_000_000_000).await;
        let amount = UsdcAmount::from_whole(usdc).units();
        let data = format!("0x40c10f19{}{amount:064x}", pad(account));
        self.transact(json!({"from": RICH_ACCOUNT, "to": self.token, "data": data})).await;
    }

    /// Sends a transaction of an account whose key the node has, and waits for its receipt.
    pub async fn transact(&self, transaction: Value) -> Value {
        let hash = self.call("eth_sendTransaction", json!([transaction])).await;
        let started = std::time::Instant::now();
        loop {
            let receipt = self.call("eth_getTransactionReceipt", json!([hash])).await;
            if !receipt.is_null() {
                assert_eq!(receipt["status"], "0x1", "{receipt}");
                return receipt;
            }
            assert!(started.elapsed() < START_TIMEOUT, "no block has {hash}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Sets the ether of an account.
    pub async fn set_ether(&self, account: AccountAddress, wei: u128) {
        self.call("anvil_setBalance", json!([account, format!("{wei:#x}")])).await;
    }

    /// Sets the money of an account, as if another program had spent it.
    pub async fn set_units(&self, account: AccountAddress, units: u64) {
        // The first variable of the contract: a map from accounts to their money.
        let place = hex::decode(format!("{}{}", pad(account), "0".repeat(64))).unwrap();
        let place = format!("{:#x}", keccak256(place));
        let params = json!([self.token, place, format!("0x{units:064x}")]);
        self.call("anvil_setStorageAt", params).await;
    }

    /// Returns the money of an account as the token says it, in base units.
    pub async fn units_of(&self, account: AccountAddress) -> u64 {
        let data = format!("0x70a08231{}", pad(account));
        let word = self.call("eth_call", json!([{"to": self.token, "data": data}, "latest"])).await;
        let word = word.as_str().unwrap();
        u64::from_str_radix(&word[word.len() - 16..], 16).unwrap()
    }

    /// Says whether each transaction gets a block at once.
    pub async fn set_mining(&self, automatic: bool) {
        self.call("evm_setAutomine", json!([automatic])).await;
    }

    /// Adds blocks.
    pub async fn mine(&self, blocks: u64) {
        self.call("anvil_mine", json!([format!("{blocks:#x}")])).await;
    }

    /// Replaces the latest blocks by others without their transactions.
    pub async fn reorganise(&self, depth: u64) {
        self.call("anvil_reorg", json!([depth, []])).await;
    }

    /// Takes a transaction out of those that wait for a block.
    pub async fn drop_transaction(&self, hash: B256) {
        self.call("anvil_dropTransaction", json!([hash])).await;
    }

    /// Tells whether a block has a transaction, and it did not fail.
    pub async fn has_succeeded(&self, hash: B256) -> bool {
        let receipt = self.call("eth_getTransactionReceipt", json!([hash])).await;
        receipt["status"] == "0x1"
    }

    /// Returns the account that the node signs for.
    pub fn rich_account() -> AccountAddress {
        RICH_ACCOUNT.parse().unwrap()
    }
}

impl Drop for TestNode {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pad(account: AccountAddress) -> String {
    format!("{:0>64}", hex::encode(account.get()))
}

/// Asks the node at an address.
pub async fn call(url: &str, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let client =
        HttpClientBuilder::for_configured_address().build_for(&url.parse().unwrap()).unwrap();
    let request = client.post(url).header("content-type", "application/json");
    let response = request.body(body.to_string()).send().await.unwrap();
    let answer: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert!(answer.get("error").is_none(), "{method}: {answer}");
    answer["result"].clone()
}

fn program() -> PathBuf {
    let peers = std::env::var("LANGO_PEERS")
        .expect("LANGO_PEERS is not set. Run `cargo xtask peers`, which installs the node");
    Path::new(&peers).join("node/node_modules/.bin/anvil")
}

fn spawn(port: u16, arguments: &[&str]) -> (Child, u16) {
    let started = std::time::Instant::now();
    loop {
        let mut child = Command::new(program())
            .args(["--host", "127.0.0.1", "--port", &port.to_string()])
            .args(["--slots-in-an-epoch", "1"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.by_ref().map_while(Result::ok).find(|line| line.starts_with("Listening"));
        if let Some(line) = line {
            // It writes on, and must not wait for a reader.
            std::thread::spawn(move || lines.for_each(drop));
            let port = line.rsplit(':').next().unwrap().trim().parse().unwrap();
            return (child, port);
        }
        // The address may not be free yet after a restart.
        child.wait().unwrap();
        assert!(started.elapsed() < START_TIMEOUT, "the node does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
}
