//! Machine-readable wishes of a publisher about the use of a page, from headers and markup.
//!
//! Kept as found; which of them a run follows is not decided here. Sources: X-Robots-Tag and
//! `meta name=robots` (REP extensions, with `noai` and `noimageai` among the directives), TDM
//! Reservation Protocol (W3C TDMRep: `tdm-reservation`, `tdm-policy`), Content-Usage (IETF AIPREF),
//! Content-Signal, and `rel=license` (RSL names a licence file so).

use serde::Serialize;

use crate::line::cut;

/// One signal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case", tag = "signal")]
pub enum Signal {
    /// A robots directive such as `noindex`, `noarchive` or `max-snippet:50`, in lower case, and
    /// the product token it is for (`None`: every robot).
    Robots {
        agent: Option<String>,
        directive: String,
    },
    /// `noai`: not for training of AI.
    NoAi { agent: Option<String> },
    /// `noimageai`: its images not for training of AI.
    NoImageAi { agent: Option<String> },
    /// TDM rights: reserved (`1`) or not (`0`).
    TdmReservation { reserved: bool },
    /// Where the publisher's TDM policy is.
    TdmPolicy { url: String },
    /// A Content-Usage value, as written.
    ContentUsage { value: String },
    /// A Content-Signal value, as written.
    ContentSignal { value: String },
    /// A licence of the page; `mime` tells an RSL file (`application/rsl+xml`).
    License { url: String, mime: Option<String> },
}

impl std::fmt::Display for Signal {
    /// The short form that is kept with a snapshot: `noindex`, `mybot:noarchive`,
    /// `tdm-reservation=1`, `license=https://…`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = |agent: &Option<String>, what: &str| match agent {
            Some(agent) => format!("{agent}:{what}"),
            None => what.to_owned(),
        };
        let text = match self {
            Signal::Robots { agent, directive } => named(agent, directive),
            Signal::NoAi { agent } => named(agent, "noai"),
            Signal::NoImageAi { agent } => named(agent, "noimageai"),
            Signal::TdmReservation { reserved } => {
                format!("tdm-reservation={}", u8::from(*reserved))
            }
            Signal::TdmPolicy { url } => format!("tdm-policy={url}"),
            Signal::ContentUsage { value } => format!("content-usage={value}"),
            Signal::ContentSignal { value } => format!("content-signal={value}"),
            Signal::License { url, .. } => format!("license={url}"),
        };
        f.write_str(&text)
    }
}

/// The longest value kept, in bytes.
const VALUE: usize = 1000;
/// Directives that take a value after a colon; any other word before one is an agent's name.
const VALUED: [&str; 4] = [
    "max-snippet",
    "max-image-preview",
    "max-video-preview",
    "unavailable_after",
];
/// `<meta name>`s about a page that are not names of robots.
const OTHER_NAMES: [&str; 12] = [
    "viewport",
    "description",
    "keywords",
    "author",
    "generator",
    "referrer",
    "theme-color",
    "format-detection",
    "copyright",
    "rating",
    "title",
    "application-name",
];

/// The signals in the headers of an answer, in order; repeated headers add up.
pub fn signals_from_headers(headers: &[(&str, &str)]) -> Vec<Signal> {
    let mut signals = Vec::new();
    for (name, value) in headers {
        let value = cut(value.trim(), VALUE);
        match name.to_ascii_lowercase().as_str() {
            "x-robots-tag" => robots_header(value, &mut signals),
            "link" => links(value, &mut signals),
            "content-usage" => signals.push(Signal::ContentUsage {
                value: value.to_owned(),
            }),
            "content-signal" => signals.push(Signal::ContentSignal {
                value: value.to_owned(),
            }),
            name => signals.extend(tdm(name, value)),
        }
    }
    signals
}

/// The signals of a `<meta name content>`.
pub(crate) fn from_meta(name: &str, content: &str, signals: &mut Vec<Signal>) {
    let name = name.trim().to_ascii_lowercase();
    let content = cut(content.trim(), VALUE);
    match name.as_str() {
        "robots" => directives(None, content, signals),
        "content-usage" => signals.push(Signal::ContentUsage {
            value: content.to_owned(),
        }),
        "content-signal" => signals.push(Signal::ContentSignal {
            value: content.to_owned(),
        }),
        _ => match tdm(&name, content) {
            Some(signal) => signals.push(signal),
            // A name of a robot, told by what is said: all of it known directives.
            None if is_agent(&name) && content.split(',').all(is_directive) => {
                directives(Some(&name), content, signals);
            }
            None => {}
        },
    }
}

/// The signal of a `<link rel=license>`.
pub(crate) fn from_link(href: &str, mime: Option<&str>) -> Signal {
    Signal::License {
        url: cut(href.trim(), VALUE).to_owned(),
        mime: mime.map(str::to_owned),
    }
}

fn tdm(name: &str, value: &str) -> Option<Signal> {
    match name {
        "tdm-reservation" => match value {
            "1" => Some(Signal::TdmReservation { reserved: true }),
            "0" => Some(Signal::TdmReservation { reserved: false }),
            _ => None,
        },
        "tdm-policy" => Some(Signal::TdmPolicy {
            url: value.to_owned(),
        }),
        _ => None,
    }
}

/// `googlebot: noindex, nofollow` or `noindex, unavailable_after: …`.
fn robots_header(value: &str, signals: &mut Vec<Signal>) {
    let (agent, rest) = match value.split_once(':') {
        Some((agent, rest)) if is_agent(agent.trim()) => (Some(agent.trim()), rest),
        _ => (None, value),
    };
    directives(agent, rest, signals);
}

fn is_agent(name: &str) -> bool {
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    !name.is_empty()
        && name.bytes().all(word)
        && !VALUED
            .iter()
            .chain(&OTHER_NAMES)
            .any(|known| known.eq_ignore_ascii_case(name))
}

fn is_directive(word: &str) -> bool {
    const KNOWN: [&str; 14] = [
        "all",
        "none",
        "index",
        "noindex",
        "follow",
        "nofollow",
        "noarchive",
        "nocache",
        "nosnippet",
        "noimageindex",
        "notranslate",
        "noai",
        "noimageai",
        "indexifembedded",
    ];
    let word = word.trim();
    let name = word.split(':').next().unwrap_or_default().trim();
    KNOWN
        .iter()
        .chain(&VALUED)
        .any(|known| known.eq_ignore_ascii_case(name))
}

fn directives(agent: Option<&str>, list: &str, signals: &mut Vec<Signal>) {
    let agent = agent.map(str::to_ascii_lowercase);
    for directive in list.split(',').map(|d| d.trim().to_ascii_lowercase()) {
        let agent = agent.clone();
        match directive.as_str() {
            "" => {}
            "noai" => signals.push(Signal::NoAi { agent }),
            "noimageai" => signals.push(Signal::NoImageAi { agent }),
            _ => signals.push(Signal::Robots { agent, directive }),
        }
    }
}

/// The `rel=license` targets of a Link header (RFC 8288).
fn links(value: &str, signals: &mut Vec<Signal>) {
    let mut rest = value;
    while let Some((_, link)) = rest.split_once('<') {
        let Some((url, parameters)) = link.split_once('>') else {
            return;
        };
        let end = parameters.find(",<").or_else(|| parameters.find(", <"));
        let (own, tail) = parameters.split_at(end.unwrap_or(parameters.len()));
        rest = tail;
        let parameter = |wanted: &str| {
            own.split(';').find_map(|p| {
                let (name, value) = p.split_once('=')?;
                let value = value.trim().trim_matches('"');
                name.trim().eq_ignore_ascii_case(wanted).then_some(value)
            })
        };
        let rel = parameter("rel").unwrap_or_default();
        if rel
            .split_ascii_whitespace()
            .any(|r| r.eq_ignore_ascii_case("license"))
        {
            signals.push(from_link(url, parameter("type")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn robots(agent: Option<&str>, directive: &str) -> Signal {
        Signal::Robots {
            agent: agent.map(str::to_owned),
            directive: directive.to_owned(),
        }
    }

    #[test]
    fn headers_carry_signals() {
        let license = |url: &str, mime: Option<&str>| from_link(url, mime);
        let cases: [(&str, &str, Vec<Signal>); 12] = [
            (
                "X-Robots-Tag",
                "noindex, NoFollow",
                vec![robots(None, "noindex"), robots(None, "nofollow")],
            ),
            (
                "x-robots-tag",
                "OtherBot: noindex, noai",
                vec![
                    robots(Some("otherbot"), "noindex"),
                    Signal::NoAi {
                        agent: Some("otherbot".into()),
                    },
                ],
            ),
            (
                "X-Robots-Tag",
                "max-snippet: 50",
                vec![robots(None, "max-snippet: 50")],
            ),
            (
                "X-Robots-Tag",
                "noimageai",
                vec![Signal::NoImageAi { agent: None }],
            ),
            (
                "tdm-reservation",
                "1",
                vec![Signal::TdmReservation { reserved: true }],
            ),
            (
                "TDM-Reservation",
                " 0 ",
                vec![Signal::TdmReservation { reserved: false }],
            ),
            ("tdm-reservation", "yes", vec![]),
            (
                "tdm-policy",
                "https://a.example/p",
                vec![Signal::TdmPolicy {
                    url: "https://a.example/p".into(),
                }],
            ),
            (
                "Content-Usage",
                "train-ai=n",
                vec![Signal::ContentUsage {
                    value: "train-ai=n".into(),
                }],
            ),
            (
                "Content-Signal",
                "ai-train=no",
                vec![Signal::ContentSignal {
                    value: "ai-train=no".into(),
                }],
            ),
            (
                "Link",
                "</a.css>; rel=preload, </l.xml>; rel=\"license\"; type=\"application/rsl+xml\"",
                vec![license("/l.xml", Some("application/rsl+xml"))],
            ),
            ("Link", "</l>; rel", vec![]),
        ];
        for (name, value, want) in cases {
            assert_eq!(
                signals_from_headers(&[(name, value)]),
                want,
                "{name}: {value}"
            );
        }
    }

    #[test]
    fn a_meta_of_a_robot_is_told_from_other_metas() {
        let cases: [(&str, &str, usize); 6] = [
            ("ROBOTS", "NOINDEX,NOFOLLOW", 2),
            ("somebot", "noindex", 1),
            ("description", "noindex", 0),
            ("somebot", "not a directive", 0),
            ("robots", "noai, noimageai", 2),
            ("robots", "", 0),
        ];
        for (name, content, count) in cases {
            let mut signals = Vec::new();
            from_meta(name, content, &mut signals);
            assert_eq!(signals.len(), count, "{name}: {content}");
        }
    }
}
