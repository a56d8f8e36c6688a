//! From a host's name to addresses: a hosts file in bulk, or a name server.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{LookupIpStrategy, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use reigi_core::host::Host;
use tokio::time::timeout;

use crate::Error;

/// Where names are looked up.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Names with a fixed place.
    pub hosts: HostsFile,
    /// The name server for all others; `None`: the system's.
    pub resolver: Option<SocketAddr>,
}

/// `--hosts-file`: a line `host address:port` or `*.suffix address:port`, like curl's `--resolve`
/// in bulk; `#` begins a comment. It changes where a name leads, never what is promised.
#[derive(Clone, Debug, Default)]
pub struct HostsFile {
    exact: HashMap<String, SocketAddr>,
    suffixes: HashMap<String, SocketAddr>,
}

impl HostsFile {
    /// Reads the file's text. The last line about a name wins.
    ///
    /// # Errors
    /// The first line that is none of the above, with its number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut hosts = Self::default();
        let text = text.trim_start_matches('\u{feff}');
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() && hosts.read(line).is_none() {
                let number = number + 1;
                return Err(format!(
                    "line {number}: expected `host address:port` or `*.suffix address:port`, \
                     found `{line}`"
                ));
            }
        }
        Ok(hosts)
    }

    fn read(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_whitespace();
        let (name, at) = (words.next()?, words.next()?.parse().ok()?);
        if words.next().is_some() {
            return None;
        }
        let (name, places) = match name.strip_prefix("*.") {
            Some(suffix) => (suffix, &mut self.suffixes),
            None => (name, &mut self.exact),
        };
        let host = Host::parse(name).filter(|host| !host.as_str().contains('*'))?;
        places.insert(host.as_str().to_owned(), at);
        Some(())
    }

    /// The place of a host: its own line, else the longest suffix.
    #[must_use]
    pub fn find(&self, host: &str) -> Option<SocketAddr> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        if let Some(at) = self.exact.get(&host) {
            return Some(*at);
        }
        let mut rest = host.as_str();
        while let Some((_, suffix)) = rest.split_once('.') {
            if let Some(at) = self.suffixes.get(suffix) {
                return Some(*at);
            }
            rest = suffix;
        }
        None
    }

    fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.suffixes.is_empty()
    }
}

/// A look-up ends after this, however many name servers are asked how often.
const LOOKUP_MAX: Duration = Duration::from_secs(15);
/// Addresses that are read of a name; an answer may hold thousands.
const ADDRESSES_MAX: usize = 16;

/// Asks name servers; or why there are none, for a house whose hosts file names all it visits.
pub(crate) struct Resolver(Result<TokioResolver, String>);

impl Resolver {
    pub(crate) fn new(names: &Names) -> Result<Self, Error> {
        match resolver(names.resolver).map_err(|e| Error::Resolver(e.to_string())) {
            Ok(resolver) => Ok(Self(Ok(resolver))),
            Err(error) if names.hosts.is_empty() => Err(error),
            Err(error) => Ok(Self(Err(error.to_string()))),
        }
    }

    pub(crate) async fn lookup(&self, host: &str) -> Result<Vec<IpAddr>, String> {
        let resolver = self.0.as_ref().map_err(Clone::clone)?;
        // A final dot: the name as it stands, no search list.
        let asked = timeout(LOOKUP_MAX, resolver.lookup_ip(format!("{host}."))).await;
        let found = match asked.unwrap_or(Err(NetError::Timeout)) {
            Ok(found) => found,
            Err(error) => return Err(in_words(&error)),
        };
        let mut addresses: Vec<IpAddr> = Vec::new();
        for address in found.iter() {
            if !addresses.contains(&address) && addresses.len() < ADDRESSES_MAX {
                addresses.push(address);
            }
        }
        match addresses.is_empty() {
            true => Err("the name has no address".to_owned()),
            false => Ok(addresses),
        }
    }
}

fn resolver(server: Option<SocketAddr>) -> Result<TokioResolver, NetError> {
    let mut builder = match server {
        None => TokioResolver::builder_tokio()?,
        Some(at) => {
            let mut config = NameServerConfig::udp_and_tcp(at.ip());
            for connection in &mut config.connections {
                connection.port = at.port();
            }
            let config = ResolverConfig::from_name_servers(vec![config]);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        }
    };
    let options = builder.options_mut();
    // How old an answer may be is the gate's decision: nothing is kept here.
    options.cache_size = 0;
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    builder.build()
}

fn in_words(error: &NetError) -> String {
    match error {
        NetError::Timeout => "the name server did not answer in time".to_owned(),
        NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
            ResponseCode::NXDomain => "no such name".to_owned(),
            ResponseCode::NoError => "the name has no address".to_owned(),
            code => format!("the name server failed: {code}"),
        },
        NetError::Dns(DnsError::ResponseCode(code)) => format!("the name server failed: {code}"),
        error => format!("the name server failed: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hosts_file_gives_names_a_place() {
        let text = "\u{feff}# test web\na.test 127.0.0.1:80\n*.bulk.test\t127.0.0.2:81 # many\n\n\
                    *.test [::1]:82\r\nB.test. 127.0.0.3:83\nb.test 127.0.0.4:84\n\
                    例え.テスト 127.0.0.5:85\n";
        let hosts = HostsFile::parse(text).unwrap();
        for (name, at) in [
            ("a.test", Some("127.0.0.1:80")),
            ("A.Test.", Some("127.0.0.1:80")),
            ("h1.bulk.test", Some("127.0.0.2:81")),
            ("deep.h1.bulk.test", Some("127.0.0.2:81")),
            ("bulk.test", Some("[::1]:82")),
            ("b.test", Some("127.0.0.4:84")),
            ("xn--r8jz45g.xn--zckzah", Some("127.0.0.5:85")),
            ("test", None),
            ("a.example", None),
            ("nota.test.example", None),
        ] {
            assert_eq!(
                hosts.find(name).map(|at| at.to_string()).as_deref(),
                at,
                "{name}"
            );
        }
    }

    #[test]
    fn a_line_that_gives_no_place_is_named() {
        for (text, line) in [
            ("a.test", 1),
            ("\na.test 127.0.0.1", 2),
            ("a.test 127.0.0.1:80 b.test", 1),
            ("# fine\n* 127.0.0.1:80", 2),
            ("a.*.test 127.0.0.1:80", 1),
            ("a.test/ 127.0.0.1:80", 1),
            ("a.test localhost:80", 1),
            ("a.test 127.0.0.1:70000", 1),
        ] {
            let error = HostsFile::parse(text).unwrap_err();
            assert!(
                error.starts_with(&format!("line {line}: ")),
                "{text}: {error}"
            );
        }
    }
}
