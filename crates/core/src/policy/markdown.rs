//! The page as Markdown: CommonMark with tables; anchors as empty `<a>` elements.

use std::fmt::Write as _;

use super::document::{Block, Inline, Line, Row, Sentence};
use super::{Page, Standing};

pub(super) fn render(page: &Page) -> String {
    let mut out = String::new();
    push(&mut out, &format!("# {}", escape(&page.title)));
    push(&mut out, &escape(&page.lead));
    push(&mut out, &rows(&page.glance));
    if let Some(href) = &page.other_lang_href {
        let name = super::html::other_language(page.lang).1;
        push(&mut out, &format!("[{name}](<{href}>)"));
    }
    for section in &page.sections {
        push(
            &mut out,
            &format!(
                "<a id=\"{}\"></a>\n\n## {}",
                section.anchor,
                escape(&section.title)
            ),
        );
        for block in &section.blocks {
            push(&mut out, &self::block(block));
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn push(out: &mut String, block: &str) {
    out.push_str(block.trim_end());
    out.push_str("\n\n");
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(line) => self::line(line),
        Block::Heading(title) => format!("### {}", escape(title)),
        Block::Code { says, text } => {
            format!("{}\n\n```text\n{}\n```", escape(says), text.trim_end())
        }
        Block::List(items) => items
            .iter()
            .map(|item| format!("- {}\n", self::line(item)))
            .collect(),
        Block::Rows(rows) => self::rows(rows),
        Block::Table {
            caption,
            head,
            rows,
        } => table(caption, head, rows),
        Block::Promises(sentences) => sentences.iter().map(promise).collect(),
    }
}

fn promise(sentence: &Sentence) -> String {
    let mut out = format!("<a id=\"{}\"></a>\n\n", sentence.anchor);
    if !sentence.title.is_empty() {
        let _ = write!(out, "### {}\n\n", escape(&sentence.title));
    }
    let _ = write!(out, "{}\n\n", escape(&sentence.text));
    if let Some((standing, words)) = &sentence.standing {
        let _ = write!(out, "{} {}\n\n", sign(*standing), escape(words));
    }
    out
}

/// The sign beside a standing's words.
pub(super) fn sign(standing: Standing) -> &'static str {
    match standing {
        Standing::Checked { broken: 1.., .. } => "✕",
        Standing::Checked { kept: 0, .. } => "－",
        Standing::Checked {
            undecidable: 1.., ..
        } => "△",
        Standing::Checked { .. } => "✓",
        Standing::Declared => "◇",
    }
}

fn rows(rows: &[Row]) -> String {
    rows.iter()
        .map(|row| format!("- **{}** {}\n", escape(&row.term), line(&row.line)))
        .collect()
}

fn table(caption: &str, head: &[String], rows: &[Vec<Line>]) -> String {
    let cells = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = format!("**{}**\n\n", escape(caption));
    out.push_str(&cells(head.iter().map(|h| escape(h)).collect()));
    out.push_str(&cells(vec!["---".to_owned(); head.len()]));
    for row in rows {
        out.push_str(&cells(row.iter().map(line).collect()));
    }
    out
}

fn line(line: &Line) -> String {
    line.iter()
        .map(|part| match part {
            Inline::Text(words) => escape(words),
            Inline::Code(words) => format!("`{words}`"),
            Inline::Link { href, text } => format!("[{}](<{href}>)", escape(text)),
        })
        .collect()
}

/// Words that a Markdown reader must not take for marks.
fn escape(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
