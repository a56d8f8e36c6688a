//! A PDF of one page with one line of text, with a right cross-reference table.

use std::fmt::Write as _;

/// The file's bytes. The text is ASCII without parentheses and backslashes.
pub(super) fn one_line(text: &str) -> String {
    let content = format!("BT /F1 24 Tf 72 720 Td ({text}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (at, object) in objects.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{:010} 00000 n ", file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let start = file.len();
    let size = objects.len() + 1;
    let _ = write!(
        file,
        "{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    );
    file
}

#[cfg(test)]
mod tests {
    #[test]
    fn offsets_lead_to_objects() {
        let file = super::one_line("Hello");
        let table = file.split_once("xref\n0 6\n").unwrap().1;
        for (n, line) in table.lines().skip(1).take(5).enumerate() {
            let at: usize = line[..10].parse().unwrap();
            assert!(
                file[at..].starts_with(&format!("{} 0 obj", n + 1)),
                "{line}"
            );
        }
        let start = file.rsplit("startxref\n").next().unwrap();
        let start: usize = start.lines().next().unwrap().parse().unwrap();
        assert!(file[start..].starts_with("xref\n"));
    }
}
