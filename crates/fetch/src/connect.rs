//! Connecting to exactly one vetted address, with TLS where the URL says https.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reigi_core::fetched::{Fetched, Outcome, Phase};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use url::Url;

use crate::Error;

/// What TLS trusts.
#[derive(Clone, Default)]
pub struct Tls {
    fixed: Option<Arc<ClientConfig>>,
    system: Arc<OnceLock<Result<Arc<ClientConfig>, String>>>,
}

impl Tls {
    /// The system's roots, read when the first https request needs them.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// Only these roots: for tests with a certificate authority of their own.
    ///
    /// # Errors
    /// A root that is no certificate.
    pub fn with_roots(
        roots: impl IntoIterator<Item = CertificateDer<'static>>,
    ) -> Result<Self, Error> {
        let mut store = RootCertStore::empty();
        for root in roots {
            store.add(root).map_err(|e| Error::Tls(e.to_string()))?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| Error::Tls(e.to_string()))?
            .with_root_certificates(store)
            .with_no_client_auth();
        Ok(Self {
            fixed: Some(http1(config)),
            ..Self::default()
        })
    }

    fn config(&self) -> Result<Arc<ClientConfig>, String> {
        if let Some(config) = &self.fixed {
            return Ok(Arc::clone(config));
        }
        self.system.get_or_init(system_config).clone()
    }
}

fn system_config() -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_platform_verifier()
        .map_err(|e| format!("this system's roots cannot be read: {e}"))?
        .with_no_client_auth();
    Ok(http1(config))
}

fn http1(mut config: ClientConfig) -> Arc<ClientConfig> {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

/// A connection, plain or TLS.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// Where to connect, and until when.
#[derive(Clone, Copy)]
pub(crate) struct To<'a> {
    /// Vetted addresses, in order.
    pub(crate) addresses: &'a [IpAddr],
    pub(crate) url: &'a Url,
    pub(crate) port: u16,
    pub(crate) deadline: Instant,
}

/// Opens the connection and notes both its ends.
pub(crate) async fn connect(
    tls: &Tls,
    to: To<'_>,
    fetched: &mut Fetched,
) -> Result<Box<dyn Stream>, Outcome> {
    let stream = open(to).await?;
    // Only latency is lost without it.
    let _ = stream.set_nodelay(true);
    fetched.local = stream.local_addr().ok().map(|a| a.to_string());
    fetched.remote = stream.peer_addr().ok().map(|a| a.to_string());
    if to.url.scheme() != "https" {
        return Ok(Box::new(stream));
    }
    agree(tls, to, stream, fetched).await
}

/// The first address that takes the connection, one after the other, never two at a time. Each
/// may use an equal share of the time that is left, so that one silent address does not hide the
/// next.
async fn open(to: To<'_>) -> Result<TcpStream, Outcome> {
    let mut last = Outcome::ConnectFailed("no address may be connected to".to_owned());
    for (tried, address) in to.addresses.iter().enumerate() {
        let left = to.deadline.saturating_duration_since(Instant::now());
        let others = u32::try_from(to.addresses.len() - tried).unwrap_or(u32::MAX);
        let share: Duration = left / others.max(1);
        let at = SocketAddr::new(*address, to.port);
        last = match timeout_at(Instant::now() + share, TcpStream::connect(at)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => Outcome::ConnectFailed(in_words(&error)),
            Err(_) => Outcome::TimedOut(Phase::Connect),
        };
    }
    Err(last)
}

async fn agree(
    tls: &Tls,
    to: To<'_>,
    stream: TcpStream,
    fetched: &mut Fetched,
) -> Result<Box<dyn Stream>, Outcome> {
    let config = tls.config().map_err(Outcome::TlsFailed)?;
    let host = to.url.host_str().unwrap_or_default();
    let host = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .trim_end_matches('.');
    let name =
        ServerName::try_from(host.to_owned()).map_err(|e| Outcome::TlsFailed(e.to_string()))?;
    let shake = TlsConnector::from(config).connect(name, stream);
    match timeout_at(to.deadline, shake).await {
        Ok(Ok(stream)) => {
            let chain = stream.get_ref().1.peer_certificates();
            let leaf = chain.and_then(|chain| chain.first());
            fetched.certificate =
                leaf.map(|leaf| data_encoding::HEXLOWER.encode(&Sha256::digest(leaf)));
            Ok(Box::new(stream))
        }
        Ok(Err(error)) if is_cut(error.kind()) => Err(Outcome::Reset(Phase::Tls)),
        Ok(Err(error)) => Err(Outcome::TlsFailed(error.to_string())),
        Err(_) => Err(Outcome::TimedOut(Phase::Tls)),
    }
}

/// Whether the other side ended the connection.
fn is_cut(kind: io::ErrorKind) -> bool {
    kind == io::ErrorKind::UnexpectedEof || is_reset(kind)
}

/// Whether the connection broke, not merely ended.
pub(crate) fn is_reset(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected
    )
}

/// Words that are the same on every system, so that a journal can be compared.
fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "refused".to_owned(),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            "unreachable".to_owned()
        }
        kind if is_reset(kind) => "reset".to_owned(),
        io::ErrorKind::TimedOut => "no answer".to_owned(),
        _ => error.to_string(),
    }
}
