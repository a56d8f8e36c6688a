//! Tables and times for a terminal: columns that line up with full-width characters, colour only
//! where somebody sees it.

use std::io::IsTerminal as _;

use jiff::tz::TimeZone;
use reigi_core::charter::Lang;
use reigi_core::time::Timestamp;
use unicode_width::UnicodeWidthStr as _;

/// The colours of the house. Never alone: a word or a sign stands beside each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ink {
    /// Body text.
    Plain,
    /// Of less weight.
    Muted,
    /// 松葉: kept, added.
    Pine,
    /// 朱: broken, removed, confirmed.
    Vermilion,
    /// 山吹: held, waiting.
    Amber,
    /// 藍: headings, places.
    Indigo,
}

/// Whether standard output is a terminal that wants colour.
pub(crate) fn is_coloured() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

impl Ink {
    /// The text in this colour, where `coloured`.
    pub(crate) fn paint(self, text: &str, coloured: bool) -> String {
        let code = match self {
            _ if !coloured || text.is_empty() => return text.to_owned(),
            Self::Plain => return text.to_owned(),
            Self::Muted => "2",
            Self::Pine => "32",
            Self::Vermilion => "31",
            Self::Amber => "33",
            Self::Indigo => "34",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// A table: a header, then rows. Columns of numbers stand to the right.
pub(crate) struct Table {
    rows: Vec<Vec<(String, Ink)>>,
    right: &'static [usize],
}

impl Table {
    /// A table with these headings; `right`: columns of numbers.
    pub(crate) fn new(headings: &[&str], right: &'static [usize]) -> Self {
        let header = headings
            .iter()
            .map(|text| ((*text).to_owned(), Ink::Muted))
            .collect();
        Self {
            rows: vec![header],
            right,
        }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<(String, Ink)>) {
        self.rows.push(
            cells
                .into_iter()
                .map(|(text, ink)| (plain(&text), ink))
                .collect(),
        );
    }

    /// The lines, each column as wide as its widest cell.
    pub(crate) fn render(&self, coloured: bool) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| -> usize {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|(text, _)| text.width()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (text, ink)) in row.iter().enumerate() {
                let wide = widths.get(column).copied().unwrap_or(0);
                let pad = " ".repeat(wide.saturating_sub(text.width()));
                let text = ink.paint(text, coloured);
                line += if column == 0 { "" } else { "  " };
                if self.right.contains(&column) {
                    line += &(pad + &text);
                } else {
                    line += &(text + &pad);
                }
            }
            out += line.trim_end();
            out.push('\n');
        }
        out
    }
}

/// A text from outside in one line, without what would move a terminal's cursor.
pub(crate) fn plain(text: &str) -> String {
    let is_bad = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .map(|c| if is_bad(c) { ' ' } else { c })
        .collect()
}

/// A text of at most `cells` terminal cells.
pub(crate) fn clip(text: &str, cells: usize) -> String {
    let text = plain(text);
    if text.width() <= cells {
        return text;
    }
    let mut short = String::new();
    for c in text.chars() {
        short.push(c);
        if short.width() >= cells {
            short.pop();
            break;
        }
    }
    short + "…"
}

/// A moment as people write it, in the house's zone: `12月1日 09:30`, `1 Dec 09:30`, with the year
/// where it is not the one of `now`.
pub(crate) fn moment(at: Timestamp, now: Timestamp, zone: &TimeZone, lang: Lang) -> String {
    let at = at.jiff().to_zoned_datetime(zone.clone());
    let year = at.year() != now.jiff().to_zoned_datetime(zone.clone()).year();
    let form = match (lang, year) {
        (Lang::Ja, false) => "%-m月%-d日 %H:%M",
        (Lang::Ja, true) => "%Y年%-m月%-d日 %H:%M",
        (Lang::En, false) => "%-d %b %H:%M",
        (Lang::En, true) => "%-d %b %Y %H:%M",
    };
    at.strftime(form).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_with_full_width_characters() {
        let mut table = Table::new(&["名前", "n"], &[1]);
        table.row(vec![
            ("東京の科学館".to_owned(), Ink::Plain),
            ("7".to_owned(), Ink::Pine),
        ]);
        table.row(vec![
            ("a\u{1b}[31m\n".to_owned(), Ink::Plain),
            ("12".to_owned(), Ink::Plain),
        ]);
        assert_eq!(
            table.render(false),
            "名前           n\n東京の科学館   7\na [31m        12\n"
        );
        assert!(table.render(true).contains("\u{1b}[32m7\u{1b}[0m"));
    }

    #[test]
    fn long_texts_are_cut_by_cells() {
        assert_eq!(clip("大人 500円", 20), "大人 500円");
        assert_eq!(clip("大人大人大人", 7), "大人大…");
        assert_eq!(clip("abcdef", 4), "abc…");
    }

    #[test]
    fn moments_name_the_year_only_where_it_differs() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let tokyo = TimeZone::get("Asia/Tokyo").unwrap();
        let (now, soon) = (at("2026-11-30T10:00:00Z"), at("2026-12-01T00:30:00Z"));
        assert_eq!(moment(soon, now, &tokyo, Lang::Ja), "12月1日 09:30");
        assert_eq!(moment(soon, now, &tokyo, Lang::En), "1 Dec 09:30");
        let later = at("2027-01-05T00:00:00Z");
        assert_eq!(moment(later, now, &tokyo, Lang::Ja), "2027年1月5日 09:00");
    }
}
