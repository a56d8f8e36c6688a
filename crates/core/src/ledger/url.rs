//! URLs of a ledger: written so that what is stored is what is asked for.
//!
//! The URL standard mends much in silence (backslashes, missing slashes, spaces at the ends). A
//! ledger is read by people too, so what would be mended is refused with its remedy.

use url::Url;

use crate::charter::Bilingual;
use crate::charter::problem::say;
use crate::host::Host;

/// Longest URL (DECISIONS 2).
const URL_MAX: usize = 8 << 10;

/// Whether a URL may end in `#…`, which never reaches a server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fragment {
    Allowed,
    Refused,
}

/// An absolute http(s) URL that can be asked for as it is written, or what is wrong with it.
pub(super) fn web_url(text: &str, fragment: Fragment) -> Result<Url, (Bilingual, Bilingual)> {
    let wrong = |what: Bilingual, remedy: Bilingual| {
        let shown: String = text.chars().take(80).filter(|c| !c.is_control()).collect();
        Err((
            say(
                format!("`{shown}`: {}", what.ja),
                format!("`{shown}`: {}", what.en),
            ),
            remedy,
        ))
    };
    let example = || {
        say(
            "`https://www.example.org/prices` のように書いてください。",
            "write it like `https://www.example.org/prices`",
        )
    };
    if text.len() > URL_MAX {
        return wrong(
            say("URL が 8KiB を超えています。", "a URL has at most 8 KiB"),
            example(),
        );
    }
    if text
        .chars()
        .any(|c| c.is_whitespace() || c.is_control() || c == '\\')
    {
        return wrong(
            say(
                "URL に空白、制御文字、\\ は書けません。",
                "a URL has no space, control character or backslash",
            ),
            say(
                "取り除くか、%20 のように書いてください。",
                "take it out, or write it like %20",
            ),
        );
    }
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    let scheme = ["https://", "http://"]
        .into_iter()
        .find(|s| lower.starts_with(s));
    let Some(rest) = scheme.and_then(|s| text.get(s.len()..)) else {
        return wrong(
            say(
                "http か https の完全な URL ではありません。",
                "not a whole http or https URL",
            ),
            example(),
        );
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return wrong(
            say(
                "URL に利用者名やパスワードは書けません。",
                "a URL has no user name or password",
            ),
            say(
                "@ までを取り除いてください。",
                "take out everything up to the @",
            ),
        );
    }
    let url = match Url::parse(text) {
        Ok(url) if !authority.is_empty() && Host::of(&url).is_some() => url,
        _ => {
            return wrong(
                say(
                    "ホスト名またはポートが正しくありません。",
                    "its host or port is not valid",
                ),
                example(),
            );
        }
    };
    if fragment == Fragment::Refused && url.fragment().is_some() {
        return wrong(
            say(
                "# から後ろはサーバーに届かないので書けません。",
                "what follows # never reaches the server",
            ),
            say(
                "# から後ろを取り除いてください。",
                "take out the # and what follows",
            ),
        );
    }
    Ok(url)
}
