//! Many hosts for benches: every page follows from its host's name, its number and site time.
//!
//! Nothing is stored for a host, and a page costs little to make: the part that differs (name,
//! prices, date) comes first and is sent as stored deflate blocks; the long text after it is one
//! of a pool, compressed once. A client sees one ordinary gzip stream.

use crate::answer::{Answer, Encoding, Validator, digest};
use crate::site::{Ask, Site, Source};
use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use jiff::Timestamp;
use std::fmt::Write as _;
use std::time::Duration;

/// How many different long texts there are.
const TEXTS: u64 = 64;
/// How many epochs back a page looks for its latest change; older pages are the first version.
const EPOCHS_BACK_MAX: i64 = 1000;

/// A set of hosts `h00000.bulk.test`, `h00001.bulk.test`, … with pages `/p/0.html`, …
#[derive(Debug, Clone)]
pub struct Bulk {
    /// How many hosts; other names under the suffix answer 404.
    pub hosts: u32,
    /// How many pages each has, besides `/`, which links to them.
    pub pages_per_host: u32,
    /// About how long a page is, in bytes before coding.
    pub page_bytes: usize,
    /// How pages are coded for clients that accept it.
    pub encoding: Encoding,
    /// Of all pages, how many change from one epoch to the next: 0 to 1.
    pub change_fraction: f64,
    /// How long an epoch is, in site time.
    pub epoch: Duration,
    /// A `Crawl-delay` in robots.txt, as written.
    pub crawl_delay: Option<String>,
}

impl Default for Bulk {
    fn default() -> Bulk {
        Bulk {
            hosts: 1000,
            pages_per_host: 2,
            page_bytes: 30_000,
            encoding: Encoding::Gzip,
            change_fraction: 0.05,
            epoch: Duration::from_secs(24 * 3600),
            crawl_delay: None,
        }
    }
}

impl Bulk {
    /// The name of a host.
    #[must_use]
    pub fn host(number: u32) -> String {
        format!("h{number:05}.bulk.test")
    }

    /// All page URLs, host by host.
    pub fn urls(&self) -> impl Iterator<Item = String> {
        let pages = self.pages_per_host;
        (0..self.hosts).flat_map(move |host| {
            (0..pages).map(move |page| format!("http://{}/p/{page}.html", Bulk::host(host)))
        })
    }

    /// The site `*.bulk.test` that serves them all.
    #[must_use]
    pub fn site(self) -> Site {
        let robots = match &self.crawl_delay {
            Some(delay) => format!("User-agent: *\nCrawl-delay: {delay}\nDisallow: /admin/\n"),
            None => "User-agent: *\nDisallow: /admin/\n".to_owned(),
        };
        let texts: Vec<Text> = (0..TEXTS)
            .map(|seed| Text::new(seed, self.page_bytes))
            .collect();
        Site::new("*.bulk.test")
            .robots(Answer::robots(&robots))
            .rest(Source::made(move |ask| self.answer(ask, &texts)))
    }

    fn answer(&self, ask: &Ask<'_>, texts: &[Text]) -> Answer {
        let number = ask
            .host
            .strip_prefix('h')
            .and_then(|rest| rest.split('.').next());
        let number = number
            .and_then(|digits| digits.parse().ok())
            .filter(|n| *n < self.hosts);
        let Some(number) = number else {
            return Answer::status(404);
        };
        if ask.path() == "/" {
            return Answer::html(self.index(number)).validated(Validator::Strong);
        }
        let page = ask
            .path()
            .strip_prefix("/p/")
            .and_then(|rest| rest.strip_suffix(".html"));
        let page = page
            .and_then(|digits| digits.parse().ok())
            .filter(|n| *n < self.pages_per_host);
        let Some(page) = page else {
            return Answer::status(404);
        };
        let seed = digest(format!("{number}/{page}").as_bytes());
        let front = self.front(number, page, seed, self.changed_at(seed, ask.now));
        let chosen = usize::try_from(seed % TEXTS).unwrap_or(0);
        let Some(text) = texts.get(chosen) else {
            return Answer::status(404);
        };
        let body = Bytes::from([front.as_bytes(), text.plain.as_bytes()].concat());
        let answer = Answer::new("text/html; charset=utf-8", body)
            .encoded(self.encoding)
            .validated(Validator::Strong);
        let coded = (self.encoding == Encoding::Gzip).then(|| text.gzip_after(front.as_bytes()));
        Answer { coded, ..answer }
    }

    /// The latest epoch in which a page changed.
    fn changed_at(&self, seed: u64, now: Timestamp) -> i64 {
        let length = i64::try_from(self.epoch.as_secs())
            .unwrap_or(i64::MAX)
            .max(1);
        let epoch = now.as_second().div_euclid(length);
        let changes = |e: &i64| {
            let hash = digest(format!("{seed}@{e}").as_bytes());
            #[expect(clippy::cast_precision_loss, reason = "a share of pages, not a count")]
            let share = (hash >> 11) as f64 / (1_u64 << 53) as f64;
            share < self.change_fraction
        };
        (0..EPOCHS_BACK_MAX)
            .map(|back| epoch - back)
            .find(changes)
            .unwrap_or(0)
    }

    fn index(&self, number: u32) -> String {
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"ja\"><head><meta charset=\"utf-8\">\
             <title>第{number}学習館</title></head><body><h1>第{number}学習館</h1><ul>"
        );
        for n in 0..self.pages_per_host {
            // Writing to a string cannot fail.
            let _ = write!(
                page,
                "<li><a href=\"/p/{n}.html\">講座案内 {}</a></li>",
                n + 1
            );
        }
        page.push_str("</ul></body></html>\n");
        page
    }

    /// The part of a page that is its own.
    fn front(&self, number: u32, page: u32, seed: u64, changed: i64) -> String {
        let version = digest(format!("{seed}#{changed}").as_bytes());
        let price =
            |step: u64| 98_000 + (seed % 40) * 5_500 + step * 110_000 + (version % 9) * 1_100;
        let (month, day) = (1 + version % 12, 1 + version / 12 % 28);
        let mut rows = String::new();
        for (step, name) in COURSES.iter().enumerate() {
            let step = step as u64;
            let _ = writeln!(
                rows,
                "<tr><th scope=\"row\">{name}</th><td>{}週間</td><td>{}円（税込）</td></tr>",
                4 + step * 8,
                grouped(price(step))
            );
        }
        format!(
            "<!DOCTYPE html>\n<html lang=\"ja\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <title>講座案内 {page}｜第{number}学習館</title>\n\
             <style>body{{font-family:sans-serif;max-width:60rem;margin:auto}}\
             table{{border-collapse:collapse}}td,th{{border:1px solid #ccc;padding:.4em}}</style>\n\
             </head>\n<body>\n<header><p>第{number}学習館</p><nav><a href=\"/\">トップ</a>\
             <a href=\"/p/0.html\">講座案内</a></nav></header>\n<main>\n\
             <h1>講座案内 {page}</h1>\n<p class=\"updated\">お申し込みの締め切りは{month}月{day}日です。</p>\n\
             <table><caption>受講料</caption>\n<tr><th>講座</th><th>期間</th><th>受講料</th></tr>\n\
             {rows}</table>\n"
        )
    }
}

const COURSES: [&str; 4] = ["入門コース", "基礎コース", "実践コース", "専門コース"];

/// A number with commas between groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A long text that many pages share, compressed once.
struct Text {
    plain: String,
    /// Raw deflate data of `plain`, its last block marked as the last.
    deflated: Vec<u8>,
    crc: Crc,
}

const OPENINGS: [&str; 8] = [
    "はじめての方にも",
    "お仕事のあとに通う方にも",
    "学び直しを考えている方にも",
    "遠方にお住まいの方にも",
    "在学中の方にも",
    "育児のあいまに学ぶ方にも",
    "資格の取得をめざす方にも",
    "独学でつまずいた方にも",
];
const MIDDLES: [&str; 8] = [
    "講師が一人ずつ進み具合を見ながら",
    "週に二回の演習と毎回の講評を通して",
    "少人数の教室とオンラインの両方で",
    "教科書と動画を組み合わせて",
    "実際の現場で使われている題材をもとに",
    "修了生の体験を取り入れた課題で",
    "質問はいつでも受け付ける体制のもとで",
    "復習用の資料をすべてお渡ししながら",
];
const CLOSINGS: [&str; 8] = [
    "基礎から順に身につけていただきます。",
    "自分の作品をひとつ仕上げるところまで進みます。",
    "わからないところを残さないように進めます。",
    "修了のあとも半年のあいだ相談を受け付けます。",
    "無理のない歩みで続けられるようにしています。",
    "面談のうえで学習計画をいっしょに立てます。",
    "月に一度の発表会で成果を確かめます。",
    "欠席された回は後日ふりかえりの時間を設けます。",
];

const FAMILY: [&str; 16] = [
    "青木", "石田", "上野", "江川", "大西", "加納", "木下", "久保", "小松", "佐野", "島本", "瀬川",
    "高見", "千葉", "寺田", "中谷",
];
const GIVEN: [&str; 16] = [
    "あきら",
    "いずみ",
    "うらら",
    "えみ",
    "かおる",
    "きよし",
    "さとる",
    "しのぶ",
    "すみれ",
    "たかし",
    "ちひろ",
    "つばさ",
    "なおき",
    "はるか",
    "まこと",
    "ゆうき",
];

impl Text {
    fn new(seed: u64, bytes: usize) -> Text {
        let mut plain = String::with_capacity(bytes + 500);
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = || {
            // xorshift64: even enough to vary a text.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 32
        };
        let mut section = 0;
        // The part of its own is some 1,500 bytes long.
        while plain.len() + 1500 < bytes {
            section += 1;
            let _ = writeln!(plain, "<section><h2>案内 {section}</h2>");
            for _ in 0..4 {
                let (a, b, c) = (
                    one_of(&OPENINGS, draw()),
                    one_of(&MIDDLES, draw()),
                    one_of(&CLOSINGS, draw()),
                );
                // What repeats least in a real page: names and numbers.
                let (family, given) = (one_of(&FAMILY, draw()), one_of(&GIVEN, draw()));
                let code = draw() % 1_000_000;
                let _ = writeln!(
                    plain,
                    "<p>{a}、{b}、{c}（担当 {family}{given}、番号 {code:06}）</p>"
                );
            }
            plain.push_str("</section>\n");
        }
        plain.push_str("</main>\n<footer><p>© 学習館連合（架空の団体です）</p></footer>\n");
        plain.push_str("</body>\n</html>\n");
        let mut crc = Crc::new();
        crc.update(plain.as_bytes());
        Text {
            deflated: deflate(plain.as_bytes()),
            plain,
            crc,
        }
    }

    /// One gzip stream (RFC 1952) of `front` and this text: `front` in stored blocks (RFC 1951
    /// §3.2.4), which end on a byte, then the prepared blocks.
    fn gzip_after(&self, front: &[u8]) -> Bytes {
        let mut crc = Crc::new();
        crc.update(front);
        crc.combine(&self.crc);
        let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
        out.reserve(front.len() + self.deflated.len() + 32);
        for block in front.chunks(usize::from(u16::MAX)) {
            let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
            out.push(0);
            out.extend_from_slice(&length.to_le_bytes());
            out.extend_from_slice(&(!length).to_le_bytes());
            out.extend_from_slice(block);
        }
        out.extend_from_slice(&self.deflated);
        out.extend_from_slice(&crc.sum().to_le_bytes());
        out.extend_from_slice(&crc.amount().to_le_bytes());
        out.into()
    }
}

fn one_of(words: &[&'static str], draw: u64) -> &'static str {
    let at = usize::try_from(draw)
        .unwrap_or(0)
        .checked_rem(words.len())
        .unwrap_or(0);
    words.get(at).copied().unwrap_or_default()
}

fn deflate(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(plain.len() + 64);
    let mut compress = Compress::new(Compression::default(), false);
    let done = compress.compress_vec(plain, &mut out, FlushCompress::Finish);
    debug_assert!(matches!(done, Ok(Status::StreamEnd)), "the room is enough");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;
    use crate::site::day;
    use std::io::Read as _;

    fn get(site: &Site, host: &str, path: &str, now: Timestamp) -> Answer {
        let request = Request::read(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes());
        site.answer(Ask {
            host,
            request: &request,
            now,
            turn: 0,
        })
        .answer
    }

    #[test]
    fn a_page_follows_from_its_name() {
        let site = || Bulk::default().site();
        let now = day(2026, 4, 1);
        let page = |host: &str| get(&site(), host, "/p/1.html", now).body;
        assert_eq!(page("h00007.bulk.test"), page("h00007.bulk.test"));
        assert_ne!(page("h00007.bulk.test"), page("h00008.bulk.test"));
        let length = page("h00007.bulk.test").len();
        assert!((29_000..32_000).contains(&length), "{length}");
        assert_eq!(get(&site(), "h01000.bulk.test", "/", now).status, 404);
        assert_eq!(
            get(&site(), "h00000.bulk.test", "/p/2.html", now).status,
            404
        );
    }

    #[test]
    fn the_prepared_gzip_stream_is_the_page() {
        let answer = get(
            &Bulk::default().site(),
            "h00003.bulk.test",
            "/p/0.html",
            day(2026, 4, 1),
        );
        let coded = answer.coded.unwrap();
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&coded[..])
            .read_to_end(&mut plain)
            .unwrap();
        assert_eq!(plain, answer.body);
        assert!(coded.len() < answer.body.len() / 3, "{}", coded.len());
    }

    #[test]
    fn about_the_promised_share_changes_each_epoch() {
        let bulk = Bulk {
            hosts: 2000,
            change_fraction: 0.1,
            page_bytes: 2000,
            ..Bulk::default()
        };
        let site = bulk.site();
        let page = |n, now| get(&site, &Bulk::host(n), "/p/0.html", now).body;
        let (one, two) = (day(2026, 4, 1), day(2026, 4, 2));
        let changed = (0..2000).filter(|n| page(*n, one) != page(*n, two)).count();
        assert!((140..260).contains(&changed), "{changed}");
        assert!((0..2000).all(|n| page(n, one) == page(n, one)));
    }

    #[test]
    fn urls_name_every_page() {
        let bulk = Bulk {
            hosts: 2,
            pages_per_host: 2,
            ..Bulk::default()
        };
        let urls: Vec<String> = bulk.urls().collect();
        assert_eq!(urls.len(), 4);
        assert_eq!(urls[3], "http://h00001.bulk.test/p/1.html");
    }
}
