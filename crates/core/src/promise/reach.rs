//! What pauses and opt-outs cover, as the proofs read it: looked up by host, because a journal
//! holds many requests and may hold many wishes. Written apart from what the gate uses.

use std::collections::HashMap;

use url::Url;

use crate::event::Reach;
use crate::host::Host;

/// Wishes in force, each with what the proof needs to know of it.
#[derive(Default)]
pub(crate) struct Covered<T> {
    all: Option<T>,
    targets: HashMap<(String, String), T>,
    hosts: HashMap<String, T>,
    domains: HashMap<String, T>,
    prefixes: HashMap<String, Vec<(String, T)>>,
    known: usize,
}

impl<T> Covered<T> {
    /// Puts a wish in force, in place of an earlier one with the same reach. `false`: its reach
    /// cannot be read, so nobody can say what it covers.
    pub(crate) fn put(&mut self, reach: &Reach, what: T) -> bool {
        self.lift(reach);
        match reach {
            Reach::All => self.all = Some(what),
            Reach::Target { bot, target } => {
                self.targets.insert((bot.clone(), target.clone()), what);
            }
            Reach::Host(name) => match Host::parse(name) {
                Some(host) => {
                    self.hosts.insert(host.as_str().to_owned(), what);
                }
                None => return false,
            },
            Reach::Domain(name) => match Host::parse(name) {
                Some(host) => {
                    self.domains.insert(host.as_str().to_owned(), what);
                }
                None => return false,
            },
            Reach::Prefix(prefix) => match split(prefix) {
                Some((host, path)) => self.prefixes.entry(host).or_default().push((path, what)),
                None => return false,
            },
        }
        self.known += 1;
        true
    }

    /// Ends the wish with this reach.
    pub(crate) fn lift(&mut self, reach: &Reach) {
        let host = |name: &str| Host::parse(name).map(|h| h.as_str().to_owned());
        let gone = match reach {
            Reach::All => self.all.take().is_some(),
            Reach::Target { bot, target } => self
                .targets
                .remove(&(bot.clone(), target.clone()))
                .is_some(),
            Reach::Host(name) => host(name).is_some_and(|h| self.hosts.remove(&h).is_some()),
            Reach::Domain(name) => host(name).is_some_and(|h| self.domains.remove(&h).is_some()),
            Reach::Prefix(prefix) => split(prefix).is_some_and(|(host, path)| {
                let paths = self.prefixes.entry(host).or_default();
                let before = paths.len();
                paths.retain(|(known, _)| *known != path);
                paths.len() < before
            }),
        };
        self.known -= usize::from(gone);
    }

    /// Whether no wish is in force.
    pub(crate) fn is_empty(&self) -> bool {
        self.known == 0
    }

    /// The wish about this very target.
    pub(crate) fn of_target(&self, bot: &str, target: &str) -> Option<&T> {
        if self.targets.is_empty() {
            return None;
        }
        self.targets.get(&(bot.to_owned(), target.to_owned()))
    }

    /// All wishes that cover `url`.
    pub(crate) fn of_url(&self, url: &str) -> Vec<&T> {
        let mut found: Vec<&T> = self.all.iter().collect();
        let Some((host, path)) = split(url) else {
            return found;
        };
        found.extend(self.hosts.get(&host));
        let mut rest = Some(host.as_str());
        while let Some(name) = rest {
            found.extend(self.domains.get(name));
            rest = name.split_once('.').map(|(_, parent)| parent);
        }
        let prefixes = self.prefixes.get(&host).into_iter().flatten();
        let covering = prefixes.filter(|(prefix, _)| path.starts_with(prefix.as_str()));
        found.extend(covering.map(|(_, what)| what));
        found
    }
}

/// Host and path of a URL; scheme, port and query say nothing about who is meant.
fn split(url: &str) -> Option<(String, String)> {
    let url = Url::parse(url).ok()?;
    let host = Host::of(&url)?;
    Some((host.as_str().to_owned(), url.path().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::house::covers;

    /// Two readings, written apart, must agree.
    #[test]
    fn a_reach_covers_what_the_gate_says_it_covers() {
        let reaches = [
            (Reach::All, 6),
            (Reach::Host("a.example.jp".into()), 4),
            (Reach::Domain("example.jp".into()), 5),
            (Reach::Prefix("https://a.example.jp/shop/".into()), 2),
        ];
        let urls = [
            "https://a.example.jp/",
            "http://a.example.jp:8080/shop/1?q=2",
            "https://a.example.jp/shop/",
            "https://a.example.jp/shopping",
            "https://b.example.jp/shop/",
            "https://notexample.jp/",
        ];
        for (reach, expected) in reaches {
            let mut covered = Covered::default();
            assert!(covered.put(&reach, ()));
            let hits = |url: &&&str| !covered.of_url(url).is_empty();
            assert_eq!(urls.iter().filter(hits).count(), expected, "{reach:?}");
            for url in urls {
                let gate = covers(&reach, &Url::parse(url).unwrap());
                assert_eq!(hits(&&url), gate, "{reach:?} {url}");
            }
            covered.lift(&reach);
            assert!(covered.is_empty());
        }
    }

    #[test]
    fn a_reach_nobody_can_read_is_not_taken_for_nothing() {
        let mut covered = Covered::default();
        assert!(!covered.put(&Reach::Prefix("a.example.jp/shop".into()), ()));
        assert!(!covered.put(&Reach::Host("a/b".into()), ()));
    }
}
