//! What stands on the page and in which order: promises by topic, and the words between them.

use super::document::{Block, Line, Row, Section, Sentence, code, link, text};
use super::example::{self, BadExample};
use super::stored::Stored;
use super::words;
use super::{AuditFigures, PageFacts, Standing};
use crate::charter::{Bilingual, Charter, Lang, ReleaseKind, RequestKind};
use crate::promise::{PROMISES, Promise};

/// Sections of the page, in its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Topic {
    Who,
    Stop,
    Ask,
    Robots,
    Pace,
    Failures,
    Data,
    Publication,
    More,
    Declared,
    Record,
}

const TOPICS: [Topic; 11] = [
    Topic::Who,
    Topic::Stop,
    Topic::Ask,
    Topic::Robots,
    Topic::Pace,
    Topic::Failures,
    Topic::Data,
    Topic::Publication,
    Topic::More,
    Topic::Declared,
    Topic::Record,
];

impl Topic {
    /// Where a promise stands; one that this page does not know goes to a section of its own.
    fn of(promise: &dyn Promise) -> Self {
        if promise.prove().is_none() {
            return Self::Declared;
        }
        match promise.id() {
            "identity" => Self::Who,
            "opt-out" | "objection" | "restriction" => Self::Stop,
            "scope" | "public-only" | "terms" | "login" | "login-and-forms" | "target-counts"
            | "images" => Self::Ask,
            "crawl-delay" => Self::Robots,
            id if id.starts_with("robots") => Self::Robots,
            "interval" | "global-interval" | "connections" | "page-budget" | "cadence"
            | "conditional" | "load" | "slow" => Self::Pace,
            "backoff" | "retry-after" | "auto-pause" | "no-evasion" | "limits" | "timeout"
            | "size" | "safe-redirect" => Self::Failures,
            "evidence"
            | "retention"
            | "page-signals"
            | "signals"
            | "extraction"
            | "facts-only-evidence" => Self::Data,
            "review" | "provenance" | "typed-facts-only" | "no-redistribution" | "release" => {
                Self::Publication
            }
            _ => Self::More,
        }
    }

    fn anchor(self) -> &'static str {
        match self {
            Self::Who => "about",
            Self::Stop => "stop",
            Self::Ask => "requests",
            Self::Robots => "robots",
            Self::Pace => "pace",
            Self::Failures => "failures",
            Self::Data => "data",
            Self::Publication => "publication",
            Self::More => "more",
            Self::Declared => "declared",
            Self::Record => "record",
        }
    }

    fn title(self, lang: Lang) -> &'static str {
        let (ja, en) = match self {
            Self::Who => ("だれが、何のために", "Who we are and what for"),
            Self::Stop => ("止めかた・お問い合わせ", "How to stop it, and whom to ask"),
            Self::Ask => ("取得するもの", "What we ask for"),
            Self::Robots => ("robots.txt の扱い", "How robots.txt is followed"),
            Self::Pace => ("間隔と頻度", "Pace"),
            Self::Failures => ("うまくいかないとき", "When something fails"),
            Self::Data => ("保存するもの", "What is kept"),
            Self::Publication => ("公開するもの", "What is published"),
            Self::More => ("そのほかの約束", "Other promises"),
            Self::Declared => ("宣言", "Declared"),
            Self::Record => ("このページの記録", "Record of this page"),
        };
        pick(lang, ja, en)
    }
}

fn pick(lang: Lang, ja: &'static str, en: &'static str) -> &'static str {
    match lang {
        Lang::Ja => ja,
        Lang::En => en,
    }
}

pub(super) fn title(charter: &Charter, lang: Lang) -> String {
    let name = &charter.identity.name;
    match lang {
        Lang::Ja => format!("{name} クローラーポリシー"),
        Lang::En => format!("{name}: crawler policy"),
    }
}

pub(super) fn lead(charter: &Charter, lang: Lang) -> String {
    let name = &charter.identity.name;
    let operator = charter.identity.operator.get(lang);
    match lang {
        Lang::Ja => format!(
            "{name}は、{operator}が運用する自動取得プログラム（クローラー）です。公開ページの変化を、サイトの決まりと負荷に気をつけながら確かめます。何を、どんな間隔で、どう名乗って取りに行くのか、その止めかたを、ここにすべて書いています。"
        ),
        Lang::En => format!(
            "{name} is an automatic reader (a crawler) run by {operator}. It checks public pages for changes, with regard for each site's rules and load. This page says all of it: what it asks for, how often, under which name, and how to stop it."
        ),
    }
}

/// The few facts that most readers came for.
pub(super) fn glance(charter: &Charter, facts: &PageFacts, lang: Lang) -> Vec<Row> {
    let row = |ja, en, line| Row {
        term: pick(lang, ja, en).to_owned(),
        line,
    };
    let interval = words::span(charter.pace.interval_min, lang);
    // The engine asks one thing at a time of a host, whatever ceiling the charter states.
    let pace = match lang {
        Lang::Ja => format!("{interval}以上・同時に1件"),
        Lang::En => format!("at least {interval}, one request at a time"),
    };
    let targets = match (lang, &facts.ledger) {
        (Lang::Ja, None) => "認証なしで読める公開ページ".to_owned(),
        (Lang::En, None) => "public pages that need no sign-in".to_owned(),
        (Lang::Ja, Some(n)) => format!(
            "認証なしで読める公開ページ{}件（対象{}件、{}ホスト）",
            words::count(n.pages),
            words::count(n.targets),
            words::count(n.hosts)
        ),
        (Lang::En, Some(n)) => format!(
            "{} that need no sign-in ({}, {})",
            words::plural(n.pages, "public page"),
            words::plural(n.targets, "target"),
            words::plural(n.hosts, "host")
        ),
    };
    vec![
        row(
            "更新日",
            "Updated",
            text(words::date(&charter.updated, lang)),
        ),
        row("ホストごとの間隔", "Interval on a host", text(pace)),
        row("対象", "Targets", text(targets)),
        row(
            "robots.txt での名前",
            "Name in robots.txt",
            code(charter.identity.agent.token.as_str()),
        ),
    ]
}

pub(super) fn sections(
    charter: &Charter,
    facts: &PageFacts,
    lang: Lang,
) -> Result<Vec<Section>, BadExample> {
    let mut sections = Vec::with_capacity(TOPICS.len());
    for topic in TOPICS {
        let blocks = blocks(topic, charter, facts, lang)?;
        if !blocks.is_empty() {
            sections.push(Section {
                anchor: topic.anchor(),
                title: topic.title(lang).to_owned(),
                blocks,
            });
        }
    }
    Ok(sections)
}

fn blocks(
    topic: Topic,
    charter: &Charter,
    facts: &PageFacts,
    lang: Lang,
) -> Result<Vec<Block>, BadExample> {
    let mut blocks = match topic {
        Topic::Who => who(charter, lang),
        Topic::Stop => stop(charter, lang)?,
        Topic::Ask => ask(charter, lang),
        Topic::Data => data(charter, lang),
        Topic::Publication => publication(charter, lang),
        Topic::Record => record(charter, facts, lang),
        Topic::Robots | Topic::Pace | Topic::Failures | Topic::More | Topic::Declared => Vec::new(),
    };
    let promises = promises(topic, charter, facts.audit.as_ref(), lang);
    if !promises.is_empty() {
        if topic == Topic::Declared {
            blocks.push(paragraph(
                lang,
                "次のことは、プログラムでは証明できません。運用者としてのお約束です。",
                "No program can prove these. They are our word as the operator.",
            ));
        }
        blocks.push(Block::Promises(promises));
    }
    Ok(blocks)
}

fn paragraph(lang: Lang, ja: &'static str, en: &'static str) -> Block {
    Block::Paragraph(text(pick(lang, ja, en)))
}

fn promises(
    topic: Topic,
    charter: &Charter,
    audit: Option<&AuditFigures>,
    lang: Lang,
) -> Vec<Sentence> {
    let made = PROMISES
        .iter()
        .filter(|promise| Topic::of(**promise) == topic)
        .filter_map(|promise| {
            let declared = promise.prove().is_none().then_some(Standing::Declared);
            let standing = audit.and_then(|a| a.promises.get(promise.id())).copied();
            Some(Sentence {
                anchor: promise.id().to_owned(),
                title: promise.title(lang).to_owned(),
                text: promise.say(charter, lang)?,
                standing: declared
                    .or(standing)
                    .map(|s| (s, standing_in_words(s, lang))),
            })
        });
    let mut sentences: Vec<_> = made.collect();
    if topic == Topic::Declared {
        sentences.extend(charter.declared.iter().map(|declared| Sentence {
            anchor: format!("declared-{}", declared.id),
            title: String::new(),
            text: declared.text.get(lang).to_owned(),
            standing: Some((
                Standing::Declared,
                standing_in_words(Standing::Declared, lang),
            )),
        }));
    }
    sentences
}

/// A standing as a sentence: a colour or a sign alone says nothing.
fn standing_in_words(standing: Standing, lang: Lang) -> String {
    let Standing::Checked {
        kept,
        broken,
        undecidable,
    } = standing
    else {
        return pick(
            lang,
            "宣言（プログラムでは証明できません）",
            "Declared (no program can prove it)",
        )
        .to_owned();
    };
    let checks = words::count(kept + broken);
    let mut said = match (kept + broken, broken, lang) {
        (0, _, Lang::Ja) => "監査：まだ判定した件はありません".to_owned(),
        (0, _, Lang::En) => "Audit: nothing to check yet".to_owned(),
        (_, 0, Lang::Ja) => format!("監査：{checks}件すべて守られています"),
        (_, 0, Lang::En) => format!("Audit: kept, {}", words::plural(kept, "check")),
        (_, _, Lang::Ja) => format!(
            "監査：{checks}件のうち{}件で守れませんでした",
            words::count(broken)
        ),
        (_, _, Lang::En) => format!(
            "Audit: broken in {} of {checks} checks",
            words::count(broken)
        ),
    };
    if undecidable > 0 {
        let n = words::count(undecidable);
        said.push_str(&match lang {
            Lang::Ja => format!("。ほかに{n}件は判定できません"),
            Lang::En => format!("; {n} more cannot be decided"),
        });
    }
    said
}

fn who(charter: &Charter, lang: Lang) -> Vec<Block> {
    let identity = &charter.identity;
    let row = |ja, en, line| Row {
        term: pick(lang, ja, en).to_owned(),
        line,
    };
    let mut blocks = vec![Block::Rows(vec![
        row("名前", "Name", text(identity.name.as_str())),
        row("運営", "Operator", text(identity.operator.get(lang))),
        row("目的", "Purpose", text(identity.purpose.get(lang))),
        row("お問い合わせ", "Contact", contact(charter, lang)),
    ])];
    let ua = |ja, en, user_agent: &str| Block::Code {
        says: pick(lang, ja, en).to_owned(),
        text: user_agent.to_owned(),
    };
    match &identity.robots_agent {
        None => blocks.push(ua(
            "すべてのリクエストに、次の User-Agent を付けます。アクセスログで見分けるためにも、ログの照合やご質問の際にもお使いいただけます。",
            "Every request carries this User-Agent. It marks our requests in your access log; quote it when you ask us to match a log or have a question.",
            &identity.agent.user_agent,
        )),
        Some(robots) => {
            blocks.push(ua(
                "ページへのリクエストに付ける User-Agent です。アクセスログで見分けるためにも、ログの照合やご質問の際にもお使いいただけます。",
                "Requests for pages carry this User-Agent. It marks our requests in your access log; quote it when you ask us to match a log or have a question.",
                &identity.agent.user_agent,
            ));
            blocks.push(ua(
                "robots.txt へのリクエストに付ける User-Agent です。",
                "Requests for robots.txt carry this User-Agent.",
                &robots.user_agent,
            ));
        }
    }
    blocks
}

fn contact(charter: &Charter, lang: Lang) -> Line {
    let href = charter.identity.contact_url.as_str();
    let shown = href.strip_prefix("mailto:").unwrap_or(href);
    let _ = lang;
    link(href, shown)
}

fn stop(charter: &Charter, lang: Lang) -> Result<Vec<Block>, BadExample> {
    let token = &charter.identity.agent.token;
    let mut blocks = vec![Block::Paragraph(text(match lang {
        Lang::Ja => format!(
            "サイトの robots.txt に、{token} あての指定を書いてください。次に読みに行ったときから従います。{token} だけで足り、版の番号やURLは要りません。ほかのクローラーには影響しません。"
        ),
        Lang::En => format!(
            "Write a group for {token} into your site's robots.txt. We follow it from our next reading on. The name {token} is enough, without version or URL, and no other crawler is affected."
        ),
    }))];
    for example in example::examples(charter, lang)? {
        blocks.push(Block::Code {
            says: example.says,
            text: example.text,
        });
    }
    let href = charter.identity.contact_url.as_str();
    let mut write = text(pick(
        lang,
        "robots.txt を変えられない場合や、書いても止まらない場合は、URLとご希望（停止・削除など）を添えてご連絡ください。停止のご依頼を受けたURLは、確認のうえ、すみやかに対象から外します。保存したものの削除もご相談ください。連絡先：",
        "If you cannot change robots.txt, or it does not help, write to us with the URL and what you wish (to stop, to delete). A URL that we are asked to leave alone is taken out promptly once we have confirmed it. We also answer requests to delete what is stored. Contact: ",
    ));
    write.extend(link(href, href.strip_prefix("mailto:").unwrap_or(href)));
    blocks.push(Block::Paragraph(write));
    Ok(blocks)
}

/// One sentence a kind of request: a kind without one does not compile.
fn request_in_words(kind: RequestKind) -> Bilingual {
    let (ja, en) = match kind {
        RequestKind::Robots => (
            "対象ホストの /robots.txt（取得してよいかを判断するため）",
            "/robots.txt of the host (to learn whether we may ask)",
        ),
        RequestKind::Page => (
            "一覧に載せた公開ページ（変更の有無を判定するのに必要な範囲）",
            "listed public pages (as far as needed to tell whether they changed)",
        ),
    };
    Bilingual {
        ja: ja.to_owned(),
        en: en.to_owned(),
    }
}

fn ask(charter: &Charter, lang: Lang) -> Vec<Block> {
    let kinds = [RequestKind::Robots, RequestKind::Page];
    let requests = kinds.map(|kind| text(request_in_words(kind).get(lang)));
    let mut not: Vec<Line> = match lang {
        Lang::Ja => [
            "会員ページ、管理画面など、ログインが要る場所",
            "会員登録やフォーム送信の先にあるページ、CAPTCHA の先にあるページ",
            "公開されていないファイル",
            "ページに埋め込まれた画像やスクリプト",
        ],
        Lang::En => [
            "member pages, administration pages, anything behind a login",
            "pages behind a registration, a submitted form or a CAPTCHA",
            "files that are not public",
            "images and scripts embedded in a page",
        ],
    }
    .map(text)
    .to_vec();
    if charter.terms.is_some() {
        not.push(text(pick(
            lang,
            "利用規約で自動取得を断っているサイト、停止を求められたサイト（公開ページでも対象から外します）",
            "sites whose terms of use refuse automatic reading, and sites that asked us to stop (public pages, too)",
        )));
    }
    vec![
        paragraph(
            lang,
            "開けるページだからといって、取ってよいとは考えません。サイトの公開条件と robots.txt、取りに行く頻度、返ってきた応答を見て、やめるべきだと判断したら取得しません。",
            "That a page can be opened does not make it ours to take. We look at the site's terms, its robots.txt, how often we come and what it answers; where these say stop, we do not fetch.",
        ),
        Block::Heading(pick(lang, "取りに行くもの", "We ask for").to_owned()),
        Block::List(requests.to_vec()),
        Block::Heading(pick(lang, "取りに行かないもの", "We do not ask for").to_owned()),
        Block::List(not),
    ]
}

fn data(charter: &Charter, lang: Lang) -> Vec<Block> {
    let rows = Stored::ALL.iter().map(|stored| {
        let (name, what) = stored.say(charter, lang);
        vec![text(name), text(what)]
    });
    let not_kept: [&str; 4] = match lang {
        Lang::Ja => [
            "ログイン後の内容、CAPTCHA の先にある情報",
            "非公開のファイル",
            "フォームに入力された内容",
            "パスワードなどの認証情報、Cookie",
        ],
        Lang::En => [
            "content behind a login or a CAPTCHA",
            "files that are not public",
            "what people type into forms",
            "passwords and other credentials, cookies",
        ],
    };
    vec![
        Block::Table {
            caption: pick(lang, "保存するものの一覧", "Everything that is kept").to_owned(),
            head: vec![
                pick(lang, "種類", "Kind").to_owned(),
                pick(lang, "内容", "Content").to_owned(),
            ],
            rows: rows.collect(),
        },
        paragraph(
            lang,
            "変更を正しく確かめるために、ページの本文を保存します。公開ページに個人情報が載っていれば、それも内部の控えに含まれることがあります。保存したものを読める人と、外に公開する範囲は分けています。使いみちは、このページに書いた目的に必要なことだけです。",
            "To check changes correctly we keep the body of a page. Where a public page shows personal data, our internal copy may hold it, too. Who may read what is stored is kept apart from what is published, and it is used only as the purpose on this page needs.",
        ),
        Block::Heading(pick(lang, "保存しないもの", "What is not kept").to_owned()),
        Block::List(not_kept.map(text).to_vec()),
    ]
}

fn publication(charter: &Charter, lang: Lang) -> Vec<Block> {
    let kind = |kind: &ReleaseKind| {
        text(match (kind, lang) {
            (ReleaseKind::Facts, Lang::Ja) => {
                "人が確認した事実（確認日時と公式ページのURLを添えます）"
            }
            (ReleaseKind::Facts, Lang::En) => {
                "facts that a person confirmed, with the date and time of the confirmation and the official page's URL"
            }
            (ReleaseKind::Summaries, Lang::Ja) => {
                "人が確認した変更の短い要約（確認日時と公式ページのURLを添えます）"
            }
            (ReleaseKind::Summaries, Lang::En) => {
                "short summaries of changes that a person confirmed, with date, time and the official page's URL"
            }
        })
    };
    if charter.release.is_empty() {
        return vec![paragraph(
            lang,
            "集めたものは公開しません。",
            "Nothing of what is collected is published.",
        )];
    }
    vec![
        paragraph(
            lang,
            "外に出すのは次のものだけです。公式ページの全文や本文の控えを配り直すことはありません。",
            "Only these leave the house. Neither the full text of an official page nor our copies of it are passed on.",
        ),
        Block::List(charter.release.iter().map(kind).collect()),
    ]
}

fn record(charter: &Charter, facts: &PageFacts, lang: Lang) -> Vec<Block> {
    let mut rows = vec![
        Row {
            term: pick(lang, "最終更新日", "Last updated").to_owned(),
            line: text(words::date(&charter.updated, lang)),
        },
        Row {
            term: pick(
                lang,
                "規約のハッシュ (SHA-256)",
                "Digest of the charter (SHA-256)",
            )
            .to_owned(),
            line: code(charter.digest.to_string()),
        },
    ];
    if let Some(current) = facts.versions.iter().find(|v| v.digest == charter.digest) {
        rows.insert(
            0,
            Row {
                term: pick(lang, "規約の版", "Version of the charter").to_owned(),
                line: text(match lang {
                    Lang::Ja => format!("第{}版", current.version),
                    Lang::En => current.version.to_string(),
                }),
            },
        );
    }
    if let Some(audit) = &facts.audit {
        rows.push(Row {
            term: pick(lang, "監査の日", "Date of the audit").to_owned(),
            line: text(words::date(&audit.date, lang)),
        });
    }
    let mut blocks = vec![
        paragraph(
            lang,
            "このページは、プログラムを動かしている規約ファイルから作られています。規約が変われば、このページも変わります。",
            "This page is printed from the charter file that the program obeys. When the charter changes, the page changes.",
        ),
        Block::Rows(rows),
    ];
    if let Some(head) = facts.audit.as_ref().and_then(|a| a.head.as_ref()) {
        blocks.push(Block::Code {
            says: match lang {
                Lang::Ja => format!(
                    "取得の記録の先頭です（{}、{}番目まで）。この値を控えておけば、それより前の記録が書き換えられていないかを後から確かめられます。",
                    words::date(&head.date, lang),
                    words::count(head.seq.0)
                ),
                Lang::En => format!(
                    "The head of our journal of requests ({}, entry {}). Note it down, and any later change of an earlier entry can be found.",
                    words::date(&head.date, lang),
                    words::count(head.seq.0)
                ),
            },
            text: head.hash.to_string(),
        });
    }
    if !facts.versions.is_empty() {
        blocks.push(history(facts, lang));
    }
    blocks
}

fn history(facts: &PageFacts, lang: Lang) -> Block {
    let row = |v: &super::CharterVersion| {
        vec![
            text(match lang {
                Lang::Ja => format!("第{}版", v.version),
                Lang::En => v.version.to_string(),
            }),
            text(words::date(&v.date, lang)),
            code(v.digest.to_string()),
        ]
    };
    let head = match lang {
        Lang::Ja => ["版", "発効日", "ハッシュ (SHA-256)"],
        Lang::En => ["Version", "In force since", "Digest (SHA-256)"],
    };
    Block::Table {
        caption: pick(lang, "変更の履歴", "History of changes").to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: facts.versions.iter().map(row).collect(),
    }
}
