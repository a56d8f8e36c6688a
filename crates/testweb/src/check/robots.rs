//! A naive robots.txt reader for the checker: enough for the simple files that the web generates,
//! and written apart from the reader it helps to judge.

use std::time::Duration;

/// The rules that stand for one agent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    /// (allowed, pattern) in file order.
    rules: Vec<(bool, String)>,
    pub(crate) delay: Option<Duration>,
}

impl Rules {
    /// Reads the groups of an agent's token, else those of `*`.
    pub(crate) fn read(text: &str, token: &str) -> Rules {
        let mut own: Option<Rules> = None;
        let mut any = Rules::default();
        let (mut names, mut in_rules) = (Vec::new(), false);
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    if std::mem::take(&mut in_rules) {
                        names.clear();
                    }
                    names.push(value.to_ascii_lowercase());
                }
                "allow" | "disallow" | "crawl-delay" => {
                    in_rules |= key != "crawl-delay";
                    if names.contains(&token.to_ascii_lowercase()) {
                        own.get_or_insert_default().add(&key, value);
                    }
                    if names.iter().any(|name| name == "*") {
                        any.add(&key, value);
                    }
                }
                _ => {}
            }
        }
        own.unwrap_or(any)
    }

    fn add(&mut self, key: &str, value: &str) {
        match key {
            "crawl-delay" => {
                let seconds = value
                    .parse()
                    .ok()
                    .filter(|s: &f64| s.is_finite() && *s >= 0.0);
                let delay = seconds.map(|s| Duration::from_secs_f64(s.min(1e6)));
                self.delay = self.delay.max(delay);
            }
            _ if value.is_empty() => {}
            _ => self.rules.push((key == "allow", value.to_owned())),
        }
    }

    /// Whether a path may be fetched: the longest match decides, Allow wins a tie.
    pub(crate) fn allow(&self, path: &str) -> bool {
        let matching = self
            .rules
            .iter()
            .filter(|(_, pattern)| matches(pattern, path));
        matching
            .max_by_key(|(allow, pattern)| (pattern.len(), *allow))
            .is_none_or(|(a, _)| *a)
    }
}

/// `*` stands for any characters, a closing `$` for the end.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return !anchored || rest.is_empty();
    };
    for part in middle {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    if anchored {
        rest.ends_with(last)
    } else {
        rest.contains(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_group_else_any() {
        let text = "User-agent: bot\nDisallow: /a\nCrawl-delay: 5\n\nUser-agent: *\nDisallow: /\n";
        let own = Rules::read(text, "Bot");
        assert!(own.allow("/b") && !own.allow("/a/x"));
        assert_eq!(own.delay, Some(Duration::from_secs(5)));
        assert!(!Rules::read(text, "other").allow("/b"));
    }

    #[test]
    fn longest_match_and_wildcards() {
        let text = "User-agent: *\nDisallow: /p\nAllow: /p/ok\nDisallow: /*.pdf$\nDisallow: /x*y\n";
        let rules = Rules::read(text, "bot");
        for (path, allowed) in [
            ("/p", false),
            ("/p/ok/1", true),
            ("/a.pdf", false),
            ("/a.pdfx", true),
            ("/x12y3", false),
            ("/", true),
        ] {
            assert_eq!(rules.allow(path), allowed, "{path}");
        }
    }
}
