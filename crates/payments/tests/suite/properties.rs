//! Tests what holds whatever happens, in which order.

use futures_util::future::join_all;
use lango_payments::{
    Change, Ledger, Network, PaymentError, PaymentLimits, PaymentState, SignedPayment, UsdcAmount,
};
use lango_store::{Database, DatabaseLocation};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::fixture::{Bench, OTHER_RECIPIENT, RECIPIENT, key, order_on, pay};

const RECIPIENTS: [&str; 2] = [RECIPIENT, OTHER_RECIPIENT];

/// What one of several processes does next.
#[derive(Debug, Clone)]
enum LedgerStep {
    Reserve {
        recipient: usize,
        units: u64,
    },
    /// Moves one of its payments on.
    Advance {
        which: prop::sample::Index,
        fails: bool,
    },
}

fn ledger_step() -> impl Strategy<Value = LedgerStep> {
    prop_oneof![
        3 => (0..2_usize, 1..4_000_000_u64)
            .prop_map(|(recipient, units)| LedgerStep::Reserve { recipient, units }),
        2 => (any::<prop::sample::Index>(), any::<bool>())
            .prop_map(|(which, fails)| LedgerStep::Advance { which, fails }),
    ]
}

pub(crate) async fn limits_hold_under_any_interleaving(location: DatabaseLocation) {
    let limits = PaymentLimits {
        per_payment: UsdcAmount::from_whole(3),
        per_day: UsdcAmount::from_whole(12),
        per_recipient: UsdcAmount::from_whole(8),
        ..PaymentLimits::default()
    };
    let mut runner = TestRunner::deterministic();
    let processes = prop::collection::vec(prop::collection::vec(ledger_step(), 1..12), 4);
    let (mut reserved, mut refused) = (0, 0);
    for case in 0..12_u64 {
        // Each case has a network of its own, whose limits count alone.
        let network = Network { chain_id: 1_000 + case, ..Network::base_sepolia() };
        let steps = processes.new_tree(&mut runner).unwrap().current();
        let runs = steps.into_iter().enumerate().map(async |(process, steps)| {
            let ledger = Ledger::open(Database::open(&location).await.unwrap()).await.unwrap();
            run_steps(&ledger, &network, process, &steps, &limits).await
        });
        for (accepted, rejected) in join_all(runs).await {
            reserved += accepted;
            refused += rejected;
        }
        let ledger = Ledger::open(Database::open(&location).await.unwrap()).await.unwrap();
        check_sums(&ledger, &network, &limits).await;
    }
    assert!(reserved > 20 && refused > 20, "{reserved} reserved, {refused} refused");
}

async fn run_steps(
    ledger: &Ledger,
    network: &Network,
    process: usize,
    steps: &[LedgerStep],
    limits: &PaymentLimits,
) -> (usize, usize) {
    let (mut own, mut refused, mut accepted) = (Vec::new(), 0, 0);
    for (number, step) in steps.iter().enumerate() {
        match step {
            LedgerStep::Reserve { recipient, units } => {
                let name =
                    key(&format!("case {} process {process} step {number}", network.chain_id));
                let order = order_on(network, RECIPIENTS[*recipient], *units);
                match ledger.reserve(&order, &name, limits).await {
                    Ok(payment) => {
                        accepted += 1;
                        own.push(payment);
                    }
                    Err(PaymentError::Limit(_)) => refused += 1,
                    Err(other) => panic!("{other}"),
                }
            }
            LedgerStep::Advance { which, fails } if !own.is_empty() => {
                let index = which.index(own.len());
                let payment = &own[index];
                let next = match (payment.state, fails) {
                    (PaymentState::Reserved, false) => {
                        // The number itself does not matter here, but that it is free.
                        let nonce = process as u64 * 1000 + number as u64;
                        let (hash, raw) = (lango_payments::B256::ZERO, vec![1]);
                        let signed = SignedPayment::Transfer { nonce, hash, raw };
                        ledger.record_signed(payment, signed).await.unwrap()
                    }
                    (PaymentState::Confirmed | PaymentState::Failed, _) => continue,
                    (_, true) => {
                        let change = Change::default().because("a test");
                        ledger.advance(payment, PaymentState::Failed, change).await.unwrap()
                    }
                    (PaymentState::Signed, false) => {
                        let change = Change::default();
                        ledger.advance(payment, PaymentState::Unknown, change).await.unwrap()
                    }
                    (_, false) => {
                        let change = Change::default();
                        ledger.advance(payment, PaymentState::Confirmed, change).await.unwrap()
                    }
                };
                own[index] = next.unwrap();
            }
            LedgerStep::Advance { .. } => {}
        }
        check_sums(ledger, network, limits).await;
    }
    (accepted, refused)
}

async fn check_sums(ledger: &Ledger, network: &Network, limits: &PaymentLimits) {
    for recipient in RECIPIENTS {
        let recipient = recipient.parse().unwrap();
        let spending = ledger.read_spending(network.chain_id, Some(recipient)).await.unwrap();
        assert!(spending.day <= limits.per_day, "{spending:?}");
        assert!(spending.to_recipient <= limits.per_recipient, "{spending:?}");
    }
    // The same, added up from the payments themselves.
    let payments = ledger.list_latest(u32::MAX).await.unwrap().payments;
    let counted = payments.iter().filter(|payment| {
        payment.order.chain_id() == network.chain_id && payment.state != PaymentState::Failed
    });
    let mut by_recipient = std::collections::BTreeMap::new();
    for payment in counted {
        *by_recipient.entry(payment.order.to().to_string()).or_insert(0) +=
            payment.order.amount().units();
    }
    assert!(by_recipient.values().all(|units| *units <= limits.per_recipient.units()));
    assert!(by_recipient.values().sum::<u64>() <= limits.per_day.units(), "{by_recipient:?}");
}

/// What happens to the chain or to the wallet next.
#[derive(Debug, Clone)]
enum ChainStep {
    Pay { recipient: usize, units: u64 },
    PayAgain { which: prop::sample::Index },
    Mine,
    SetMining(bool),
    Reorganise,
    TakeEther(bool),
    Reconcile,
}

fn chain_step() -> impl Strategy<Value = ChainStep> {
    prop_oneof![
        5 => (0..2_usize, 1..2_000_000_u64)
            .prop_map(|(recipient, units)| ChainStep::Pay { recipient, units }),
        1 => any::<prop::sample::Index>().prop_map(|which| ChainStep::PayAgain { which }),
        2 => Just(ChainStep::Mine),
        2 => any::<bool>().prop_map(ChainStep::SetMining),
        1 => Just(ChainStep::Reorganise),
        1 => any::<bool>().prop_map(ChainStep::TakeEther),
        2 => Just(ChainStep::Reconcile),
    ]
}

pub(crate) async fn every_journal_reconciles_to_the_chain(location: DatabaseLocation) {
    let bench = Bench::at(&location).await;
    let quick = bench
        .open_again(|settings| {
            settings.receipt_timeout = std::time::Duration::from_millis(60);
        })
        .await;
    let mut runner = TestRunner::deterministic();
    let steps = prop::collection::vec(chain_step(), 60).new_tree(&mut runner).unwrap().current();
    let mut orders: Vec<(usize, String)> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        match step {
            ChainStep::Pay { recipient, units } => {
                let amount = UsdcAmount::from_units(*units).unwrap().to_string();
                orders.push((*recipient, amount.clone()));
                let name = format!("payment {}", orders.len() - 1);
                pay(&quick, RECIPIENTS[*recipient], &amount, &name).await.unwrap();
            }
            ChainStep::PayAgain { which } if !orders.is_empty() => {
                let index = which.index(orders.len());
                let (recipient, amount) = orders[index].clone();
                let name = format!("payment {index}");
                pay(&quick, RECIPIENTS[recipient], &amount, &name).await.unwrap();
            }
            ChainStep::Mine => bench.node.mine(1).await,
            ChainStep::SetMining(automatic) => bench.node.set_mining(*automatic).await,
            // Never deeper than the payments of this test: the token itself would vanish.
            ChainStep::Reorganise if number > 10 => {
                bench.node.mine(2).await;
                bench.node.reorganise(2).await;
            }
            ChainStep::PayAgain { .. } | ChainStep::Reorganise => {}
            ChainStep::TakeEther(takes) => {
                let wei = if *takes { 1 } else { 1_000_000_000_000_000_000 };
                bench.node.set_ether(bench.address(), wei).await;
            }
            ChainStep::Reconcile => {
                quick.reconcile().await.unwrap();
            }
        }
    }
    // In the end everything comes to rest.
    bench.node.set_ether(bench.address(), 1_000_000_000_000_000_000).await;
    bench.node.set_mining(true).await;
    for _ in 0..6 {
        bench.node.mine(1).await;
        quick.reconcile().await.unwrap();
    }
    let mut expected = [0_u64; 2];
    let payments = quick.list_latest(u32::MAX).await.unwrap().payments;
    assert_eq!(payments.len(), orders.len());
    for payment in &payments {
        assert!(payment.state.is_settled(), "{steps:?}: {payment:?}");
        let confirmed = payment.state == PaymentState::Confirmed;
        if confirmed {
            let index = usize::from(payment.order.to() == OTHER_RECIPIENT.parse().unwrap());
            expected[index] += payment.order.amount().units();
        }
        let on_chain = match payment.transaction() {
            Some(hash) => bench.node.has_succeeded(hash).await,
            None => false,
        };
        assert_eq!(confirmed, on_chain, "{payment:?}");
        let states = bench.states_of(payment).await;
        assert_eq!(states.first(), Some(&PaymentState::Reserved));
        assert_eq!(states.last(), Some(&payment.state));
        assert!(states.windows(2).all(|pair| pair[0].may_become(pair[1])), "{states:?}");
    }
    let mut received = [0; 2];
    for (index, recipient) in RECIPIENTS.iter().enumerate() {
        received[index] = bench.node.units_of(recipient.parse().unwrap()).await;
    }
    assert_eq!(received, expected, "{steps:?}");
}
