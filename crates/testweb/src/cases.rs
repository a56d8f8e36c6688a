//! Pages of kinds once seen in the field, on the host `cases.test`: charsets without or with
//! misleading labels, sitemaps that are nearly XML, pages whose blocks change places.

use crate::answer::Answer;
use crate::content::plain;
use crate::site::{Page, Site, Source, day};

/// The host `cases.test`:
///
/// | path | what |
/// | --- | --- |
/// | `/charset/unlabelled.html` | UTF-8, named nowhere |
/// | `/charset/meta-sjis.html` | Shift_JIS, named by `http-equiv` only |
/// | `/charset/cp932.html` | labelled Shift_JIS, with characters that only windows-31j has |
/// | `/charset/description.html` | UTF-8; a description holds the words `charset=gbk` |
/// | `/charset/data-charset.html` | UTF-8; a meta has `data-charset=gbk` |
/// | `/charset/euc-jp.html` | EUC-JP, named by the HTTP header |
/// | `/sitemap/bom.xml` | BOM and blanks before the XML declaration |
/// | `/sitemap/spaces.xml` | Unicode spaces around a URL in CDATA |
/// | `/sitemap/entity.xml` | an entity that nobody declared, an element left open |
/// | `/unstable.html` | a block before, after, or without the main text, in turn |
/// | `/museum/fees.html` | a page until 2026-05-01, then a redirect to `/` |
/// | `/museum/moved.html` | a page until 2026-05-01, then a redirect to the same text |
#[must_use]
pub fn site() -> Site {
    let moves = day(2026, 5, 1);
    let fees = || plain("観覧料のご案内");
    Site::new("cases.test")
        .robots(Answer::robots("User-agent: *\nAllow: /\n"))
        .page("/", plain("入口"))
        .page(
            "/charset/unlabelled.html",
            unlabelled(&page("", "Café と日本語の案内")),
        )
        .page("/charset/meta-sjis.html", meta_sjis())
        .page("/charset/cp932.html", cp932())
        .page(
            "/charset/description.html",
            unlabelled(&page(
                "<meta name=\"description\" content=\"charset=gbk\">",
                "文字コードの話",
            )),
        )
        .page(
            "/charset/data-charset.html",
            unlabelled(&page("<meta data-charset=\"gbk\">", "文字コードの話")),
        )
        .page("/charset/euc-jp.html", euc_jp())
        .page(
            "/sitemap/bom.xml",
            sitemap("\u{feff}\n \t\r\n", "http://cases.test/museum/fees.html"),
        )
        .page(
            "/sitemap/spaces.xml",
            sitemap(
                "",
                "<![CDATA[\u{a0}http://cases.test/museum/fees.html\u{2000}]]>",
            ),
        )
        .page(
            "/sitemap/entity.xml",
            Answer::new("application/xml", "<urlset><url>&k;"),
        )
        .page("/unstable.html", unstable())
        .page(
            "/museum/fees.html",
            Page::new(fees()).then(moves, Answer::redirect(302, "/")),
        )
        .page(
            "/museum/moved.html",
            Page::new(fees()).then(moves, Answer::redirect(301, "/museum/moved/")),
        )
        .page("/museum/moved/", fees())
}

fn page(head: &str, text: &str) -> String {
    format!("<html><head>{head}<title>案内</title></head><body><p>{text}</p></body></html>\n")
}

/// UTF-8 without a charset in the header.
fn unlabelled(html: &str) -> Answer {
    Answer::new("text/html", html.to_owned())
}

fn meta_sjis() -> Answer {
    let meta = "<meta http-equiv=\"Content-Type\" content=\"text/html;charset=Shift-JIS\">";
    let html = page(meta, "日本語のご案内");
    let (body, _, _) = encoding_rs::SHIFT_JIS.encode(&html);
    Answer::new("text/html", body.into_owned())
}

fn cp932() -> Answer {
    // 髙 and 﨑, a kilogram sign, a company sign and a circled digit: rows of NEC and IBM.
    let html = page("", "髙田と山﨑、㎏、㈱、①");
    let (body, _, _) = encoding_rs::SHIFT_JIS.encode(&html);
    Answer::new("text/html; charset=Shift_JIS", body.into_owned())
}

fn euc_jp() -> Answer {
    let html = page("", "講座のご案内");
    let (body, _, _) = encoding_rs::EUC_JP.encode(&html);
    Answer::new("text/html; charset=EUC-JP", body.into_owned())
}

fn sitemap(before: &str, location: &str) -> Answer {
    let xml = format!(
        "{before}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
         <url><loc>{location}</loc></url></urlset>\n"
    );
    Answer::new("application/xml", xml)
}

fn unstable() -> Source {
    let aside = "<aside><iframe src=\"/map\" title=\"地図\"></iframe><p>交通のご案内</p></aside>";
    let main =
        "<main><h1>観覧料</h1><p>一般 600円、大学生 400円、高校生以下は無料です。</p></main>";
    let form = |parts: &str| {
        Answer::html(format!(
            "<!DOCTYPE html><html lang=\"ja\"><head><meta charset=\"utf-8\"><title>観覧料</title>\
             </head><body>{parts}</body></html>\n"
        ))
    };
    let (before, after) = (
        form(&format!("{aside}{main}")),
        form(&format!("{main}{aside}")),
    );
    Source::Rotating(vec![
        before.clone(),
        after.clone(),
        before,
        after,
        form(main),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;
    use crate::site::Ask;

    fn get(site: &Site, path: &str) -> Answer {
        let request = Request::read(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes());
        let now = day(2026, 6, 1);
        site.answer(Ask {
            host: "cases.test",
            request: &request,
            now,
            turn: 0,
        })
        .answer
    }

    #[test]
    fn labels_and_bytes_are_as_the_table_says() {
        let site = site();
        for (path, content_type, bytes) in [
            ("unlabelled", "text/html", "日本語".as_bytes()),
            ("meta-sjis", "text/html", b"\x93\xfa\x96\x7b\x8c\xea"),
            ("cp932", "text/html; charset=Shift_JIS", b"\xfa\xb1"),
            ("cp932", "text/html; charset=Shift_JIS", b"\x87\x40"),
            ("description", "text/html", b"content=\"charset=gbk\""),
            ("data-charset", "text/html", b"data-charset=\"gbk\""),
            ("euc-jp", "text/html; charset=EUC-JP", b"\xb9\xd6\xba\xc2"),
        ] {
            let answer = get(&site, &format!("/charset/{path}.html"));
            assert_eq!(answer.headers[0].1, content_type.as_bytes(), "{path}");
            assert!(
                answer.body.windows(bytes.len()).any(|w| w == bytes),
                "{path}"
            );
        }
    }

    #[test]
    fn blocks_change_places_and_a_page_moves_away() {
        let site = site();
        let forms = [0, 1, 2].map(|_| get(&site, "/unstable.html").body);
        assert_ne!(forms[0], forms[1]);
        assert_eq!(forms[0], forms[2]);
        assert_eq!(get(&site, "/museum/fees.html").status, 302);
        assert!(
            get(&site, "/sitemap/bom.xml")
                .body
                .starts_with(b"\xef\xbb\xbf\n \t\r\n<?xml")
        );
    }
}
