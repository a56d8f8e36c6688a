//! The difference in one line, in Japanese and English: the place first, then the fact.

use serde::Serialize;

use super::{Hunk, HunkKind, NoiseKind, Part, Place, Verdict, Word, fact, fold};

/// One line about a difference, at most [`Summary::CHARS_MAX`] characters each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub ja: String,
    pub en: String,
}

#[derive(Clone, Copy)]
enum Lang {
    Ja,
    En,
}

impl Summary {
    /// Characters of a summary.
    pub const CHARS_MAX: usize = 140;

    pub(super) fn of(verdict: Verdict, hunks: &[Hunk]) -> Summary {
        let line = |lang| match verdict {
            Verdict::Unchanged => String::from(pick(lang, "変更なし", "No change")),
            Verdict::Noise => noise(hunks, lang),
            Verdict::Changed => changes(hunks, lang),
        };
        let bounded = |lang| clip(&line(lang), Summary::CHARS_MAX);
        Summary {
            ja: bounded(Lang::Ja),
            en: bounded(Lang::En),
        }
    }
}

fn pick<'a>(lang: Lang, ja: &'a str, en: &'a str) -> &'a str {
    match lang {
        Lang::Ja => ja,
        Lang::En => en,
    }
}

fn noise(hunks: &[Hunk], lang: Lang) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for kind in hunks.iter().filter_map(|hunk| hunk.noise) {
        *counts.entry(kind).or_insert(0_usize) += 1;
    }
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(kind, n)| format!("{} {n}", name(kind, lang)))
        .collect();
    match lang {
        Lang::Ja => format!("雑音のみ: {}", parts.join("、")),
        Lang::En => format!("Noise only: {}", parts.join(", ")),
    }
}

fn name(kind: NoiseKind, lang: Lang) -> &'static str {
    let (ja, en) = match kind {
        NoiseKind::Token => ("一時的な符号", "token"),
        NoiseKind::AssetHash => ("素材のハッシュ", "asset hash"),
        NoiseKind::BuildId => ("ビルド番号", "build id"),
        NoiseKind::Version => ("アプリの版", "application version"),
        NoiseKind::Clock => ("時計", "clock"),
        NoiseKind::Year => ("著作権の年", "copyright year"),
        NoiseKind::Counter => ("カウンター", "counter"),
        NoiseKind::Order => ("並び順", "order"),
        NoiseKind::Overlay => ("同意の表示", "consent banner"),
        NoiseKind::Ad => ("広告", "advertisement"),
        NoiseKind::Markup => ("書き方", "markup"),
        NoiseKind::Width => ("文字の幅・形", "character form"),
        NoiseKind::Rotation => ("交替する表示", "rotation"),
        NoiseKind::Learned => ("学習した雑音", "learned noise"),
    };
    pick(lang, ja, en)
}

/// Facts first; with several, how many and as many as fit.
fn changes(hunks: &[Hunk], lang: Lang) -> String {
    let mut real: Vec<&Hunk> = hunks.iter().filter(|hunk| hunk.noise.is_none()).collect();
    let total = real.len();
    real.sort_by_key(|hunk| weight(hunk));
    let head = match (total, lang) {
        (1, _) => String::new(),
        (n, Lang::Ja) => format!("{n} か所の変更: "),
        (n, Lang::En) => format!("{n} changes: "),
    };
    let short = if total == 1 { 60 } else { 24 };
    let mut line = head;
    let mut told: Vec<String> = Vec::new();
    for hunk in real {
        let part = describe(hunk, short, lang);
        let len = line.chars().count() + part.chars().count() + 2;
        if !told.is_empty() && len > Summary::CHARS_MAX {
            break;
        }
        if told.contains(&part) {
            continue;
        }
        if !told.is_empty() {
            line.push_str(pick(lang, "、", "; "));
        }
        line.push_str(&part);
        told.push(part);
    }
    line
}

/// Lower comes first: prices, then other facts, then text, then what is no text.
fn weight(hunk: &Hunk) -> (u8, u8) {
    let texts = || [&hunk.before, &hunk.after].into_iter().flatten();
    let changed = |words: &Vec<Word>| spans(words, usize::MAX);
    let part = u8::from(hunk.place.part != Part::Text);
    let fact = if texts().any(|words| fact::is_price(&changed(words))) {
        0
    } else if texts().any(|words| fact::states(&changed(words))) {
        1
    } else {
        2
    };
    (part, fact)
}

fn describe(hunk: &Hunk, short: usize, lang: Lang) -> String {
    let place = place(&hunk.place, short, lang);
    let (before, after) = (hunk.before.as_ref(), hunk.after.as_ref());
    let news = match (hunk.kind, before, after) {
        (HunkKind::Moved, _, after) => {
            let text = clip(&after.map_or_else(String::new, |words| whole(words)), short);
            let from = hunk
                .from
                .as_ref()
                .map(|from| self::place(from, short, lang));
            match (from.filter(|from| *from != place), lang) {
                (Some(from), Lang::Ja) => format!("「{text}」が移動 (元: {from})"),
                (Some(from), Lang::En) => format!("“{text}” moved (from {from})"),
                (None, Lang::Ja) => format!("「{text}」の順序が変更"),
                (None, Lang::En) => format!("“{text}” moved"),
            }
        }
        (_, Some(before), Some(after)) => match (value(before, short), value(after, short)) {
            (was, is) if was.is_empty() => said(is, lang, "追加", "added"),
            (was, is) if is.is_empty() => said(was, lang, "削除", "removed"),
            (was, is) => format!("{was} → {is}"),
        },
        (_, None, Some(after)) => said(clip(&whole(after), short), lang, "追加", "added"),
        (_, Some(before), None) => said(clip(&whole(before), short), lang, "削除", "removed"),
        (_, None, None) => String::new(),
    };
    if place.is_empty() {
        news
    } else {
        format!("{place}: {news}")
    }
}

fn said(text: String, lang: Lang, ja: &str, en: &str) -> String {
    match lang {
        Lang::Ja => format!("「{text}」を{ja}"),
        Lang::En => format!("{en} “{text}”"),
    }
}

/// The innermost heading and the labels, or the part of the page.
fn place(place: &Place, short: usize, lang: Lang) -> String {
    let (ja, en) = match place.part {
        Part::Text => ("", ""),
        Part::Title => ("題名", "Title"),
        Part::Link => ("リンク先", "Link target"),
        Part::Image => ("画像の説明", "Image text"),
    };
    let steps = [
        Some(pick(lang, ja, en)),
        place.headings.last().map(String::as_str),
        place.row_label.as_deref(),
        place.col_label.as_deref(),
        place.link.as_deref(),
    ];
    let steps: Vec<String> = steps
        .into_iter()
        .flatten()
        .filter(|step| !step.trim().is_empty())
        .map(|step| clip(step.trim(), short.min(24)))
        .collect();
    steps.join(" › ")
}

fn whole(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect()
}

/// A short line as it is; of a long one, the words that changed with the value they belong to.
fn value(words: &[Word], short: usize) -> String {
    let text = whole(words);
    if text.chars().count() <= short {
        return text;
    }
    clip(&spans(words, short), short)
}

/// The changed words, each widened to the value that it is part of, joined by `…` where more than
/// a few characters between them stayed.
fn spans(words: &[Word], max: usize) -> String {
    const GAP: usize = 5;
    let mut out = String::new();
    for (i, word) in words.iter().enumerate().filter(|(_, word)| word.changed) {
        let left = i
            .checked_sub(1)
            .and_then(|i| words.get(i))
            .map_or("", |word| &word.text);
        let right = words.get(i + 1).map_or("", |word| &word.text);
        if !out.is_empty() && left.chars().count() <= GAP {
            // The tail of the last value may hold the beginning of this gap already.
            let told = head_of_value(left).len();
            out.push_str(left.get(told..).unwrap_or(""));
        } else {
            if !out.is_empty() {
                out.push('…');
            }
            out.push_str(tail_of_value(left));
        }
        out.push_str(&word.text);
        out.push_str(head_of_value(right));
        if out.chars().count() > max {
            break;
        }
    }
    out.trim().to_owned()
}

fn tail_of_value(text: &str) -> &str {
    text.rfind(|c| !of_value(c)).map_or(text, |at| {
        let len = text
            .get(at..)
            .and_then(|s| s.chars().next())
            .map_or(0, char::len_utf8);
        text.get(at + len..).unwrap_or("")
    })
}

fn head_of_value(text: &str) -> &str {
    text.find(|c| !of_value(c))
        .and_then(|at| text.get(..at))
        .unwrap_or(text)
}

/// Characters that a value is written with: figures, units, separators of dates and times.
fn of_value(c: char) -> bool {
    fold::wide(c.encode_utf8(&mut [0; 4]))
        .chars()
        .all(|c| c.is_numeric() || "年月日時分秒円万億千人名歳才回階%$€£¥.,:/-~".contains(c))
}

/// At most `max` characters, with `…` where something was cut.
fn clip(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    text.chars()
        .take(max.saturating_sub(1))
        .chain(['…'])
        .collect()
}
