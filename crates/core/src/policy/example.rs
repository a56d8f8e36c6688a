//! Example robots.txt blocks for the page, each tried in our own parser before it is printed
//! (DECISIONS 22): a block that would not do what the text beside it says is never shown.

use std::time::Duration;

use reigi_robots::Rules;

use super::words;
use crate::charter::{Charter, Lang};

/// A block to copy into a robots.txt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Example {
    /// The lines.
    pub text: String,
    /// What they do, in words.
    pub says: String,
}

/// A block that would not do what is said about it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the example robots.txt would not do what the page says: {why}\n{text}")]
pub struct BadExample {
    /// The lines.
    pub text: String,
    /// Which effect is missing.
    pub why: String,
}

/// What a block must do, in terms that the parser can be asked about.
struct Effect<'a> {
    refused: &'a [&'a str],
    allowed: &'a [&'a str],
    delay: Option<Duration>,
}

/// A name that no block means.
const SOMEBODY_ELSE: &str = "SomebodyElse";

/// The blocks for a charter's token: leave the site alone, leave a part alone, come more slowly.
///
/// # Errors
/// The first block that would not do what it says.
pub fn examples(charter: &Charter, lang: Lang) -> Result<Vec<Example>, BadExample> {
    let token = &charter.identity.agent.token;
    let delay = slower_than(charter.pace.interval_max);
    let said = words::span(Duration::from_secs(delay), lang);
    let (all, part, slow) = match lang {
        Lang::Ja => (
            "サイト全体を対象から外す場合".to_owned(),
            "/members/ 以下と、/search で始まるURLだけを外す場合".to_owned(),
            format!("取得は許可し、間隔を{said}以上にする場合"),
        ),
        Lang::En => (
            "To keep it away from the whole site".to_owned(),
            "To keep it away from /members/ and from URLs that begin with /search".to_owned(),
            format!("To let it in, at least {said} apart"),
        ),
    };
    let everything = Effect {
        refused: &["/", "/index.html", "/a/b?c=d"],
        allowed: &[],
        delay: None,
    };
    let a_part = Effect {
        refused: &["/members/", "/members/1", "/search", "/search?q=1"],
        allowed: &["/", "/members", "/index.html"],
        delay: None,
    };
    let slowly = Effect {
        refused: &[],
        allowed: &["/", "/index.html"],
        delay: Some(Duration::from_secs(delay)),
    };
    Ok(vec![
        tried(token, "Disallow: /\n", all, &everything)?,
        tried(
            token,
            "Disallow: /members/\nDisallow: /search\n",
            part,
            &a_part,
        )?,
        tried(token, &format!("Crawl-delay: {delay}\n"), slow, &slowly)?,
    ])
}

/// Whole seconds that lengthen the usual interval: 10, or the next ten above twice the interval.
fn slower_than(interval: Duration) -> u64 {
    let twice = interval.as_secs_f64().ceil() * 2.0;
    if twice < 10.0 {
        return 10;
    }
    Duration::from_secs_f64((twice / 10.0).floor() * 10.0 + 10.0).as_secs()
}

/// The group of `rules` for `token`, after it has been asked what it does.
fn tried(
    token: &str,
    rules: &str,
    says: String,
    effect: &Effect<'_>,
) -> Result<Example, BadExample> {
    let text = format!("User-agent: {token}\n{rules}");
    match missing(&text, token, effect) {
        None => Ok(Example { text, says }),
        Some(why) => Err(BadExample { text, why }),
    }
}

fn missing(text: &str, token: &str, effect: &Effect<'_>) -> Option<String> {
    let rules = Rules::parse(text.as_bytes());
    let agent = rules.for_agent(token);
    let let_in = |path: &&&str| agent.verdict(path).allowed;
    if let Some(path) = effect.refused.iter().find(let_in) {
        return Some(format!("{path} stays open to {token}"));
    }
    if let Some(path) = effect.allowed.iter().find(|path| !let_in(path)) {
        return Some(format!("{path} is closed to {token}"));
    }
    if agent.crawl_delay().map(|d| d.duration) != effect.delay {
        return Some(format!("the delay for {token} is not {:?}", effect.delay));
    }
    let shut_out = |path: &&&str| !rules.verdict(SOMEBODY_ELSE, path).allowed;
    let path = effect.refused.iter().find(shut_out)?;
    Some(format!("{path} is closed to other crawlers, too"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Effect<'_> = Effect {
        refused: &["/"],
        allowed: &[],
        delay: None,
    };

    #[test]
    fn a_block_that_does_something_else_is_not_printed() {
        for (token, rules, effect, why) in [
            ("Bot", "Disallow:\n", ALL, "/ stays open to Bot"),
            (
                "*",
                "Disallow: /\n",
                ALL,
                "/ is closed to other crawlers, too",
            ),
            (
                "Bot",
                "Disallow: /\n",
                Effect {
                    refused: &[],
                    allowed: &["/"],
                    delay: None,
                },
                "/ is closed to Bot",
            ),
            (
                "Bot",
                "Crawl-delay: ten\n",
                Effect {
                    refused: &[],
                    allowed: &[],
                    delay: Some(Duration::from_secs(10)),
                },
                "the delay for Bot is not Some(10s)",
            ),
        ] {
            let refused = tried(token, rules, String::new(), &effect).unwrap_err();
            assert_eq!(refused.why, why, "{rules:?} for {token}");
        }
        assert!(tried("Bot", "Disallow: /\n", String::new(), &ALL).is_ok());
    }

    #[test]
    fn the_example_delay_lengthens_the_interval() {
        for (interval, delay) in [(1, 10), (2, 10), (5, 20), (30, 70), (600, 1210)] {
            assert_eq!(slower_than(Duration::from_secs(interval)), delay);
        }
    }
}
