//! Which site answers for a host: by its name, else by the longest suffix.

use crate::answer::Answer;
use crate::site::{Ask, Door, Found, Site};
use jiff::Timestamp;
use std::collections::HashMap;

#[derive(Debug, Default)]
pub(crate) struct Routes {
    hosts: HashMap<String, Site>,
    /// `*.suffix` sites, the longest suffix first.
    suffixes: Vec<Site>,
}

impl Routes {
    pub(crate) fn new(sites: Vec<Site>) -> Routes {
        let mut routes = Routes::default();
        sites.into_iter().for_each(|site| routes.put(site));
        routes
    }

    /// Adds a site, or puts it in the place of the one of that name.
    pub(crate) fn put(&mut self, site: Site) {
        if site.host.starts_with("*.") {
            self.suffixes.retain(|other| other.host != site.host);
            self.suffixes.push(site);
            self.suffixes
                .sort_by_key(|site| std::cmp::Reverse(site.host.len()));
        } else {
            self.hosts.insert(site.host.clone(), site);
        }
    }

    /// The site with this name or `*.suffix` as its own name.
    pub(crate) fn named(&mut self, host: &str) -> Option<&mut Site> {
        match self.hosts.get_mut(host) {
            Some(site) => Some(site),
            None => self.suffixes.iter_mut().find(|site| site.host == host),
        }
    }

    /// Names and doors, names sorted, suffixes last.
    pub(crate) fn hosts(&self) -> Vec<(&str, Door)> {
        let mut hosts: Vec<_> = self
            .hosts
            .values()
            .map(|s| (s.host.as_str(), s.door))
            .collect();
        hosts.sort_unstable_by_key(|(host, _)| *host);
        hosts.extend(self.suffixes.iter().map(|s| (s.host.as_str(), s.door)));
        hosts
    }

    pub(crate) fn answer(&self, ask: Ask<'_>) -> Found {
        let under = |site: &&Site| {
            let suffix = site.host.strip_prefix('*').unwrap_or_default();
            ask.host.len() > suffix.len() && ask.host.ends_with(suffix)
        };
        match self
            .hosts
            .get(ask.host)
            .or_else(|| self.suffixes.iter().find(under))
        {
            Some(site) => site.answer(ask),
            // RFC 9110 §15.5.20: this server does not answer for that authority.
            None => Found {
                answer: Answer::status(421),
                since: Timestamp::MIN,
                turn: 0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;

    #[test]
    fn a_name_goes_before_a_suffix_and_a_long_suffix_before_a_short_one() {
        let site = |host| Site::new(host).rest(Answer::text(host));
        let routes = Routes::new(["*.test", "*.b.test", "a.test"].map(site).into());
        for (host, expected) in [
            ("a.test", "a.test"),
            ("x.test", "*.test"),
            ("x.b.test", "*.b.test"),
            ("b.test", "*.test"),
        ] {
            let request = Request::read(b"GET / HTTP/1.1\r\n\r\n");
            let ask = Ask {
                host,
                request: &request,
                now: Timestamp::UNIX_EPOCH,
                turn: 0,
            };
            assert_eq!(routes.answer(ask).answer.body, expected, "{host}");
        }
        let request = Request::read(b"GET / HTTP/1.1\r\n\r\n");
        let ask = Ask {
            host: "test",
            request: &request,
            now: Timestamp::UNIX_EPOCH,
            turn: 0,
        };
        assert_eq!(routes.answer(ask).answer.status, 421);
    }

    #[test]
    fn hosts_are_listed_in_order() {
        let routes = Routes::new(["*.z.test", "b.test", "a.test"].map(Site::new).into());
        let names: Vec<_> = routes.hosts().into_iter().map(|(host, _)| host).collect();
        assert_eq!(names, ["a.test", "b.test", "*.z.test"]);
    }
}
