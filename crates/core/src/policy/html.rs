//! The page as one HTML document: style inside, no script, nothing fetched from anywhere.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::document::{Block, Inline, Line, Row, Sentence};
use super::markdown::sign;
use super::{Page, Standing, words};
use crate::charter::Lang;

const STYLE: &str = include_str!("style.css");

/// The page may load nothing but its own style, wherever it is hosted.
const SECURITY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Tag and name of the other language.
pub(super) fn other_language(lang: Lang) -> (&'static str, &'static str) {
    match lang {
        Lang::Ja => ("en", "English"),
        Lang::En => ("ja", "日本語"),
    }
}

fn tag(lang: Lang) -> &'static str {
    match lang {
        Lang::Ja => "ja",
        Lang::En => "en",
    }
}

/// Words of the frame: skip link, contents.
fn frame(lang: Lang) -> [&'static str; 2] {
    match lang {
        Lang::Ja => ["本文へ", "目次"],
        Lang::En => ["Skip to the text", "Contents"],
    }
}

pub(super) fn render(page: &Page) -> Markup {
    let [skip, contents] = frame(page.lang);
    html! {
        (DOCTYPE)
        html lang=(tag(page.lang)) {
            (head(page))
            body {
                a.skip href="#text" { (skip) }
                (masthead(page))
                div.frame {
                    nav aria-label=(contents) {
                        p { (contents) }
                        ul {
                            @for section in &page.sections {
                                li { a href={ "#" (section.anchor) } { (section.title) } }
                            }
                        }
                    }
                    main #text tabindex="-1" {
                        @for section in &page.sections {
                            (line_break())
                            section #(section.anchor) aria-labelledby={ (section.anchor) "-title" } {
                                h2 id={ (section.anchor) "-title" } { (section.title) }
                                @for block in &section.blocks { (self::block(block)) }
                            }
                        }
                    }
                }
                (line_break())
                footer { p { (page.title) " · " (words::date(&page.updated, page.lang)) } }
            }
        }
    }
}

fn head(page: &Page) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta http-equiv="Content-Security-Policy" content=(SECURITY);
            meta name="description" content=(page.lead);
            meta name="reigi-charter" content=(page.charter);
            title { (page.title) }
            @if let Some(href) = &page.other_lang_href {
                link rel="alternate" hreflang=(other_language(page.lang).0) href=(href);
            }
            style { (PreEscaped(STYLE)) }
        }
    }
}

fn masthead(page: &Page) -> Markup {
    let (other, name) = other_language(page.lang);
    html! {
        header {
            @if let Some(href) = &page.other_lang_href {
                p.language { a href=(href) hreflang=(other) lang=(other) { (name) } }
            }
            h1 { (page.title) }
            p.lead { (page.lead) }
            dl.glance { @for row in &page.glance { (self::row(row)) } }
        }
    }
}

fn block(block: &Block) -> Markup {
    html! {
        (line_break())
        @match block {
            Block::Paragraph(line) => { p { (self::line(line)) } }
            Block::Heading(title) => { h3 { (title) } }
            Block::Code { says, text } => {
                figure {
                    figcaption { (says) }
                    pre { code { (text.trim_end()) } }
                }
            }
            Block::List(items) => { ul { @for item in items { li { (self::line(item)) } } } }
            Block::Rows(rows) => { dl.rows { @for row in rows { (self::row(row)) } } }
            Block::Table { caption, head, rows } => { (table(caption, head, rows)) }
            Block::Promises(sentences) => {
                div.promises { @for sentence in sentences { (promise(sentence)) } }
            }
        }
    }
}

fn promise(sentence: &Sentence) -> Markup {
    html! {
        (line_break())
        div.promise #(sentence.anchor) {
            @if !sentence.title.is_empty() { h3 { (sentence.title) } }
            div {
                p { (sentence.text) }
                @if let Some((standing, words)) = &sentence.standing {
                    p class={ "standing " (class(*standing)) } {
                        span aria-hidden="true" { (sign(*standing)) } " " (words)
                    }
                }
            }
        }
    }
}

fn class(standing: Standing) -> &'static str {
    match standing {
        Standing::Checked { broken: 1.., .. } => "broken",
        Standing::Checked {
            undecidable: 1.., ..
        } => "undecidable",
        Standing::Checked { kept: 0, .. } | Standing::Declared => "declared",
        Standing::Checked { .. } => "kept",
    }
}

/// Explicit roles: on a phone the rows become cards, and some browsers would then forget that
/// this is a table.
fn table(caption: &str, head: &[String], rows: &[Vec<Line>]) -> Markup {
    html! {
        table role="table" {
            caption { (caption) }
            thead role="rowgroup" {
                tr role="row" {
                    @for name in head { th scope="col" role="columnheader" { (name) } }
                }
            }
            tbody role="rowgroup" {
                @for row in rows {
                    tr role="row" {
                        @for (at, (cell, name)) in row.iter().zip(head).enumerate() {
                            @if at == 0 {
                                th scope="row" role="rowheader" { (line(cell)) }
                            } @else {
                                td role="cell" data-label=(name) { (line(cell)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn row(row: &Row) -> Markup {
    html! { div { dt { (row.term) } dd { (line(&row.line)) } } }
}

fn line(line: &Line) -> Markup {
    html! {
        @for part in line {
            @match part {
                Inline::Text(words) => { (words) }
                Inline::Code(words) => { code { (words) } }
                Inline::Link { href, text } => { a href=(href) { (text) } }
            }
        }
    }
}

/// Keeps the source readable, line by line.
fn line_break() -> PreEscaped<&'static str> {
    PreEscaped("\n")
}
