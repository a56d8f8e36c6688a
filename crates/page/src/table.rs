//! The place of every cell of a table, spans resolved, with the labels of its row and column.
//!
//! A label is the text of the header cells that head the cell: to the left for the row, above for
//! the column, outermost first. Many tables mark no header cells, or only those of one direction,
//! so the habits of authors count as well: a row without a header cell is headed by its first
//! cell with words (and by those after it, as long as they span rows), a table without any header
//! cell by its first row where that holds words over values, and a row of one header cell heads
//! the rows below it as a group.

use std::collections::HashMap;

use html5ever::{LocalName, local_name};
use scraper::node::Element;

use crate::dom::{NodeId, NodeRef, attr, next_after};
use crate::line::Line;
use crate::page::Cell;
use crate::visible;

/// The most columns that are told apart; what lies beyond has no place.
const COLUMNS: usize = 512;
/// The longest label, in bytes; a longer text is no label.
const LABEL: usize = 120;
/// The most nodes looked at for one label.
const LABEL_NODES: usize = 256;

/// A column of the grid while the rows are placed.
#[derive(Debug, Clone, Default)]
struct Column {
    /// The row after the last one that the cell above covers.
    free_from: usize,
    /// What that cell says of the rows it covers.
    row_label: Option<String>,
    col_label: Option<String>,
}

/// A row's cells with what decides their part.
struct Row<'a> {
    cells: Vec<(NodeRef<'a>, &'a Element)>,
    /// Nothing but header cells and empty corners.
    all_headers: bool,
    has_header: bool,
}

#[derive(Default)]
struct Grid {
    columns: Vec<Column>,
    group: Option<String>,
    /// The row before was a row of headers.
    in_head: bool,
    /// A table that only arranges the page: its cells do not head one another.
    layout: bool,
}

/// Places the cells of the `ordinal`-th table of a document.
pub(crate) fn place(table: NodeRef<'_>, ordinal: u32, cells: &mut HashMap<NodeId, Cell>) {
    let rows = rows(table);
    let unmarked = !rows.iter().any(|row| row.has_header);
    let layout = unmarked && (rows.len() == 1 || rows.iter().any(holds_table));
    let headed = unmarked && !layout && first_heads(&rows);
    let mut grid = Grid {
        layout,
        in_head: true,
        ..Grid::default()
    };
    for (index, row) in rows.iter().enumerate() {
        let heads = row.all_headers || (headed && index == 0);
        if row.all_headers && row.cells.len() == 1 && index > 0 {
            grid.group = row.cells.first().and_then(|(node, _)| label(*node));
        }
        grid.place_row(
            row,
            heads,
            index,
            rows.len(),
            |id, column, row_label, col_label| {
                let (row, column) = (ordinal_of(index), ordinal_of(column));
                cells.insert(
                    id,
                    Cell {
                        table: ordinal,
                        row,
                        column,
                        row_label,
                        col_label,
                    },
                );
            },
        );
        grid.in_head = heads;
    }
}

impl Grid {
    fn place_row(
        &mut self,
        row: &Row<'_>,
        heads: bool,
        index: usize,
        rows: usize,
        mut placed: impl FnMut(NodeId, usize, Option<String>, Option<String>),
    ) {
        let is_group = heads && row.cells.len() == 1 && index > 0;
        let (mut column, mut row_label) = (0, self.group.clone().filter(|_| !heads));
        let mut seeks_head = !row.has_header && !self.layout;
        for (node, element) in &row.cells {
            while let Some(above) = self.columns.get(column).filter(|c| c.free_from > index) {
                row_label = joined(row_label, above.row_label.as_deref());
                column += 1;
            }
            if column >= COLUMNS {
                return;
            }
            let wide = span(element, &local_name!("colspan"))
                .max(1)
                .min(COLUMNS - column);
            let tall = match span(element, &local_name!("rowspan")) {
                0 => rows - index,
                tall => tall.min(rows - index),
            };
            if self.columns.len() < column + wide {
                self.columns.resize(column + wide, Column::default());
            }
            let covered = self.columns.get(column..column + wide).unwrap_or_default();
            let col_label = covered.first().and_then(|c| c.col_label.clone());
            placed(
                node.id(),
                column,
                row_label.clone(),
                col_label.filter(|_| !heads),
            );

            let text = label(*node);
            let header = element.name.local == local_name!("th");
            let by_habit = seeks_head
                && text
                    .as_deref()
                    .is_some_and(|t| has_words(t) && (column == 0 || !is_value(t)));
            seeks_head = seeks_head && by_habit && tall > 1;
            let heads_row = text.as_deref().filter(|_| !heads && (header || by_habit));
            let column_scope =
                attr(element, &local_name!("scope")).is_some_and(|s| s.starts_with("col"));
            let heads_column = !is_group && (heads || (header && column_scope));
            let keeps = self.in_head && heads;
            for col in self.columns.iter_mut().skip(column).take(wide) {
                col.free_from = index + tall;
                col.row_label = heads_row.map(str::to_owned);
                if heads_column {
                    let over = col.col_label.take().filter(|_| keeps);
                    col.col_label = joined(over, text.as_deref());
                }
            }
            row_label = joined(row_label, heads_row);
            column += wide;
        }
    }
}

/// The rows that belong to this table itself.
fn rows(table: NodeRef<'_>) -> Vec<Row<'_>> {
    let is = |node: &NodeRef<'_>, names: &[LocalName]| {
        node.value()
            .as_element()
            .is_some_and(|e| names.contains(&e.name.local))
    };
    let groups = [
        local_name!("tbody"),
        local_name!("thead"),
        local_name!("tfoot"),
    ];
    let mut rows = Vec::new();
    for child in table.children() {
        if is(&child, &groups) {
            rows.extend(
                child
                    .children()
                    .filter(|c| is(c, &[local_name!("tr")]))
                    .map(row),
            );
        } else if is(&child, &[local_name!("tr")]) {
            rows.push(row(child));
        }
    }
    rows
}

fn row(row: NodeRef<'_>) -> Row<'_> {
    let cell = |node: NodeRef<'_>| -> Option<bool> {
        match node.value().as_element()?.name.local {
            local_name!("th") => Some(true),
            local_name!("td") => Some(false),
            _ => None,
        }
    };
    let cells: Vec<_> = row
        .children()
        .filter(|node| cell(*node).is_some())
        .filter_map(|node| Some((node, node.value().as_element()?)))
        .collect();
    let has_header = cells.iter().any(|(node, _)| cell(*node) == Some(true));
    let all_headers = has_header
        && cells.iter().all(|(node, _)| {
            cell(*node) == Some(true) || label(*node).is_some_and(|text| text.is_empty())
        });
    Row {
        cells,
        all_headers,
        has_header,
    }
}

/// Whether the first row of a table without header cells heads its columns: it holds words, not
/// values; and where there are but two columns (mostly a label and a value a row), every other row
/// ends in a value.
fn first_heads(rows: &[Row<'_>]) -> bool {
    let Some((first, rest)) = rows.split_first() else {
        return false;
    };
    let wordy = |(cell, _): &(NodeRef<'_>, _)| {
        label(*cell).is_some_and(|text| !text.is_empty() && !is_value(&text))
    };
    let ends_in_value = |row: &Row<'_>| {
        let last = row.cells.last().and_then(|(cell, _)| label(*cell));
        last.is_some_and(|text| is_value(&text))
    };
    !rest.is_empty()
        && first.cells.len() > 1
        && first.cells.iter().all(wordy)
        && (first.cells.len() > 2 || rest.iter().all(ends_in_value))
}

/// A price, time, count: its first letter or digit is a digit.
fn is_value(text: &str) -> bool {
    text.chars()
        .find(|c| c.is_alphanumeric())
        .is_some_and(char::is_numeric)
}

/// Whether a cell of the row holds a table of its own, near its start.
fn holds_table(row: &Row<'_>) -> bool {
    row.cells.iter().any(|(cell, _)| {
        let is_table = |node: &NodeRef<'_>| {
            node.value()
                .as_element()
                .is_some_and(|e| e.name.local == local_name!("table"))
        };
        cell.descendants()
            .take(LABEL_NODES)
            .any(|node| is_table(&node))
    })
}

fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

/// The text of a cell, where it is short enough to be a label.
fn label(cell: NodeRef<'_>) -> Option<String> {
    let mut line = Line::default();
    let mut next = cell.first_child();
    for _ in 0..LABEL_NODES {
        let Some(node) = next else { break };
        let mut enter = true;
        if let Some(text) = node.value().as_text() {
            line.push(text);
        } else if let Some(element) = node.value().as_element() {
            enter = !visible::is_hidden(element);
            if matches!(element.name.local, local_name!("br") | local_name!("p")) {
                line.push(" ");
            }
        }
        if line.len() > LABEL {
            return None;
        }
        next = node
            .first_child()
            .filter(|_| enter)
            .or_else(|| next_after(node, cell.id()));
    }
    Some(line.take())
}

/// A span attribute, as the HTML Standard limits it; 1 where absent or malformed.
fn span(element: &Element, name: &LocalName) -> usize {
    let value = attr(element, name).unwrap_or_default().trim();
    let digits = value
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or_default();
    digits.parse().map_or(1, |n: usize| n.min(65534))
}

fn joined(outer: Option<String>, inner: Option<&str>) -> Option<String> {
    match (outer, inner.filter(|text| !text.is_empty())) {
        (Some(outer), Some(inner)) if outer != inner && outer.len() < 4 * LABEL => {
            Some(format!("{outer} / {inner}"))
        }
        (None, Some(inner)) => Some(inner.to_owned()),
        (outer, _) => outer,
    }
}

fn ordinal_of(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
