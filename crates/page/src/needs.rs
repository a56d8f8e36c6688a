//! Pages that show nothing yet: they want script, a cookie, a login, or a proof of being human.
//!
//! Precise before complete: a wrong "wall" would hide a page that the public can read, so a mark
//! alone (a captcha beside a form, a login link, a protection's script on a working page) never
//! decides; it must come with a page that has next to no text of its own, or with the protection's
//! own words as title. Nothing is done about a wall: it is a refusal, and is recorded as one.

use crate::head::Marks;
use crate::page::{Needs, Page, Region};

/// The most that an "empty" page shows. This and the next are in columns as on a terminal: a
/// Japanese character counts twice, as it says about twice as much.
const EMPTY: usize = 60;
/// The most of a page that does little more than say why it shows nothing.
const NOTICE: usize = 300;
/// The most of a page of a protection, with its own marks.
const WALL: usize = 1200;

/// How a protection is told: a mark in the markup, or the words of its title.
struct Protection {
    name: &'static str,
    /// In the address of a script, frame or form.
    sources: &'static [&'static str],
    /// In an inline script.
    scripts: &'static [&'static str],
    /// Whole ids or class names.
    names: &'static [&'static str],
    /// Starts of titles, in lower case, that these pages have, with any of the marks above.
    titles: &'static [&'static str],
    /// Phrases of its visible text, in lower case, that no page of a site's own would have.
    phrases: &'static [&'static str],
}

const PROTECTIONS: &[Protection] = &[
    Protection {
        name: "Imperva Incapsula",
        sources: &["/_Incapsula_Resource"],
        scripts: &["_Incapsula_Resource"],
        names: &[],
        titles: &[],
        phrases: &["incapsula incident id"],
    },
    Protection {
        name: "Cloudflare",
        sources: &["/cdn-cgi/challenge-platform/", "challenges.cloudflare.com/"],
        scripts: &["_cf_chl_opt", "__cf_chl_"],
        names: &[
            "cf-wrapper",
            "challenge-form",
            "challenge-running",
            "cf-challenge-running",
            "challenge-error-text",
            "cf-error-details",
            "cf-browser-verification",
        ],
        titles: &[
            "just a moment",
            "attention required! | cloudflare",
            "please wait... | cloudflare",
            "しばらくお待ちください",
            "少々お待ちください",
        ],
        phrases: &[
            "checking your browser before accessing",
            "cloudflare ray id",
        ],
    },
    Protection {
        name: "Akamai",
        sources: &["/_sec/cp_challenge/", "/akam/"],
        scripts: &["bm-verify", "_abck", "sec-if-cpt-container"],
        names: &["sec-if-cpt-container", "sec-cpt-if", "sec-container"],
        titles: &["access denied"],
        phrases: &[
            "errors.edgesuite.net",
            "you don't have permission to access \"http",
        ],
    },
    Protection {
        name: "DataDome",
        sources: &["captcha-delivery.com", "ct.captcha-delivery.com"],
        scripts: &["captcha-delivery.com", "var dd={'", "var dd={\""],
        names: &[],
        titles: &[],
        phrases: &[],
    },
    Protection {
        name: "HUMAN PerimeterX",
        sources: &[
            "captcha.px-cdn.net",
            "captcha.px-cloud.net",
            "client.perimeterx.net",
            "captcha.perimeterx.net",
        ],
        scripts: &["_pxAppId", "window._pxUuid", "_pxBlockedUrl"],
        names: &["px-captcha", "px-captcha-wrapper"],
        titles: &["access to this page has been denied", "human verification"],
        phrases: &["press & hold to confirm you are"],
    },
    Protection {
        name: "AWS WAF",
        sources: &[
            "token.awswaf.com",
            "captcha.awswaf.com",
            "/aws-waf-token",
            "awswaf.com/",
        ],
        scripts: &["AwsWafIntegration", "awsWafCookieDomainList", "gokuProps"],
        names: &["challenge-container", "captcha-container"],
        titles: &["human verification"],
        phrases: &[],
    },
    Protection {
        name: "Sucuri",
        sources: &["cdn.sucuri.net/"],
        scripts: &["sucuri_cloudproxy_js", "sucuri_cloudproxy"],
        names: &[],
        titles: &["you are being redirected", "sucuri website firewall"],
        phrases: &["sucuri website firewall - access denied"],
    },
    Protection {
        name: "Kasada",
        sources: &["/ips.js", "/149e9513-01fa-4fb0-aad4-566afd725d1b/"],
        scripts: &["KPSDK"],
        names: &[],
        titles: &[],
        phrases: &[],
    },
    Protection {
        name: "Anubis",
        sources: &["/.within.website/"],
        scripts: &[],
        names: &["anubis_challenge"],
        titles: &[
            "making sure you're not a bot",
            "making sure you&#39;re not a bot",
        ],
        phrases: &["making sure you're not a bot"],
    },
    Protection {
        name: "DDoS-Guard",
        sources: &["/.well-known/ddos-guard/", "check.ddos-guard.net"],
        scripts: &[],
        names: &[],
        titles: &["ddos-guard"],
        phrases: &[],
    },
    Protection {
        name: "captcha",
        sources: &[
            "hcaptcha.com/",
            "recaptcha/api.js",
            "recaptcha/enterprise.js",
            "challenges.cloudflare.com/turnstile",
        ],
        scripts: &[],
        names: &["h-captcha", "g-recaptcha", "cf-turnstile"],
        titles: &[
            "are you a robot",
            "are you human",
            "robot check",
            "captcha",
            "security check",
            "ロボットではありません",
            "認証",
        ],
        phrases: &[
            "i am not a robot",
            "i'm not a robot",
            "verify you are human",
            "verify that you are human",
            "you are not a robot",
            "unusual traffic",
            "私はロボットではありません",
            "ロボットではないことを確認",
            "人間であることを確認",
        ],
    },
];

/// Says that script is wanted.
const SCRIPT_NOTICES: &[&str] = &[
    "enable javascript",
    "javascript is required",
    "javascript is disabled",
    "requires javascript",
    "need to enable javascript",
    "turn on javascript",
    "javascript must be enabled",
    "javascript to be enabled",
    "without javascript",
    "javascriptを有効",
    "javascriptが有効",
    "javascriptが無効",
    "javascriptをオン",
    "javascriptが必要",
    "javascript を有効",
    "javascript が無効",
    "javascript が有効",
    "スクリプトを有効",
];

/// Says that cookies are wanted.
const COOKIE_NOTICES: &[&str] = &[
    "enable cookies",
    "cookies are required",
    "cookies must be enabled",
    "cookies are disabled",
    "requires cookies",
    "your browser does not accept cookies",
    "cookies to be enabled",
    "accept cookies to continue",
    "turn on cookies",
    "cookieを有効",
    "クッキーを有効",
    "cookieが無効",
    "クッキーが無効",
    "cookieを受け入れ",
    "cookieが有効",
    "クッキーが有効",
    "cookie を有効",
    "cookie が無効",
];

/// Asks for a login, as the words of a title or of a short page.
const LOGIN_NOTICES: &[&str] = &[
    "please log in",
    "please login",
    "please sign in",
    "you must be logged in",
    "login required",
    "log in to continue",
    "sign in to continue",
    "authentication required",
    "401 unauthorized",
    "authorization required",
    "you need to log in",
    "you need to sign in",
    "ログインしてください",
    "ログインが必要",
    "サインインしてください",
    "認証が必要",
    "会員専用ページ",
    "ログインして下さい",
];

/// Titles of login pages.
const LOGIN_TITLES: &[&str] = &[
    "log in",
    "login",
    "sign in",
    "signin",
    "ログイン",
    "サインイン",
    "会員ログイン",
    "マイページ ログイン",
];

/// Ids of the empty element that a script fills.
const ROOTS: &[&str] = &[
    "root",
    "app",
    "__next",
    "__nuxt",
    "___gatsby",
    "app-root",
    "react-root",
    "svelte",
    "main-app",
    "gatsby-focus-wrapper",
    "q-app",
    "ember-app",
];

/// Ids of the data that a script would show.
const STATES: &[&str] = &["__NEXT_DATA__", "__NUXT_DATA__"];

/// What the page needs, if it shows nothing of its own.
pub(crate) fn needs(page: &Page, marks: &Marks<'_>) -> Option<Needs> {
    let seen = Seen::of(page, marks);
    challenge(&seen).map(Needs::Challenge).or_else(|| {
        if seen.shown <= NOTICE && seen.links <= 5 && seen.says(COOKIE_NOTICES) {
            Some(Needs::CookieWall)
        } else if login(page, &seen) {
            Some(Needs::Login)
        } else if script(&seen) {
            Some(Needs::Script)
        } else {
            None
        }
    })
}

/// A page as a detector sees it.
struct Seen<'a> {
    marks: &'a Marks<'a>,
    /// Columns of visible text, white space left out.
    shown: usize,
    /// The visible text of a short page in lower case; empty for a long one.
    text: String,
    noscript: String,
    title: String,
    links: usize,
}

impl<'a> Seen<'a> {
    fn of(page: &Page, marks: &'a Marks<'a>) -> Self {
        let shown = page.blocks.iter().map(|block| columns(&block.text)).sum();
        let text = if shown <= WALL {
            page.text().to_lowercase()
        } else {
            String::new()
        };
        Self {
            marks,
            shown,
            text,
            noscript: marks.noscript.to_lowercase(),
            title: page.title.as_deref().unwrap_or_default().to_lowercase(),
            links: page.links.len(),
        }
    }

    /// The page's own text, or what it says to those without script, holds one of the phrases.
    fn says(&self, phrases: &[&str]) -> bool {
        phrases
            .iter()
            .any(|p| self.text.contains(p) || self.noscript.contains(p))
    }

    fn shows(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|p| self.text.contains(p))
    }

    fn has_mark(&self, protection: &Protection) -> bool {
        let within = |places: &[&str], words: &[&str]| {
            places
                .iter()
                .any(|place| words.iter().any(|word| place.contains(word)))
        };
        within(&self.marks.sources, protection.sources)
            || within(&self.marks.scripts, protection.scripts)
            || self
                .marks
                .names
                .iter()
                .any(|name| protection.names.contains(name))
    }
}

fn columns(text: &str) -> usize {
    let width = |c: char| {
        if c.is_whitespace() {
            0
        } else {
            1 + usize::from(c >= '\u{1100}')
        }
    };
    text.chars().map(width).sum()
}

fn challenge(seen: &Seen<'_>) -> Option<&'static str> {
    if seen.shown > WALL {
        return None;
    }
    let by = PROTECTIONS.iter().find(|protection| {
        let marked = seen.has_mark(protection);
        let titled = protection
            .titles
            .iter()
            .any(|title| seen.title.starts_with(title));
        let worded = seen.shows(protection.phrases);
        if protection.name == "captcha" {
            // Captchas are everywhere: the page must consist of one.
            return marked
                && seen.marks.other_fields == 0
                && seen.marks.password_fields == 0
                && seen.shown <= 2 * NOTICE
                && seen.links <= 5
                && (titled || worded || seen.shown <= EMPTY);
        }
        (marked && (titled || worded || seen.shown <= EMPTY))
            || (worded && seen.shown <= 2 * NOTICE && seen.links <= 5)
    });
    by.map(|protection| protection.name)
}

/// The password field is in the page's main content, and there is little besides.
fn login(page: &Page, seen: &Seen<'_>) -> bool {
    let own = page.blocks.iter().filter(|block| {
        !matches!(
            block.at.region,
            Region::Nav | Region::Header | Region::Footer | Region::Aside
        )
    });
    let own: usize = own.map(|block| columns(&block.text)).sum();
    let titled = LOGIN_TITLES.iter().any(|title| {
        seen.title.starts_with(title)
            || seen
                .title
                .split([
                    '|', '-', '－', '｜', '/', '—', '–', ':', '：', '【', '】', ' ',
                ])
                .any(|part| part.trim() == *title)
    });
    let asked = seen.shown <= 2 * NOTICE && seen.shows(LOGIN_NOTICES);
    match seen.marks.password_fields {
        // Two or more are a registration form or a change of password.
        1 => (titled && own <= WALL) || asked || own <= EMPTY,
        0 => asked && (seen.links <= 5 || titled) && seen.shown <= NOTICE,
        _ => titled && own <= 2 * NOTICE,
    }
}

fn script(seen: &Seen<'_>) -> bool {
    let scripted = !seen.marks.scripts.is_empty()
        || seen
            .marks
            .sources
            .iter()
            .any(|source| source.contains(".js"));
    let rooted = seen.marks.names.iter().any(|name| ROOTS.contains(name));
    let stated = seen.marks.names.iter().any(|name| STATES.contains(name));
    let said = seen.says(SCRIPT_NOTICES);
    let empty = seen.shown <= EMPTY;
    // A notice on an otherwise working page is common; it decides only where little else is shown.
    (empty && scripted && (rooted || said || seen.shown == 0))
        || (said && seen.shows(SCRIPT_NOTICES) && seen.shown <= NOTICE && seen.links <= 5)
        || (empty && (said || stated))
}
