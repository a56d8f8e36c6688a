//! `[identity]`: who the bot says it is, so that a site owner can name it, read about it and
//! write to someone.

use url::Url;

use super::problem::say;
use super::reader::{Table, Value};
use super::{Agent, Identity};

/// Names that other operators go by. A charter that bears one may reach loopback only
/// (DECISIONS 26).
const SEED_NAMES: &[&str] = &[
    "PerelogCrawler",
    "ai-lifeline-robots-watch",
    "ai-lifeline-collector",
    "BlueAIChangeBot",
];

/// Longest User-Agent field.
const USER_AGENT_MAX: usize = 512;

/// Reads the table.
pub(super) fn read(t: &Table<'_, '_>, acceptance: bool) -> Option<Identity> {
    let name_value = t.need("name", "\"Example School Watch\"");
    let name = name_value.as_ref().and_then(Value::words);
    if let (Some(value), Some(name)) = (&name_value, &name) {
        own_name(value, name, acceptance);
    }
    let agent = agent(t, acceptance);
    let robots_agent = t.maybe("robots", |v| {
        let t = v.table()?;
        let agent = self::agent(&t, acceptance);
        t.finish();
        agent
    });
    let operator = t.bilingual("operator");
    let contact_url = t
        .need("contact_url", "\"https://example.org/contact\"")
        .and_then(|v| contact(&v));
    let purpose = t.bilingual("purpose");
    t.finish();
    Some(Identity {
        name: name?,
        agent: agent?,
        robots_agent: robots_agent?,
        operator: operator?,
        contact_url: contact_url?,
        purpose: purpose?,
    })
}

fn agent(t: &Table<'_, '_>, acceptance: bool) -> Option<Agent> {
    let ua_value = t.need(
        "user_agent",
        "\"ExampleBot/1.0 (+https://example.org/bot)\"",
    );
    let token_value = t.need("token", "\"ExampleBot\"");
    let url_value = t.need("policy_url", "\"https://example.org/bot\"");
    let user_agent = ua_value.as_ref().and_then(user_agent);
    let token = token_value.as_ref().and_then(|v| token(v, acceptance));
    let policy_url = url_value.as_ref().and_then(policy_url);
    if let (Some(value), Some(ua), Some(token)) = (&token_value, &user_agent, &token)
        && !bears(ua, token)
    {
        value.wrong::<()>(
            say(
                format!("user_agent に、token `{token}` が語として入っていません。"),
                format!("the token `{token}` is not a word of user_agent"),
            ),
            say(
                format!(
                    "user_agent を `{token}/1.0 (…)` のように始めるか、token を直してください。"
                ),
                format!("begin user_agent like `{token}/1.0 (…)`, or change the token"),
            ),
        );
    }
    if let (Some(value), Some(ua), Some(url)) = (&url_value, &user_agent, &policy_url)
        && !points_to(ua, url)
    {
        value.wrong::<()>(
            say(
                "user_agent に policy_url が入っていません。",
                "policy_url does not stand in user_agent",
            ),
            say(
                format!("user_agent に `+{url}` を入れてください。"),
                format!("put `+{url}` into user_agent"),
            ),
        );
    }
    if let (Some(value), Some(ua)) = (&ua_value, &user_agent) {
        own_name(value, ua, acceptance);
    }
    Some(Agent {
        user_agent: user_agent?,
        token: token?,
        policy_url: policy_url?,
    })
}

/// Whether `token` stands in `ua` as a product token of its own, not as a part of a longer one.
fn bears(ua: &str, token: &str) -> bool {
    let goes_on = |c: Option<char>| c.is_some_and(is_token_char);
    ua.match_indices(token).any(|(at, _)| {
        let before = ua.get(..at).and_then(|s| s.chars().next_back());
        let after = ua.get(at + token.len()..).and_then(|s| s.chars().next());
        !goes_on(before) && !goes_on(after)
    })
}

/// Whether `url` stands in `ua` as a whole, not as the beginning of a longer one.
fn points_to(ua: &str, url: &str) -> bool {
    let ends = |c: char| matches!(c, ' ' | ')' | ']' | '>' | ';' | ',' | '"' | '\'');
    ua.match_indices(url).any(|(at, _)| {
        let after = ua.get(at + url.len()..).and_then(|s| s.chars().next());
        after.is_none_or(ends)
    })
}

/// RFC 9309 section 2.2.1: a product token has letters, `_` and `-` only.
fn is_token_char(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '-'
}

fn user_agent(value: &Value<'_, '_>) -> Option<String> {
    let text = value.text()?;
    let printable = text.chars().all(|c| (' '..='~').contains(&c));
    let framed = text.trim() == text && !text.is_empty() && text.len() <= USER_AGENT_MAX;
    if printable && framed {
        return Some(text.to_owned());
    }
    value.wrong(
        say(
            format!("`{}` は、ヘッダーにそのまま載る1〜{USER_AGENT_MAX}字の印字可能な ASCII でなければなりません（前後の空白なし）。", value.path),
            format!("`{}` must be 1 to {USER_AGENT_MAX} printable ASCII characters without space at its ends", value.path),
        ),
        say(
            "`\"ExampleBot/1.0 (+https://example.org/bot)\"` のように書いてください。",
            "write it like `\"ExampleBot/1.0 (+https://example.org/bot)\"`",
        ),
    )
}

fn token(value: &Value<'_, '_>, acceptance: bool) -> Option<String> {
    let text = value.text()?;
    if text.is_empty() || !text.chars().all(is_token_char) {
        return value.wrong(
            say(
                format!(
                    "`{}` は英字と _ と - だけです（RFC 9309 の product token）。",
                    value.path
                ),
                format!(
                    "`{}` has letters, _ and - only (product token of RFC 9309)",
                    value.path
                ),
            ),
            say(
                "版の番号や空白を外して、`\"ExampleBot\"` のように書いてください。",
                "leave out version and spaces, like `\"ExampleBot\"`",
            ),
        );
    }
    own_name(value, text, acceptance);
    Some(text.to_owned())
}

/// Records that a name is somebody else's.
fn own_name(value: &Value<'_, '_>, text: &str, acceptance: bool) {
    let lower = text.to_lowercase();
    let Some(theirs) = SEED_NAMES
        .iter()
        .find(|name| !acceptance && lower.contains(&name.to_lowercase()))
    else {
        return;
    };
    value.wrong::<()>(
        say(
            format!("`{}`: `{theirs}` はほかの運営者の名前です。", value.path),
            format!("`{}`: `{theirs}` is another operator's name", value.path),
        ),
        say(
            "自分の名前で名乗ってください。試験なら `acceptance = true`（接続先は自機だけ）にします。",
            "go by your own name; for a test, write `acceptance = true` (loopback only)",
        ),
    );
}

fn policy_url(value: &Value<'_, '_>) -> Option<String> {
    let text = value.text()?;
    let web = Url::parse(text).ok().filter(is_plain_web);
    if web.is_some() && text.is_ascii() && !text.contains(char::is_whitespace) {
        return Some(text.to_owned());
    }
    bad_link(value, "https://example.org/bot")
}

fn contact(value: &Value<'_, '_>) -> Option<String> {
    let text = value.text()?;
    let fine = Url::parse(text).is_ok_and(|url| match url.scheme() {
        "https" => is_plain_web(&url),
        "mailto" => url
            .path()
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && host.contains('.')),
        _ => false,
    });
    if fine && !text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Some(text.to_owned());
    }
    bad_link(
        value,
        "https://example.org/contact | mailto:bot@example.org",
    )
}

fn is_plain_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
}

fn bad_link<T>(value: &Value<'_, '_>, example: &str) -> Option<T> {
    let path = &value.path;
    value.wrong(
        say(
            format!("`{path}` は、人が開けるリンクではありません。"),
            format!("`{path}` is not a link that a person can open"),
        ),
        say(
            format!("`{example}` のように書いてください。"),
            format!("write it like `{example}`"),
        ),
    )
}
