//! Consent banners: lines that came or went together and are, each of them, part of one.

use std::borrow::Cow;

use super::lines::{Edit, Line, Step};
use super::noise::{NoiseKind, Side};
use super::{fact, fold};
use crate::{BlockKind, Region};

/// Words of consent banners, lower case.
const CONSENT: &[&str] = &[
    "cookie",
    "クッキー",
    "gdpr",
    "consent",
    "consentement",
    "同意",
    "einwilligung",
    "datenschutzeinstellungen",
    "consentimiento",
    "traceurs",
    "쿠키",
    "个人信息",
    "プライバシー設定",
    "privacy settings",
    "privacy preferences",
    "your privacy",
    "votre vie privée",
    "トラッキング",
];

/// Words of their buttons, lower case.
const CONSENT_ACTIONS: &[&str] = &[
    "accept",
    "agree",
    "allow",
    "reject",
    "decline",
    "refuse",
    "deny",
    "manage",
    "customi",
    "preferences",
    "settings",
    "got it",
    "ok",
    "close",
    "dismiss",
    "save",
    "同意",
    "許可",
    "承諾",
    "受け入れ",
    "拒否",
    "設定",
    "閉じる",
    "了解",
    "管理",
    "保存",
    "accepter",
    "refuser",
    "paramétrer",
    "personnaliser",
    "continuer sans",
    "fermer",
    "akzeptieren",
    "ablehnen",
    "zustimmen",
    "einstellungen",
    "schließen",
    "speichern",
    "aceptar",
    "rechazar",
    "configurar",
    "accetta",
    "rifiuta",
    "chiudi",
    "aceitar",
    "동의",
    "거부",
    "닫기",
    "接受",
    "拒绝",
    "×",
    "x",
    "✕",
];

/// Short lines that belong to a banner without a word of their own.
const CONSENT_LINKS: &[&str] = &[
    "詳細",
    "詳しく",
    "もっと見る",
    "プライバシーポリシー",
    "learn more",
    "more info",
    "read more",
    "privacy policy",
    "details",
    "en savoir plus",
    "politique de confidentialité",
    "mehr erfahren",
    "datenschutz",
    "más información",
    "necessary",
    "analytics",
    "marketing",
    "statistics",
    "functional",
    "必須",
    "分析",
    "マーケティング",
];

/// Lines that came or went together and are, each of them, part of a consent banner.
pub(super) fn mark(
    old: &Side<'_>,
    new: &Side<'_>,
    edits: &[Edit],
    kinds: &mut [Option<NoiseKind>],
) {
    let line = |edit: &Edit| new.line(edit.after).or_else(|| old.line(edit.before));
    let dialog = |edit: &Edit| line(edit).is_some_and(|l| l.at.region == Region::Dialog);
    let mut from = 0;
    while let Some(first) = edits.get(from) {
        let along = |edit: &&Edit| edit.step == first.step && dialog(edit) == dialog(first);
        let len = edits.iter().skip(from).take_while(along).count().max(1);
        let group: Vec<&Line<'_>> = edits.iter().skip(from).take(len).filter_map(line).collect();
        let was: Vec<&Line<'_>> = edits
            .iter()
            .skip(from)
            .take(len)
            .filter_map(|edit| old.line(edit.before))
            .collect();
        let banner = match first.step {
            Step::Added | Step::Removed => is_banner(&group, dialog(first)),
            Step::Replaced => is_banner(&group, dialog(first)) && is_banner(&was, dialog(first)),
            _ => false,
        };
        if banner {
            for kind in kinds.iter_mut().skip(from).take(len) {
                *kind = kind.or(Some(NoiseKind::Overlay));
            }
        }
        from += len;
    }
}

/// A consent banner: it names what it asks for, has a button, and every line is part of it. In a
/// dialog, lines without such words pass too, unless they state a fact.
fn is_banner(group: &[&Line<'_>], dialog: bool) -> bool {
    const BUTTON: usize = 40;
    const LINES: usize = 60;
    if group.len() > LINES {
        return false;
    }
    let folded: Vec<Cow<'_, str>> = group
        .iter()
        .map(|line| Cow::Owned(fold::wide(line.text).to_lowercase()))
        .collect();
    let has = |text: &str, words: &[&str]| words.iter().any(|word| names(text, word));
    let asks = |text: &str| has(text, CONSENT);
    let short = |text: &str| text.chars().count() <= BUTTON;
    let acts = |text: &str| short(text) && has(text, CONSENT_ACTIONS);
    let refers = |text: &str| short(text) && has(text, CONSENT_LINKS);
    let body = group
        .iter()
        .any(|line| line.at.region == Region::Main || line.at.cell.is_some());
    // A figure under a heading is under guard, unless the heading came with the banner.
    let own = |heading: &String| {
        let is_heading = |l: &&&Line<'_>| matches!(l.at.kind, BlockKind::Heading(_));
        group
            .iter()
            .filter(is_heading)
            .any(|line| line.text == heading.as_str())
    };
    let guarded = |line: &&&Line<'_>| line.at.headings.last().is_some_and(|h| !own(h));
    let listed = |line: &Line<'_>| matches!(line.at.kind, BlockKind::Term | BlockKind::Definition);
    !body
        && !group.iter().any(|line| listed(line))
        && !group
            .iter()
            .filter(guarded)
            .any(|line| fact::has_figure(line.text))
        && folded.iter().any(|text| asks(text))
        && folded.iter().any(|text| acts(text))
        && folded.iter().all(|text| {
            let part = asks(text) || acts(text) || refers(text) || dialog && !fact::states(text);
            part && !fact::is_price(text)
        })
}

/// Whether the text has the word: as a beginning of one of its own, or, in scripts without spaces
/// and for phrases, anywhere.
fn names(text: &str, word: &str) -> bool {
    if !word.is_ascii() || word.contains(' ') {
        return text.contains(word);
    }
    text.split(|c: char| !c.is_alphanumeric()).any(|own| {
        if word.len() < 3 {
            own == word
        } else {
            own.starts_with(word)
        }
    })
}
