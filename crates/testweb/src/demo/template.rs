//! Pages from templates: `{{key}}` stands for a value, and later versions change some values.

use crate::answer::{Answer, Encoding, Validator};
use crate::site::{Ask, Page, Source, day};
use encoding_rs::{EUC_JP, SHIFT_JIS, UTF_8};

/// Keys and their values.
pub(super) type Values = &'static [(&'static str, &'static str)];

/// A page's template, its first values, and what changes when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Template {
    /// The target's id.
    pub(super) id: &'static str,
    pub(super) host: &'static str,
    pub(super) path: &'static str,
    /// The page's heading; `{{title}}` in the template.
    pub(super) title: &'static str,
    pub(super) html: &'static str,
    pub(super) values: Values,
    /// From a day (year, month, day) on, other values for some keys.
    pub(super) later: &'static [((i16, i8, i8), Values)],
    /// The charset's label, which is also how the page is encoded.
    pub(super) charset: &'static str,
    pub(super) validator: Validator,
    pub(super) encoding: Encoding,
}

impl Template {
    /// The page over site time.
    pub(super) fn page(&self) -> Page {
        let mut values: Vec<(&str, &str)> = vec![("title", self.title), ("path", self.path)];
        values.extend(self.values);
        let mut page = Page::new(self.source(&values));
        for ((year, month, date), changes) in self.later {
            for (key, value) in *changes {
                values.retain(|(known, _)| known != key);
                values.push((*key, *value));
            }
            page = page.then(day(*year, *month, *date), self.source(&values));
        }
        page
    }

    fn source(&self, values: &[(&str, &str)]) -> Source {
        let html = fill(self.html, values);
        let template = *self;
        if html.contains("{{") {
            return Source::made(move |ask| template.answer(&fill_for_request(&html, ask)));
        }
        Source::Fixed(self.answer(&html))
    }

    fn answer(&self, html: &str) -> Answer {
        let encoding = match self.charset {
            "Shift_JIS" => SHIFT_JIS,
            "EUC-JP" => EUC_JP,
            _ => UTF_8,
        };
        let (body, _, _) = encoding.encode(html);
        // Old pages in old charsets often say nothing in the header.
        let content_type = if encoding == UTF_8 {
            "text/html; charset=utf-8"
        } else {
            "text/html"
        };
        Answer::new(content_type, body.into_owned())
            .validated(self.validator)
            .encoded(self.encoding)
    }
}

fn fill(html: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(html.to_owned(), |html, (key, value)| {
        html.replace(&format!("{{{{{key}}}}}"), value)
    })
}

const BANNERS: [&str; 2] = [
    "学校見学会を毎週土曜日に開いています。",
    "卒業制作展のようすを写真で公開しました。",
];
const ASIDE: &str = "<aside><h2>在校生の声</h2><p>少人数なので質問しやすいです。\
                     作品を見せ合う時間が楽しみです。</p></aside>";

/// The noise that differs from request to request: a nonce, a counter, a banner that alternates,
/// a block that stands now before and now after the main text.
fn fill_for_request(html: &str, ask: &Ask<'_>) -> String {
    let nonce = crate::answer::digest(format!("{}#{}", ask.path(), ask.turn).as_bytes());
    let odd = ask.turn % 2 == 1;
    let banner = BANNERS.get(usize::from(odd)).copied().unwrap_or_default();
    let (first, last) = if odd { ("", ASIDE) } else { (ASIDE, "") };
    let nonce = format!("{nonce:016x}");
    let counter = (18_240 + ask.turn * 37).to_string();
    let values = [
        ("nonce", nonce.as_str()),
        ("counter", counter.as_str()),
        ("banner", banner),
        ("aside_first", first),
        ("aside_last", last),
    ];
    fill(html, &values)
}
