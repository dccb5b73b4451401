//! Providers are reached over TLS: with a certificate that is trusted, and with others.

use std::net::SocketAddr;
use std::sync::Arc;

use lango_model::Wire;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::fixture::Lango;
use crate::invocation::Invocation;
use crate::journal::Turn;

/// A server in front of the scripted model that speaks TLS as `localhost`.
struct Front {
    address: SocketAddr,
    /// Who signed its certificate.
    authority: String,
}

async fn front(behind: &str) -> Front {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = own.signed_by(&key, &issuer).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let behind = behind.to_owned();
    tokio::spawn(async move {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let (acceptor, behind) = (acceptor.clone(), behind.clone());
            tokio::spawn(async move {
                // A client that does not trust the certificate goes away.
                let Ok(mut outside) = acceptor.accept(socket).await else { return };
                let mut inside = TcpStream::connect(behind).await.unwrap();
                let _ = copy_bidirectional(&mut outside, &mut inside).await;
            });
        }
    });
    Front { address, authority: pem }
}

const WORK: &str = "[[reply]]\nsay = \"Über TLS 🔒\"\n";

/// `lango run` through the front, with nothing else set up.
fn ask<'a>(lango: &'a Lango, front: &Front, wire: Wire) -> Invocation<'a> {
    let kind = wire.name();
    let plain = lango.base_url(wire);
    let path = plain.split_once("://").unwrap().1.split_once('/').map_or("", |(_, path)| path);
    let config = format!(
        "[model]\nprovider = \"safe\"\nname = \"m\"\n[providers.safe]\ntype = \"{kind}\"\n\
         baseUrl = \"https://localhost:{}/{path}\"\n",
        front.address.port()
    );
    std::fs::write(lango.config_file(), config).unwrap();
    lango.bare(&["run", "--output-format", "stream-json", "hello"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_with_a_trusted_certificate_is_reached_on_every_wire() {
    for wire in Wire::ALL {
        let lango = Lango::playing(&[WORK]).await;
        let behind = lango.base_url(Wire::Ollama).replace("http://", "");
        let front = front(&behind).await;
        let trusted = lango.file("authority.pem", &front.authority);
        let turn = ask(&lango, &front, wire).set("SSL_CERT_FILE", trusted).turn().await;
        assert_eq!((turn.code, turn.answer()), (0, "Über TLS 🔒"), "{wire:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_is_not_trusted_is_refused_and_nothing_is_sent() {
    let lango = Lango::playing(&[WORK]).await;
    let behind = lango.base_url(Wire::Ollama).replace("http://", "");
    let (front, other) = (front(&behind).await, front(&behind).await);
    let not_its_own = lango.file("authority.pem", &other.authority);
    let turn: Turn =
        ask(&lango, &front, Wire::OpenAi).set("SSL_CERT_FILE", not_its_own).turn().await;
    assert_eq!((turn.code, turn.count("setback")), (4, 0), "{}", turn.answer());
    assert!(turn.answer().contains("over a safe connection"), "{}", turn.answer());
    assert!(turn.answer().contains("certificate"), "{}", turn.answer());
    assert!(lango.received().is_empty());
}
