//! The words between the promises: who we are, how to stop it, what is kept, what is published.

use super::content::pick;
use super::document::{Block, Line, Row, code, link, text};
use super::example::{self, BadExample};
use super::stored::Stored;
use super::{CharterVersion, PageFacts, words};
use crate::charter::{Charter, Lang, ReleaseKind, RequestKind};

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
            "Run by {operator}, {name} is an automatic reader (a crawler). It checks public pages for changes, with regard for each site's rules and load. This page says all of it: what it asks for, how often, under which name, and how to stop it."
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

fn paragraph(lang: Lang, ja: &'static str, en: &'static str) -> Block {
    Block::Paragraph(text(pick(lang, ja, en)))
}

pub(super) fn who(charter: &Charter, lang: Lang) -> Vec<Block> {
    let identity = &charter.identity;
    let row = |ja, en, line| Row {
        term: pick(lang, ja, en).to_owned(),
        line,
    };
    let mut blocks = vec![Block::Rows(vec![
        row("名前", "Name", text(identity.name.as_str())),
        row("運営", "Operator", text(identity.operator.get(lang))),
        row("目的", "Purpose", text(identity.purpose.get(lang))),
        row("お問い合わせ", "Contact", contact(charter)),
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

fn contact(charter: &Charter) -> Line {
    let href = charter.identity.contact_url.as_str();
    link(href, href.strip_prefix("mailto:").unwrap_or(href))
}

pub(super) fn stop(charter: &Charter, lang: Lang) -> Result<Vec<Block>, BadExample> {
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
    let mut write = text(pick(
        lang,
        "robots.txt を変えられない場合や、書いても止まらない場合は、URLとご希望（停止・削除など）を添えてご連絡ください。停止のご依頼を受けたURLは、確認のうえ、すみやかに対象から外します。保存したものの削除もご相談ください。連絡先：",
        "If you cannot change robots.txt, or it does not help, write to us with the URL and what you wish (to stop, to delete). A URL that we are asked to leave alone is taken out promptly once we have confirmed it. We also answer requests to delete what is stored. Contact: ",
    ));
    write.extend(contact(charter));
    blocks.push(Block::Paragraph(write));
    Ok(blocks)
}

/// One sentence a kind of request: a kind without one does not compile.
fn request_in_words(kind: RequestKind, charter: &Charter, lang: Lang) -> String {
    let said = match (kind, lang) {
        (RequestKind::Robots, Lang::Ja) => {
            "対象ホストの /robots.txt（取得してよいかを判断するため）"
        }
        (RequestKind::Robots, Lang::En) => "/robots.txt of the host (to learn whether we may ask)",
        (RequestKind::Page, Lang::Ja) => {
            "台帳に載せた公開ページ（変更の有無を判定するのに必要な範囲）"
        }
        (RequestKind::Page, Lang::En) => {
            "public pages that the ledger lists (as far as needed to tell whether they changed)"
        }
    };
    let condition = match (kind, lang) {
        (RequestKind::Page, Lang::Ja) if charter.visit.conditional => {
            "。ETag や Last-Modified がわかっていれば、If-None-Match や If-Modified-Since を付けます"
        }
        (RequestKind::Page, Lang::En) if charter.visit.conditional => {
            ", with If-None-Match or If-Modified-Since where the ETag or Last-Modified is known"
        }
        _ => "",
    };
    format!("{said}{condition}")
}

pub(super) fn ask(charter: &Charter, lang: Lang) -> Vec<Block> {
    let kinds = [RequestKind::Robots, RequestKind::Page];
    let requests = kinds.map(|kind| text(request_in_words(kind, charter, lang)));
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

pub(super) fn data(charter: &Charter, lang: Lang) -> Vec<Block> {
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

pub(super) fn publication(charter: &Charter, lang: Lang) -> Vec<Block> {
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
            "外に出すのは次のものだけです。",
            "Only these are published.",
        ),
        Block::List(charter.release.iter().map(kind).collect()),
    ]
}

pub(super) fn record(charter: &Charter, facts: &PageFacts, lang: Lang) -> Vec<Block> {
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
    let row = |v: &CharterVersion| {
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
