//! Connecting to exactly one vetted address, with TLS where the URL says https.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use reigi_core::fetched::{Fetched, Outcome, Phase};
use reigi_core::gate::Permit;
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
        .map_err(|e| e.to_string())?
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

/// Connects to the first of the permit's addresses that answers, one after the other.
pub(crate) async fn connect(
    tls: &Tls,
    permit: &Permit,
    url: &Url,
    port: Option<u16>,
    deadline: Instant,
    fetched: &mut Fetched,
) -> Result<Box<dyn Stream>, Outcome> {
    let port = port.or(url.port_or_known_default()).unwrap_or(80);
    let mut last = "no address may be connected to".to_owned();
    let mut found = None;
    for address in permit.addresses() {
        let at = SocketAddr::new(*address, port);
        match timeout_at(deadline, TcpStream::connect(at)).await {
            Ok(Ok(stream)) => {
                found = Some(stream);
                break;
            }
            Ok(Err(error)) => last = in_words(&error),
            Err(_) => return Err(Outcome::TimedOut(Phase::Connect)),
        }
    }
    let Some(stream) = found else {
        return Err(Outcome::ConnectFailed(last));
    };
    let _ = stream.set_nodelay(true);
    fetched.local = stream.local_addr().ok().map(|a| a.to_string());
    fetched.remote = stream.peer_addr().ok().map(|a| a.to_string());
    if url.scheme() != "https" {
        return Ok(Box::new(stream));
    }
    let config = tls.config().map_err(Outcome::TlsFailed)?;
    let host = url
        .host_str()
        .unwrap_or_default()
        .trim_start_matches('[')
        .trim_end_matches(']');
    let name =
        ServerName::try_from(host.to_owned()).map_err(|e| Outcome::TlsFailed(e.to_string()))?;
    match timeout_at(deadline, TlsConnector::from(config).connect(name, stream)).await {
        Ok(Ok(stream)) => {
            let chain = stream.get_ref().1.peer_certificates();
            let leaf = chain.and_then(|chain| chain.first());
            fetched.certificate =
                leaf.map(|leaf| data_encoding::HEXLOWER.encode(&Sha256::digest(leaf)));
            Ok(Box::new(stream))
        }
        Ok(Err(error)) => Err(Outcome::TlsFailed(error.to_string())),
        Err(_) => Err(Outcome::TimedOut(Phase::Tls)),
    }
}

/// Words that are the same on every system, so that a journal can be compared.
fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "refused".to_owned(),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            "unreachable".to_owned()
        }
        io::ErrorKind::ConnectionReset => "reset".to_owned(),
        _ => error.to_string(),
    }
}
