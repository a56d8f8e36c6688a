//! Masks: what may differ in a line without a change of content, replaced by a mark.
//!
//! Two versions of a line that are equal after a mask differ by that kind of noise only. A mask
//! covers as little as the kind allows: a year is masked only beside a copyright sign, a counter
//! only beside its own name, a relative time only where it stands alone. The text given is
//! already folded by [`super::fold::wide`]; where a mask may be used at all is decided by
//! [`super::noise`].

use super::nonce::{is_nonce, tokens};

/// Stands for what a mask covers; a private-use character.
const MARK: char = '\u{e000}';

/// Runs of figures with inner `.` `,` `:`, as spans of `chars`.
fn figures(chars: &[char]) -> Vec<(usize, usize)> {
    let digit = |i: usize| chars.get(i).is_some_and(char::is_ascii_digit);
    let mut spans = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        while digit(i) || i > start && matches!(chars.get(i), Some('.' | ',' | ':')) && digit(i + 1)
        {
            i += 1;
        }
        if i > start {
            spans.push((start, i));
        }
        i = i.max(start) + usize::from(i == start);
    }
    spans
}

/// The text with every span in `spans` (sorted, disjoint, in characters) replaced by the mark.
pub(super) fn cover(chars: &[char], spans: &[(usize, usize)]) -> String {
    let mut out = String::with_capacity(chars.len());
    let mut from = 0;
    for &(start, end) in spans {
        out.extend(chars.get(from..start).into_iter().flatten());
        out.push(MARK);
        from = end;
    }
    out.extend(chars.get(from..).into_iter().flatten());
    out
}

pub(super) fn text_of(chars: &[char], span: (usize, usize)) -> String {
    chars.get(span.0..span.1).into_iter().flatten().collect()
}

/// The `n` characters before or after a place, lower case.
pub(super) fn left(chars: &[char], at: usize, n: usize) -> String {
    text_of(chars, (at.saturating_sub(n), at)).to_lowercase()
}

fn right(chars: &[char], at: usize, n: usize) -> String {
    text_of(chars, (at, chars.len().min(at + n))).to_lowercase()
}

/// The marks of a copyright line.
pub(super) fn is_copyright(text: &str) -> bool {
    let text = text.to_lowercase();
    ["©", "(c)", "copyright", "all rights reserved", "無断転載"]
        .iter()
        .any(|m| text.contains(m))
}

/// Years of a copyright line, and the range that they form: `© 2020-2026 Name`, `© Name 2026`.
pub(super) fn year(text: &str) -> Option<String> {
    const REACH: usize = 60;
    if !is_copyright(text) {
        return None;
    }
    let chars: Vec<char> = text.chars().collect();
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (start, end) in figures(&chars) {
        let is_year = end - start == 4
            && text_of(&chars, (start, end))
                .parse()
                .is_ok_and(|y: u16| (1980..2100).contains(&y));
        if !is_year || is_dated(&chars, start, end) {
            continue;
        }
        // The second year of a range joins the first.
        if let Some(last) = spans.last_mut()
            && text_of(&chars, (last.1, start))
                .chars()
                .all(|c| c == ' ' || c == '-' || c == '~')
        {
            last.1 = end;
            continue;
        }
        let (before, after) = (left(&chars, start, REACH), right(&chars, end, 20));
        let near_before = clause_after_mark(&before);
        if near_before || is_copyright(&after) {
            spans.push((start, end));
        }
    }
    (!spans.is_empty()).then(|| cover(&chars, &spans))
}

/// The figure is part of a date or a term: 2026年4月, 2026/4/1, 2026年度.
fn is_dated(chars: &[char], start: usize, end: usize) -> bool {
    let digit = |i: Option<usize>| {
        i.and_then(|i| chars.get(i))
            .is_some_and(char::is_ascii_digit)
    };
    match chars.get(end) {
        Some('年' | '月') => true,
        Some('/' | '-') => digit(Some(end + 1)) && !(0..4).all(|i| digit(Some(end + 1 + i))),
        _ => {
            matches!(start.checked_sub(1).and_then(|i| chars.get(i)), Some('/'))
                && digit(start.checked_sub(2))
        }
    }
}

/// No sentence ends between the copyright mark and the year. "Inc." and the like end none.
fn clause_after_mark(before: &str) -> bool {
    let from = ["©", "(c)", "copyright", "reserved"]
        .iter()
        .filter_map(|m| before.rfind(m).map(|at| at + m.len()))
        .max();
    let Some(clause) = from.and_then(|from| before.get(from..)) else {
        return false;
    };
    let ends = clause
        .split_inclusive(". ")
        .filter(|part| part.ends_with(". "))
        .any(|part| {
            let word = part.trim_end_matches(". ").rsplit(' ').next().unwrap_or("");
            word.chars().count() > 4
        });
    !ends && !clause.contains('。')
}

/// The number of the application after its name: `Version 1.260.0`, `ver.3.2`, `v1.2.3`.
pub(super) fn version(text: &str) -> Option<String> {
    numbered(text, |before, number| {
        let long = ["version", "versión", "ver", "release", "バージョン", "版数"];
        let named = long.iter().any(|name| ends_with_name(before, name));
        let v =
            before.ends_with('v') && !before.trim_end_matches('v').ends_with(char::is_alphabetic);
        (named || v) && number.contains('.')
    })
}

/// The id of a build after its name: `build 4711`, `rev. 3f9a2c1`, `commit 1a2b3c4`.
pub(super) fn build(text: &str) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let names = [
        "build",
        "build id",
        "revision",
        "rev",
        "commit",
        "ビルド",
        "リビジョン",
    ];
    let spans: Vec<_> = tokens(&chars)
        .into_iter()
        .filter(|&(start, end)| {
            let token = text_of(&chars, (start, end));
            let hexish = token
                .chars()
                .all(|c| c.is_ascii_hexdigit() || "._-".contains(c));
            hexish
                && token.contains(|c: char| c.is_ascii_digit())
                && names
                    .iter()
                    .any(|name| ends_with_name(&left(&chars, start, 16), name))
        })
        .collect();
    (!spans.is_empty()).then(|| cover(&chars, &spans))
}

/// `before` ends with the name, and at most a separator after it.
pub(super) fn ends_with_name(before: &str, name: &str) -> bool {
    let Some(rest) = before
        .trim_end_matches([' ', '.', ':', '#', '-', '=', '('])
        .strip_suffix(name)
    else {
        return false;
    };
    !name.is_ascii() || !rest.ends_with(|c: char| c.is_alphanumeric())
}

fn numbered(text: &str, fits: impl Fn(&str, &str) -> bool) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let spans: Vec<_> = figures(&chars)
        .into_iter()
        .filter(|&(start, end)| fits(&left(&chars, start, 16), &text_of(&chars, (start, end))))
        .map(|(start, end)| (start, version_end(&chars, end)))
        .collect();
    (!spans.is_empty()).then(|| cover(&chars, &spans))
}

/// A pre-release or build mark joined to a version: `-beta.2`, `+3f9a`.
fn version_end(chars: &[char], end: usize) -> usize {
    let tail = chars.get(end..).unwrap_or(&[]);
    let joined = |c: &&char| c.is_ascii_alphanumeric() || ".-+_".contains(**c);
    match tail {
        ['-' | '+', c, ..] if c.is_ascii_alphanumeric() => {
            let len = tail.iter().take_while(joined).count();
            let dots = tail
                .iter()
                .take(len)
                .rev()
                .take_while(|c| !c.is_alphanumeric())
                .count();
            end + len - dots
        }
        _ => end,
    }
}

/// Names of counts that a page keeps of its own use.
const COUNTERS: &[&str] = &[
    "閲覧数",
    "閲覧回数",
    "アクセス数",
    "アクセスカウンタ",
    "カウンター",
    "カウンタ",
    "累計アクセス",
    "総アクセス",
    "アクセス",
    "人目",
    "ビュー",
    "訪問者数",
    "表示回数",
    "再生回数",
    "いいね",
    "シェア",
    "リツイート",
    "フォロワー",
    "ブックマーク",
    "はてブ",
    "オンライン",
    "pv",
    "pageviews",
    "page views",
    "views",
    "view",
    "view count",
    "visitor counter",
    "visitor number",
    "visitors online",
    "users online",
    "online now",
    "hits",
    "hit",
    "visits",
    "access counter",
    "counter",
    "likes",
    "like",
    "shares",
    "retweets",
    "followers",
    "reads",
    "vues",
    "aufrufe",
    "visitas",
    "조회수",
    "조회",
    "浏览",
    "瀏覽",
    "阅读",
    "閱讀",
];

/// Names of counts with which a site speaks of its own size; noise only in a page's footer.
const SIZES: &[&str] = &[
    "users",
    "customers",
    "members",
    "subscribers",
    "websites",
    "downloads",
    "happy users",
    "happy customers",
    "ユーザー",
    "利用者",
    "会員",
    "ダウンロード",
    "登録者",
];

/// The figures of a counter beside its name. `sizes` adds the names of a site's own size.
pub(super) fn counter(text: &str, sizes: bool) -> Option<String> {
    const REACH: usize = 12;
    // Units that make a figure something else than a count of uses.
    const UNITS: &str = "円年月日時分秒歳才階度%$€£¥";
    let chars: Vec<char> = text.chars().collect();
    let spans: Vec<_> = figures(&chars)
        .into_iter()
        .filter(|&(start, end)| {
            let next = chars.get(end).copied().unwrap_or(' ');
            let prior = start
                .checked_sub(1)
                .and_then(|i| chars.get(i))
                .copied()
                .unwrap_or(' ');
            let plain = !text_of(&chars, (start, end)).contains(':');
            let (before, after) = (left(&chars, start, REACH), right(&chars, end, REACH + 6));
            let names = || COUNTERS.iter().chain(SIZES.iter().filter(|_| sizes));
            plain
                && !UNITS.contains(next)
                && !UNITS.contains(prior)
                && names().any(|name| name_before(&before, name) || name_after(&after, name))
        })
        .map(|(start, end)| (start, count_end(&chars, end)))
        .collect();
    (!spans.is_empty()).then(|| cover(&chars, &spans))
}

/// `1.2k`, `3M`, `2,700,000+`.
fn count_end(chars: &[char], end: usize) -> usize {
    let magnitude = matches!(chars.get(end), Some('k' | 'K' | 'M' | '万'))
        && !chars
            .get(end + 1)
            .is_some_and(|c| c.is_ascii_alphanumeric());
    let end = end + usize::from(magnitude);
    end + usize::from(chars.get(end) == Some(&'+'))
}

/// The name and then only separators: `閲覧数: `.
fn name_before(before: &str, name: &str) -> bool {
    let rest = before.trim_end_matches([' ', ':', '(', '!', '・', '-', '#', '|']);
    let Some(rest) = rest.strip_suffix(name) else {
        return false;
    };
    !name.is_ascii() || !rest.ends_with(|c: char| c.is_alphanumeric())
}

/// Perhaps one short unit or word, then the name: ` views`, `人目の`, ` happy users`.
fn name_after(after: &str, name: &str) -> bool {
    let rest = after.trim_start_matches(['k', 'm', '万', '+', ' ', ')', '回', '件', '-']);
    let Some(rest) = rest.strip_prefix(name) else {
        return false;
    };
    !name.is_ascii() || !rest.starts_with(|c: char| c.is_alphanumeric())
}

/// The figures in front of a title: `(3) Inbox`.
pub(super) fn title_counter(text: &str) -> Option<String> {
    let rest = text.trim_start().strip_prefix(['(', '['])?;
    let (count, rest) = rest.split_once([')', ']'])?;
    let counts = !count.is_empty() && count.chars().all(|c| c.is_ascii_digit() || c == '+');
    counts.then(|| rest.trim_start().to_owned())
}

/// Times that tell the present: relative ones that stand alone, and clocks after their name.
pub(super) fn clock(text: &str) -> Option<String> {
    if is_bare_clock(text) {
        return Some(MARK.to_string());
    }
    let relative = relative(text);
    let named = named_clock(relative.as_deref().unwrap_or(text));
    named.or(relative)
}

/// `3時間前`, `2 days ago`, where no word touches it: "閉館30分前" and "30分前まで" are rules of
/// a house, not clocks.
fn relative(text: &str) -> Option<String> {
    const JA: &[&str] = &[
        "秒前",
        "分前",
        "時間前",
        "日前",
        "週間前",
        "か月前",
        "ヶ月前",
        "カ月前",
        "ヵ月前",
        "年前",
        "分钟前",
        "分鐘前",
        "小时前",
        "小時前",
        "天前",
        "분 전",
        "시간 전",
        "일 전",
    ];
    const UNITS: &[&str] = &[
        "second", "minute", "hour", "day", "week", "month", "year", "min", "hr",
    ];
    let chars: Vec<char> = text.chars().collect();
    let alone = |i: Option<usize>| {
        i.and_then(|i| chars.get(i))
            .is_none_or(|c| !c.is_alphanumeric() && *c != 'ー')
    };
    let mut spans = Vec::new();
    for (start, end) in figures(&chars) {
        let after = right(&chars, end, 12);
        let open = alone(start.checked_sub(1));
        if let Some(unit) = JA.iter().find(|unit| after.starts_with(**unit)) {
            let stop = end + unit.chars().count();
            if open && alone(Some(stop)) {
                spans.push((start, stop));
            }
        } else if let Some(ago) = after.find(" ago") {
            let unit = after.get(..ago).unwrap_or("").trim().trim_end_matches('s');
            if open && UNITS.contains(&unit) {
                spans.push((start, end + ago + " ago".len()));
            }
        }
    }
    if spans.is_empty() {
        let now = [
            "たった今",
            "just now",
            "an hour ago",
            "a minute ago",
            "a day ago",
            "数秒前",
        ];
        let lower = text.trim().to_lowercase();
        return now.contains(&lower.as_str()).then(|| MARK.to_string());
    }
    Some(cover(&chars, &spans))
}

/// Date and time after the name of a clock.
fn named_clock(text: &str) -> Option<String> {
    const CLOCKS: &[&str] = &[
        "現在時刻",
        "現在の時刻",
        "ただいまの時刻",
        "現在日時",
        "サーバー時刻",
        "サーバ時刻",
        "表示日時",
        "取得日時",
        "出力日時",
        "生成日時",
        "current time",
        "server time",
        "local time",
        "time now",
        "generated at",
        "generated on",
        "generated in",
        "page generated",
        "rendered at",
        "rendered in",
        "retrieved at",
        "retrieved on",
        "execution time",
        "load time",
    ];
    // After these only a day is a clock: an hour beside "today" is news.
    const TODAY: &[&str] = &["本日は", "今日は", "today is", "today:", "本日:", "今日:"];
    let lower = text.to_lowercase();
    let chars: Vec<char> = text.chars().collect();
    let find = |names: &[&str]| {
        let byte = names
            .iter()
            .filter_map(|n| lower.find(n).map(|at| at + n.len()))
            .min()?;
        Some(lower.get(..byte)?.chars().count())
    };
    let (from, times) = match (find(CLOCKS), find(TODAY)) {
        (Some(from), _) => (from, true),
        (None, Some(from)) => (from, false),
        _ => return None,
    };
    let spans: Vec<_> = figures(&chars)
        .into_iter()
        .filter(|&(start, end)| {
            let unit = chars.get(end);
            let prior = start.checked_sub(1).and_then(|i| chars.get(i));
            let day = matches!(unit, Some('年' | '月' | '日' | '/' | '-')) || prior == Some(&'/');
            start >= from && start < from + 40 && (times || day)
        })
        .collect();
    (!spans.is_empty()).then(|| cover_weekdays(&cover(&chars, &spans)))
}

/// The weekday of a masked date goes with it: `(月)`.
fn cover_weekdays(text: &str) -> String {
    let mut out = text.to_owned();
    for day in ["月", "火", "水", "木", "金", "土", "日"] {
        out = out
            .replace(&format!("({day})"), "()")
            .replace(&format!("{MARK}日 {day}曜日"), "");
    }
    out
}

/// The whole line is a time with seconds, perhaps after a date.
fn is_bare_clock(text: &str) -> bool {
    let seconds = |word: &str| {
        let parts: Vec<&str> = word.split(':').collect();
        parts.len() == 3
            && parts
                .iter()
                .all(|p| (1..3).contains(&p.len()) && is_digits(p))
    };
    let date = |word: &str| {
        word.chars()
            .all(|c| c.is_ascii_digit() || "/-.年月日()火水木金土".contains(c))
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    words.iter().filter(|word| seconds(word)).count() == 1
        && words.iter().all(|word| seconds(word) || date(word))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// The shape of a line for learning: figures and ids masked.
pub(super) fn shape(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let ids: Vec<_> = tokens(&chars)
        .into_iter()
        .filter(|&span| is_nonce(&text_of(&chars, span)))
        .collect();
    let chars: Vec<char> = cover(&chars, &ids).chars().collect();
    cover(&chars, &figures(&chars))
}
