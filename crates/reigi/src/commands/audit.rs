//! `reigi audit`: the proof of every promise, from journal and evidence.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jiff::tz::TimeZone;
use reigi_core::audit::versions::Evidence;
use reigi_core::audit::{Auditor, Options, PromiseReport, Report, Status};
use reigi_core::charter::Lang;
use reigi_core::digest::Digest;
use reigi_core::event::{Event, Seq};
use reigi_core::journal::Entry;
use reigi_core::promise::Note;
use reigi_core::time::Timestamp;
use reigi_store::Store;
use serde::Serialize;
use tokio::runtime::Runtime;

use super::rebuild::{self, Rebuilt};
use super::{json_line, runtime, stdout, time_of};
use crate::cli::Audit;
use crate::exit::{Exit, Failure, Outcome};
use crate::house::Home;
use crate::lang::pick;
use crate::table::{Ink, Table, is_coloured};
use std::io::Write as _;

/// Entries read at once.
const PAGE: usize = 2_000;
/// Entries named under a promise in the report for people.
const SHOWN: usize = 5;

/// What an audit found, besides the promises.
#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    report: Report,
    /// What a published head names: the journal's last entry.
    head: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Hashed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rebuild: Option<Rebuilt>,
}

/// What hashing every body again found.
#[derive(Default, Serialize)]
struct Hashed {
    /// Bodies that are what their name says.
    whole: u64,
    /// Bodies that are not.
    damaged: Vec<Digest>,
    /// Bodies that the journal says are kept, and that are not there.
    missing: Vec<Digest>,
}

impl Found {
    fn is_clean(&self) -> bool {
        let whole = self
            .evidence
            .as_ref()
            .is_none_or(|e| e.damaged.is_empty() && e.missing.is_empty());
        let same = self.rebuild.as_ref().is_none_or(Rebuilt::is_same);
        self.report.is_clean() && whole && same
    }
}

/// Does it.
pub(crate) fn run(asked: &Audit, lang: Option<Lang>) -> Outcome {
    let home = Home::open(asked.dir.as_deref())?;
    let lang = lang.unwrap_or(home.file.lang);
    let options = Options {
        since: asked
            .since
            .as_deref()
            .map(|text| time_of(text, &home.file.zone))
            .transpose()?,
        published_head: asked.head.as_deref().map(head_of).transpose()?,
        pages: asked.evidence,
    };
    let rt = runtime()?;
    let Some(store) = rt.block_on(home.store())? else {
        return nothing_yet(asked, lang);
    };
    let report = report(&rt, &store, &options)?;
    let found = Found {
        head: last_head(&report),
        evidence: asked.evidence.then(|| hashed(&rt, &store)).transpose()?,
        rebuild: asked
            .rebuild
            .then(|| rt.block_on(rebuild::run(&home, &store)))
            .transpose()?,
        report,
    };
    let mut out = stdout();
    if asked.json {
        json_line(&mut out, &found)?;
    } else {
        out.write_all(in_words(&found, lang, is_coloured()).as_bytes())?;
    }
    out.flush()?;
    Ok(if found.is_clean() {
        Exit::Fine
    } else {
        Exit::No
    })
}

fn nothing_yet(asked: &Audit, lang: Lang) -> Outcome {
    if asked.head.is_some() {
        return Err(Failure::no(
            "公表された head のある台帳（ジャーナル）が、ここにはありません。",
            "The journal that the head was published of is not here.",
        ));
    }
    if !asked.json {
        super::print(pick(
            lang,
            "まだ記録がありません。`reigi run` で巡回すると、ここに証明が出ます。\n",
            "Nothing is on record yet. After a `reigi run` the proof is shown here.\n",
        ))?;
    }
    Ok(Exit::Fine)
}

/// `SEQ:HASH`.
fn head_of(text: &str) -> Result<(Seq, Digest), Failure> {
    let parts = text
        .split_once(':')
        .and_then(|(seq, hash)| Some((Seq(seq.trim().parse().ok()?), Digest::parse(hash.trim())?)));
    parts.ok_or_else(|| {
        Failure::bad_input(
            format!("--head を読めません（{text}）。"),
            format!("--head cannot be read: {text}."),
        )
        .hint(
            "番号と、16進数64桁のハッシュを、1234:ab…のように書いてください。",
            "Write the number and the 64 hex digits of the hash, like 1234:ab….",
        )
    })
}

/// Audits the whole journal, page by page.
pub(crate) fn report(rt: &Runtime, store: &Store, options: &Options) -> Result<Report, Failure> {
    let bodies = Bodies { rt, store };
    let mut auditor = Auditor::new(&bodies, options);
    each_entry(rt, store, |entry| auditor.see(entry))?;
    Ok(auditor.finish())
}

/// Calls `see` with every entry in order.
fn each_entry(rt: &Runtime, store: &Store, mut see: impl FnMut(&Entry)) -> Result<(), Failure> {
    let mut from = Seq(0);
    loop {
        let page = rt.block_on(store.entries(from, PAGE))?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        from = Seq(last.header.seq.0 + 1);
        page.iter().for_each(&mut see);
    }
}

/// Bodies as the audit reads them. One that cannot be read is one that is not there: what rests
/// on it is undecidable.
struct Bodies<'a> {
    rt: &'a Runtime,
    store: &'a Store,
}

impl Evidence for Bodies<'_> {
    fn body(&self, digest: Digest) -> Option<Vec<u8>> {
        self.rt.block_on(self.store.get_body(digest)).ok().flatten()
    }
}

/// Reads every body that is stored or that the journal says is.
fn hashed(rt: &Runtime, store: &Store) -> Result<Hashed, Failure> {
    let mut named = BTreeSet::new();
    each_entry(rt, store, |entry| match entry.event() {
        Ok(Some(Event::Answered(answered))) => named.extend(answered.body.map(|b| b.digest)),
        Ok(Some(Event::EvidenceDropped(dropped))) => {
            for digest in &dropped.digests {
                named.remove(digest);
            }
        }
        _ => {}
    })?;
    let mut found = Hashed::default();
    let stored = rt.block_on(store.bodies())?;
    let all: BTreeSet<Digest> = stored.iter().map(|b| b.digest).chain(named).collect();
    for digest in all {
        match rt.block_on(store.get_body(digest)) {
            Ok(Some(body)) if Digest::of(&body) == digest => found.whole += 1,
            Ok(Some(_)) | Err(reigi_store::Error::Corrupt { .. }) => found.damaged.push(digest),
            Ok(None) => found.missing.push(digest),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

fn in_words(found: &Found, lang: Lang, coloured: bool) -> String {
    let report = &found.report;
    let mut out = verdict(report, lang);
    let headings = match lang {
        Lang::Ja => ["約束", "結果", "守った", "破った", "判定不能"],
        Lang::En => ["promise", "result", "kept", "broken", "undecidable"],
    };
    let mut table = Table::new(&headings, &[2, 3, 4]);
    for promise in &report.promises {
        let (word, ink) = match (promise.status, promise.finding.kept) {
            // Kept, but nothing has put it to the test: no reason to praise it.
            (Status::Kept, 0) => (pick(lang, "― 該当なし", "no case yet"), Ink::Muted),
            (status, _) => standing(status, lang),
        };
        let count = |n: u64| match promise.status {
            Status::Declared => (String::new(), Ink::Plain),
            _ => (n.to_string(), if n == 0 { Ink::Muted } else { Ink::Plain }),
        };
        let finding = &promise.finding;
        table.row(vec![
            (promise.title.get(lang).to_owned(), Ink::Plain),
            (word.to_owned(), ink),
            count(finding.kept),
            count(finding.broken),
            count(finding.undecidable),
        ]);
    }
    out += &table.render(coloured);
    for promise in &report.promises {
        details(&mut out, promise, lang);
    }
    beside(&mut out, found, lang);
    out
}

fn verdict(report: &Report, lang: Lang) -> String {
    let (entries, requests) = (report.entries, report.requests);
    let says = match (lang, report.is_clean()) {
        (Lang::Ja, true) => "約束はすべて守られています（当方の記録による）。",
        (Lang::Ja, false) => "守られていない約束、または記録の異常があります。",
        (Lang::En, true) => "No promise is known to be broken, by our own journal.",
        (Lang::En, false) => "A promise was broken, or the journal is not in order.",
    };
    match lang {
        Lang::Ja => {
            format!("{says}\n記録 {entries} 件、リクエスト {requests} 件を調べました。\n\n")
        }
        Lang::En => {
            format!("{says}\n{entries} entries and {requests} requests were looked at.\n\n")
        }
    }
}

fn standing(status: Status, lang: Lang) -> (&'static str, Ink) {
    match status {
        Status::Kept => (pick(lang, "○ 守った", "kept"), Ink::Pine),
        Status::Broken => (pick(lang, "× 破った", "BROKEN"), Ink::Vermilion),
        Status::Undecidable => (pick(lang, "△ 判定不能", "undecidable"), Ink::Amber),
        Status::Declared => (pick(lang, "― 宣言のみ", "declared"), Ink::Muted),
    }
}

/// Breaches with their entries, and why what is undecidable is.
fn details(out: &mut String, promise: &PromiseReport, lang: Lang) {
    let finding = &promise.finding;
    let parts = [
        (
            &finding.breaches,
            finding.broken,
            pick(lang, "破ったもの", "broken"),
        ),
        (
            &finding.open,
            finding.undecidable,
            pick(lang, "判定できないもの", "undecidable"),
        ),
    ];
    for (notes, count, word) in parts {
        if count == 0 {
            continue;
        }
        let _ = writeln!(
            out,
            "\n{} ({}) {word}:",
            promise.title.get(lang),
            promise.id
        );
        list(out, notes, count, lang);
    }
}

fn list(out: &mut String, notes: &[Note], count: u64, lang: Lang) {
    for note in notes.iter().take(SHOWN) {
        let (seq, what) = (note.seq.0, crate::table::plain(&note.what));
        let _ = writeln!(out, "  {}{seq}: {what}", pick(lang, "記録 ", "entry "));
    }
    let shown = u64::try_from(notes.len().min(SHOWN)).unwrap_or(count);
    if count > shown {
        let rest = count - shown;
        let more = match lang {
            Lang::Ja => format!("  ほかに {rest} 件（すべては --json で）"),
            Lang::En => format!("  … and {rest} more (see --json)"),
        };
        let _ = writeln!(out, "{more}");
    }
}

/// Chain, loose ends, evidence, rebuild, head.
fn beside(out: &mut String, found: &Found, lang: Lang) {
    let report = &found.report;
    out.push('\n');
    if report.chain.is_empty() {
        *out += pick(
            lang,
            "記録のつながり：異常なし\n",
            "The chain of the journal holds.\n",
        );
    } else {
        *out += pick(
            lang,
            "記録のつながりに異常があります：\n",
            "The chain of the journal is broken:\n",
        );
        for fault in report.chain.iter().take(SHOWN) {
            let _ = writeln!(out, "  {fault}");
        }
    }
    if !report.loose_ends.is_empty() {
        *out += pick(
            lang,
            "許可と結果の対応に異常があります：\n",
            "Permits and ends do not match:\n",
        );
        list(
            out,
            &report.loose_ends,
            report.loose_ends.len() as u64,
            lang,
        );
    }
    if report.erased > 0 {
        let erased = report.erased;
        *out += &match lang {
            Lang::Ja => format!("本文を消した記録：{erased} 件\n"),
            Lang::En => format!("Entries whose payload was erased: {erased}\n"),
        };
    }
    if let Some(evidence) = &found.evidence {
        let Hashed {
            whole,
            damaged,
            missing,
        } = evidence;
        let (damaged, missing) = (damaged.len(), missing.len());
        *out += &match lang {
            Lang::Ja => format!(
                "保存した本文：正しいもの {whole}、壊れたもの {damaged}、ないもの {missing}\n"
            ),
            Lang::En => format!("Bodies: {whole} whole, {damaged} damaged, {missing} missing\n"),
        };
    }
    if let Some(rebuilt) = &found.rebuild {
        *out += &rebuilt.in_words(lang);
    }
    if let Some(head) = &found.head {
        *out += &match lang {
            Lang::Ja => format!("公表できる head：{head}\n"),
            Lang::En => format!("Head to publish: {head}\n"),
        };
    }
}

/// The report of a plain audit, for people.
pub(crate) fn table(report: Report, lang: Lang) -> String {
    let found = Found {
        head: last_head(&report),
        report,
        evidence: None,
        rebuild: None,
    };
    in_words(&found, lang, is_coloured())
}

/// What a published head names.
fn last_head(report: &Report) -> Option<String> {
    let head = report.heads.iter().max_by_key(|head| head.seq)?;
    Some(format!("{}:{}", head.seq.0, head.hash))
}

/// The day of a moment in a zone, `YYYY-MM-DD`.
pub(crate) fn day(at: Timestamp, zone: &TimeZone) -> String {
    at.jiff().to_zoned_datetime(zone.clone()).date().to_string()
}
