//! https, with a certificate authority of the tests' own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use reigi_core::fetched::{Fetched, Outcome, Phase};
use reigi_fetch::Tls;
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::listen::{End, Listener};
use crate::support::{TestClock, Wanted, done, fetcher_with};

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    fn root(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    /// A server for `name` that answers `answer` and ends as TLS asks, or (`rude`) without.
    async fn serve(&self, name: &str, answer: &'static [u8], rude: bool) -> Server {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let leaf = params.signed_by(&key, &self.0).unwrap().der().clone();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.clone()], key.into())
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let said = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(stream).await.ok()?;
            let agreed = (
                stream.get_ref().1.server_name().map(str::to_owned),
                stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec),
            );
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                stream.read_buf(&mut head).await.ok().filter(|n| *n > 0)?;
            }
            stream.write_all(answer).await.unwrap();
            stream.flush().await.unwrap();
            if !rude {
                let _ = stream.shutdown().await;
            }
            Some(agreed)
        });
        Server { at, leaf, said }
    }
}

type Agreed = Option<(Option<String>, Option<Vec<u8>>)>;

struct Server {
    at: SocketAddr,
    leaf: CertificateDer<'static>,
    /// Server name and protocol, as the client asked for them.
    said: tokio::task::JoinHandle<Agreed>,
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const OPEN_END: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nok";

async fn get(at: SocketAddr, tls: Tls, url: &str) -> Fetched {
    let clock = TestClock::new();
    let fetcher = fetcher_with(&clock, &format!("*.test {at}"), tls);
    let wanted = Wanted {
        timeout: Duration::from_secs(2),
        ..Wanted::page(url)
    };
    done(&fetcher, &clock, &wanted).await
}

#[tokio::test]
async fn a_certificate_of_a_trusted_root_is_accepted_and_noted() {
    let authority = Authority::new();
    let tls = || Tls::with_roots([authority.root()]).unwrap();
    let server = authority.serve("a.test", OK, true).await;
    let fetched = get(server.at, tls(), "https://a.test/").await;
    assert_eq!(fetched.outcome, Outcome::Status(200));
    assert_eq!(fetched.body, b"ok");
    let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(&server.leaf));
    assert_eq!(fetched.certificate, Some(digest));
    assert!(
        fetched
            .request_head
            .starts_with(b"GET / HTTP/1.1\r\nhost: a.test\r\n")
    );
    let agreed = server.said.await.unwrap().unwrap();
    assert_eq!(
        agreed,
        (Some("a.test".to_owned()), Some(b"http/1.1".to_vec()))
    );

    // An address needs a certificate for the address, and asks for no name.
    let server = authority.serve("127.0.0.1", OK, false).await;
    let url = format!("https://127.0.0.1:{}/", server.at.port());
    assert_eq!(
        get(server.at, tls(), &url).await.outcome,
        Outcome::Status(200)
    );
    assert_eq!(server.said.await.unwrap().unwrap().0, None);
}

#[tokio::test]
async fn a_certificate_that_proves_nothing_is_refused() {
    let (authority, other) = (Authority::new(), Authority::new());
    let cases = [
        ("a.test", Tls::with_roots([other.root()]).unwrap()),
        ("b.test", Tls::with_roots([authority.root()]).unwrap()),
        ("a.test", Tls::system()),
    ];
    for (name, tls) in cases {
        let server = authority.serve(name, OK, false).await;
        let fetched = get(server.at, tls, "https://a.test/").await;
        assert!(
            matches!(fetched.outcome, Outcome::TlsFailed(_)),
            "{:?}",
            fetched.outcome
        );
        assert_eq!((fetched.sent, fetched.certificate), (None, None));
        assert!(fetched.remote.is_some());
    }
}

#[tokio::test]
async fn what_is_no_tls_is_told_apart() {
    let tls = || Tls::with_roots([Authority::new().root()]).unwrap();
    let outcome = async |listener: &Listener| {
        let fetched = get(listener.at, tls(), "https://a.test/").await;
        assert!(
            fetched.request_head.is_empty(),
            "nothing leaves unencrypted"
        );
        fetched.outcome
    };
    // A listener of ours waits for the end of a request head, which a greeting never has.
    let silent = Listener::play(vec![], End::Hold).await;
    assert_eq!(outcome(&silent).await, Outcome::TimedOut(Phase::Tls));

    for (answer, expected) in [
        (&b""[..], Outcome::Reset(Phase::Tls)),
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            Outcome::TlsFailed(String::new()),
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut greeting = Vec::new();
            stream.read_buf(&mut greeting).await.unwrap();
            stream.write_all(answer).await.unwrap();
        });
        let outcome = get(at, tls(), "https://a.test/").await.outcome;
        let same_kind = std::mem::discriminant(&outcome) == std::mem::discriminant(&expected);
        assert!(same_kind, "{outcome:?}");
    }
}

/// RFC 9112 section 9.8: without a length, only the closing alert shows that a body is whole.
#[tokio::test]
async fn a_body_without_length_needs_the_closing_alert() {
    let authority = Authority::new();
    let cut = Outcome::Incomplete {
        status: 200,
        got: 2,
        expected: None,
    };
    for (rude, outcome) in [(false, Outcome::Status(200)), (true, cut)] {
        let server = authority.serve("a.test", OPEN_END, rude).await;
        let tls = Tls::with_roots([authority.root()]).unwrap();
        let fetched = get(server.at, tls, "https://a.test/").await;
        assert_eq!(fetched.outcome, outcome, "rude: {rude}");
    }
}

#[test]
fn a_root_that_is_no_certificate_is_an_error() {
    let error = Tls::with_roots([CertificateDer::from(vec![1, 2, 3])]).err();
    assert!(
        error
            .unwrap()
            .to_string()
            .starts_with("the TLS roots cannot be read: ")
    );
}
