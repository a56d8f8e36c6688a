//! From a host's name to addresses: a hosts file in bulk, or a name server.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};

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
/// in bulk. It changes where a name leads, never what is promised.
#[derive(Clone, Debug, Default)]
pub struct HostsFile {
    exact: HashMap<String, SocketAddr>,
    suffixes: HashMap<String, SocketAddr>,
}

impl HostsFile {
    /// Reads the file's text.
    ///
    /// # Errors
    /// The first line that is none of the above, with its number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut hosts = Self::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let mut words = line.split_whitespace();
            let (name, at, rest) = (words.next(), words.next(), words.next());
            let at = at.and_then(|at| at.parse::<SocketAddr>().ok());
            let (Some(name), Some(at), None) = (name, at, rest) else {
                let number = number + 1;
                return Err(format!(
                    "line {number}: expected `host address:port`, found `{line}`"
                ));
            };
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            match name.strip_prefix("*.") {
                Some(suffix) => hosts.suffixes.insert(suffix.to_owned(), at),
                None => hosts.exact.insert(name, at),
            };
        }
        Ok(hosts)
    }

    /// The place of a host: its own line, else the longest suffix.
    #[must_use]
    pub fn find(&self, host: &str) -> Option<SocketAddr> {
        if let Some(at) = self.exact.get(host) {
            return Some(*at);
        }
        let mut rest = host;
        while let Some((_, suffix)) = rest.split_once('.') {
            if let Some(at) = self.suffixes.get(suffix) {
                return Some(*at);
            }
            rest = suffix;
        }
        None
    }
}

/// Asks name servers.
pub(crate) struct Resolver(TokioResolver);

impl Resolver {
    pub(crate) fn new(server: Option<SocketAddr>) -> Result<Self, Error> {
        let built = match server {
            None => TokioResolver::builder_tokio().and_then(|builder| builder.build()),
            Some(at) => {
                let mut config = NameServerConfig::udp_and_tcp(at.ip());
                for connection in &mut config.connections {
                    connection.port = at.port();
                }
                let config = ResolverConfig::from_name_servers(vec![config]);
                TokioResolver::builder_with_config(config, TokioRuntimeProvider::default()).build()
            }
        };
        built.map(Self).map_err(|e| Error::Resolver(e.to_string()))
    }

    pub(crate) async fn lookup(&self, host: &str) -> Result<Vec<IpAddr>, String> {
        // A final dot: the name as it stands, no search list.
        match self.0.lookup_ip(format!("{host}.")).await {
            Ok(found) => Ok(found.iter().collect()),
            Err(NetError::Dns(DnsError::NoRecordsFound(_))) => Err("no such name".to_owned()),
            Err(NetError::Timeout) => Err("the name server did not answer in time".to_owned()),
            Err(error) => Err(format!("the name server failed: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hosts_file_gives_names_a_place() {
        let text =
            "# test web\na.test 127.0.0.1:80\n*.bulk.test 127.0.0.2:81 # many\n\n*.test [::1]:82\n";
        let hosts = HostsFile::parse(text).unwrap();
        for (name, at) in [
            ("a.test", Some("127.0.0.1:80")),
            ("h1.bulk.test", Some("127.0.0.2:81")),
            ("deep.h1.bulk.test", Some("127.0.0.2:81")),
            ("bulk.test", Some("[::1]:82")),
            ("a.example", None),
        ] {
            assert_eq!(
                hosts.find(name).map(|at| at.to_string()).as_deref(),
                at,
                "{name}"
            );
        }
        assert!(
            HostsFile::parse("a.test\n")
                .unwrap_err()
                .starts_with("line 1")
        );
        assert!(
            HostsFile::parse("\na.test 127.0.0.1\n")
                .unwrap_err()
                .starts_with("line 2")
        );
    }
}
