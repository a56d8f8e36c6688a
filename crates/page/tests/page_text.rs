//! What a reader sees of a page, in the charset that it was written in.

use reigi_page::{BlockKind, CharsetFrom, InvalidSelector, Kind, Page, Read, Region, Select, Why};

fn read(body: &[u8], content_type: Option<&str>) -> Page {
    match Page::read(body, content_type) {
        Read::Html(page) => *page,
        Read::Other(other) => panic!("{other:?}"),
    }
}

fn html(text: &str) -> Page {
    read(text.as_bytes(), Some("text/html; charset=utf-8"))
}

/// A page as lines: region, kind, cell, path and text of every block, then the references.
fn outline(page: &Page) -> String {
    let mut lines = vec![format!(
        "charset {} from {}, title {:?}, needs {:?}",
        page.charset.name,
        page.charset.from.as_str(),
        page.title,
        page.needs
    )];
    for block in &page.blocks {
        let at = &block.at;
        let cell = at.cell.as_ref().map(|c| {
            let label = |l: &Option<String>| l.clone().unwrap_or_else(|| "-".to_owned());
            let (row, col) = (label(&c.row_label), label(&c.col_label));
            format!(" [t{} r{} c{}: {row} × {col}]", c.table, c.row, c.column)
        });
        lines.push(format!(
            "{:?} {:?}{} {} | {} | {}",
            at.region,
            at.kind,
            cell.unwrap_or_default(),
            at.path,
            at.headings.join(" > "),
            block.text
        ));
    }
    lines.extend(
        page.links
            .iter()
            .map(|link| format!("link {} {:?}", link.href, link.text)),
    );
    lines.extend(
        page.images
            .iter()
            .map(|image| format!("image {} {:?}", image.src, image.alt)),
    );
    lines.extend(page.structured.items.iter().map(ToString::to_string));
    lines.extend(page.notes.iter().map(|note| format!("note {note}")));
    lines.join("\n")
}

#[test]
fn pages_of_every_charset_are_read_as_people_see_them() {
    let pages = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/pages");
    for name in ["museum", "school", "prices"] {
        let text = std::fs::read_to_string(pages.join(name).with_extension("html")).unwrap();
        let page = html(&text);
        insta::assert_snapshot!(name, outline(&page));
        for charset in ["shift_jis", "euc-jp", "iso-2022-jp"] {
            let encoding = encoding_rs::Encoding::for_label(charset.as_bytes()).unwrap();
            let (bytes, _, lossy) = encoding.encode(&text);
            assert!(!lossy, "{name} does not fit {charset}");
            let labelled = read(&bytes, Some(&format!("text/html; charset={charset}")));
            assert_eq!(
                labelled.text(),
                page.text(),
                "{name} in {charset}, labelled"
            );
            let bare = read(&bytes, Some("text/html"));
            assert_eq!(bare.charset.name, charset, "{name}, not labelled");
            assert_eq!(
                bare.charset.from,
                CharsetFrom::Detected,
                "{name}, not labelled"
            );
            assert_eq!(
                bare.text(),
                page.text(),
                "{name} in {charset}, not labelled"
            );
            let wrong = read(&bytes, Some("text/html; charset=utf-8"));
            assert_eq!(wrong.charset.name, charset, "{name}, labelled utf-8");
            assert_eq!(wrong.charset.from, CharsetFrom::Bytes);
        }
    }
}

#[test]
fn the_charset_is_what_the_web_would_say() {
    let meta = |label: &str| {
        let tag =
            format!("<meta http-equiv=\"Content-Type\" content=\"text/html;charset={label}\">");
        tag.into_bytes()
    };
    let with = |mut head: Vec<u8>, tail: &[u8]| {
        head.extend_from_slice(tail);
        head
    };
    let sjis = b"\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x83\x79\x81\x5b\x83\x57";
    let vendor = b"\x8e\x52\xfa\xb1 \x95\x71\x8e\xf7 \x87\x73 \x87\x8a \x87\x40";
    let utf16: Vec<u8> = "\u{feff}<p>日本語"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    type Case<'a> = (Vec<u8>, Option<&'a str>, &'a str, CharsetFrom, &'a str);
    let cases: [Case<'_>; 12] = [
        (
            "<html><body><p>Español</p><p>日本語</p>".into(),
            None,
            "utf-8",
            CharsetFrom::Utf8,
            "Español\n日本語",
        ),
        (
            with(meta("Shift-JIS"), sjis),
            Some("text/html"),
            "shift_jis",
            CharsetFrom::Meta,
            "日本語のページ",
        ),
        (
            with(meta("Shift_JIS"), vendor),
            Some("text/html"),
            "shift_jis",
            CharsetFrom::Meta,
            "山﨑 敏樹 ㎏ ㈱ ①",
        ),
        (
            vendor.to_vec(),
            Some("text/html; charset=Windows-31J"),
            "shift_jis",
            CharsetFrom::Http,
            "山﨑 敏樹 ㎏ ㈱ ①",
        ),
        (
            "<meta name=\"description\" content=\"charset=gbk\"><p>日本語の頁".into(),
            Some("text/html"),
            "utf-8",
            CharsetFrom::Utf8,
            "日本語の頁",
        ),
        (
            "<meta data-charset=\"gbk\"><p>日本語の頁".into(),
            Some("text/html"),
            "utf-8",
            CharsetFrom::Utf8,
            "日本語の頁",
        ),
        (
            with(
                b"\xef\xbb\xbf".to_vec(),
                "<meta charset=shift_jis>日本".as_bytes(),
            ),
            Some("text/html; charset=euc-jp"),
            "utf-8",
            CharsetFrom::Bom,
            "日本",
        ),
        (
            with(meta("Shift_JIS"), "<p>中身は別の文字コード".as_bytes()),
            None,
            "utf-8",
            CharsetFrom::Bytes,
            "中身は別の文字コード",
        ),
        (
            with(meta("utf-8"), b"<p>\x1b$BF|K\\\x1b(B"),
            None,
            "iso-2022-jp",
            CharsetFrom::Bytes,
            "日本",
        ),
        (
            utf16,
            Some("text/html"),
            "utf-16le",
            CharsetFrom::Bom,
            "日本語",
        ),
        (
            b"<p>plain".to_vec(),
            Some("text/html; charset=\"no such\""),
            "utf-8",
            CharsetFrom::Utf8,
            "plain",
        ),
        (
            with(
                b"<!--".to_vec(),
                &with(
                    vec![b'x'; 2000],
                    &with(b"-->".to_vec(), &with(meta("x-sjis"), sjis)),
                ),
            ),
            Some("text/html"),
            "shift_jis",
            CharsetFrom::Meta,
            "日本語のページ",
        ),
    ];
    for (body, content_type, name, from, text) in cases {
        let page = read(&body, content_type);
        let seen = (page.charset.name.as_str(), page.charset.from, page.text());
        assert_eq!(seen, (name, from, text.to_owned()), "{content_type:?}");
    }
}

#[test]
fn a_stray_byte_does_not_unsettle_a_declared_charset() {
    let mut body = "<meta charset=utf-8><p>開館時間は午前9時から"
        .as_bytes()
        .to_vec();
    body.push(0xe5);
    let page = read(&body, Some("text/html"));
    assert_eq!(
        (page.charset.name.as_str(), page.charset.malformed),
        ("utf-8", true)
    );
    assert_eq!(page.text(), "開館時間は午前9時から\u{fffd}");
    assert_eq!(page.notes.len(), 1);
}

#[test]
fn only_what_a_reader_sees_is_text() {
    let cases = [
        (
            "<p>a<script>b</script><style>c</style><template>d</template><noscript>e</noscript>f",
            "af",
        ),
        (
            "<p hidden>a</p><p hidden=until-found>b</p><p style='display: none'>c</p>d",
            "b\nd",
        ),
        ("<p aria-hidden=true>a</p>", "a"),
        (
            "<svg><title>a</title><text>b</text></svg>c<img alt=d src=e>",
            "c",
        ),
        ("a<br>b<div>c<span>d</span></div>e", "a\nb\ncd\ne"),
        (
            "<ruby>博物館<rp>(</rp><rt>はくぶつかん</rt><rp>)</rp></ruby>へ",
            "博物館へ",
        ),
        ("<details><summary>a</summary>b</details>", "a\nb"),
        (
            "<select><option>a<option>b</select><input type=submit value=c><button>d</button>",
            "a\nb\nc\nd",
        ),
        ("<pre>a\n  b   c\n\nd</pre>", "a\nb c\nd"),
        ("<ul><li>a<li>b</ul><dl><dt>c<dd>d</dl>", "a\nb\nc\nd"),
        ("<p>１，２００円　（税込）</p>", "１，２００円　（税込）"),
        ("a<b>b</b> <i>c</i>\n<u>d</u>", "ab c d"),
        (
            "<textarea>規約\n第一条</textarea><iframe>x</iframe><object>y</object>",
            "規約\n第一条",
        ),
        ("&#x0;&#7;a&#x1b;[31mb", "\u{fffd}a[31mb"),
    ];
    for (source, want) in cases {
        assert_eq!(html(source).text(), want, "{source}");
    }
}

#[test]
fn regions_and_headings_locate_a_line() {
    let page = html(
        "<header><h1>町の博物館</h1></header><nav><h2>案内図</h2><a href=a>x</a></nav>\
         <main><h2>利用案内</h2><article><header>記事</header><h3>料金</h3><p>500円</p></article>\
         <h2>交通</h2><p>駅から5分</p></main><div id=footer>所在地</div>",
    );
    let at = |text: &str| &page.blocks.iter().find(|b| b.text == text).unwrap().at;
    assert_eq!(at("500円").headings, ["町の博物館", "利用案内", "料金"]);
    assert_eq!(at("駅から5分").headings, ["町の博物館", "交通"]);
    assert_eq!(at("記事").region, Region::Main);
    assert_eq!(at("x").region, Region::Nav);
    assert_eq!(at("所在地").region, Region::Footer);
    assert_eq!(at("料金").kind, BlockKind::Heading(3));
    assert_eq!(
        at("利用案内").headings,
        ["町の博物館"],
        "a menu's heading heads the menu only"
    );
}

#[test]
fn references_are_kept_and_resolved_where_the_base_is_known() {
    let page = html(
        "<base href='https://a.example/x/'><link rel=canonical href=/c><a href=' ../y ' rel='NoFollow'>\
         <b>b</b> c<img src=data:image/gif;base64,R0 data-src=i.png alt=絵></a>",
    );
    let link = &page.links[0];
    assert_eq!((link.href.as_str(), link.text.as_str()), ("../y", "b c"));
    assert_eq!(link.url.as_deref(), Some("https://a.example/y"));
    assert_eq!(link.rel, ["nofollow"]);
    assert_eq!(page.canonical.as_deref(), Some("https://a.example/c"));
    assert_eq!(
        (page.images[0].src.as_str(), page.images[0].alt.as_deref()),
        ("i.png", Some("絵"))
    );
    let at = url::Url::parse("https://b.example/p/q").unwrap();
    assert_eq!(
        page.resolve(&at, "z").unwrap().as_str(),
        "https://a.example/x/z"
    );
    assert_eq!(
        html("<p>").resolve(&at, "z").unwrap().as_str(),
        "https://b.example/p/z"
    );
}

#[test]
fn selectors_choose_the_parts_of_a_page() {
    let body =
        "<title>t</title><div id=a><p>one</p><p class=ad>two</p></div><p>three <a href=x>l</a>";
    let read = |include: &[&str], exclude: &[&str]| {
        let select = Select::new(include, exclude).unwrap();
        match Page::read_with(body.as_bytes(), None, &select) {
            Read::Html(page) => (page.text(), page.links.len()),
            Read::Other(other) => panic!("{other:?}"),
        }
    };
    assert_eq!(read(&[], &[]), ("one\ntwo\nthree l".to_owned(), 1));
    assert_eq!(read(&["#a"], &[]), ("one\ntwo".to_owned(), 0));
    assert_eq!(read(&["#a"], &[".ad"]), ("one".to_owned(), 0));
    assert_eq!(read(&["#none"], &[]), (String::new(), 0));
    let InvalidSelector { selector, reason } = Select::new(&["p["], &[]).unwrap_err();
    assert_eq!(selector, "p[");
    assert!(!reason.is_empty());
}

#[test]
fn structured_data_survives_its_blemishes() {
    let page = html(
        "<script type=application/ld+json>{bad}</script>\
         <script type='application/ld+json'>{\"@type\":\"Museum\",\"name\":\"A\"};</script>\
         <div itemscope itemtype=https://schema.org/Event itemref=x><span itemprop=name>祭</span>\
         <time itemprop=startDate datetime=2026-11-03>3日</time>\
         <div itemprop=location itemscope><b itemprop=name>公園</b></div></div>\
         <p id=x><i itemprop=offers content=500>5</i>\
         <div vocab=https://schema.org/ typeof=Place><span property=name>館</span></div>",
    );
    let items: Vec<_> = page
        .structured
        .items
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!("structured", items.join("\n"));
    insta::assert_snapshot!("structured_notes", page.notes.join("\n"));
}

#[test]
fn what_is_no_text_is_not_claimed_to_be() {
    let why = |body: &[u8], content_type| match Page::read(body, content_type) {
        Read::Other(other) => Some((other.mime, other.why)),
        Read::Html(_) => None,
    };
    let not_text = |mime: &str| Some((mime.to_owned(), Why::NotText));
    assert_eq!(
        why(b"%PDF-1.4 ...", Some("text/html")),
        not_text("application/pdf")
    );
    assert_eq!(
        why(b"{}", Some("application/json; charset=utf-8")),
        not_text("application/json")
    );
    assert_eq!(why(b"\x89PNG\r\n\x1a\n", None), not_text("image/png"));
    let crowded = format!(
        "<p {}>x",
        "a=1 ".repeat(10) + &(0..2000).map(|i| format!("b{i} ")).collect::<String>()
    );
    let complex = Some(("text/html".to_owned(), Why::TooComplex));
    assert_eq!(why(crowded.as_bytes(), None), complex);
    assert_eq!(
        why(crowded.replace("<p ", "<!--><p ").as_bytes(), None),
        complex
    );
    assert_eq!(
        why(format!("<script>{crowded}</script>").as_bytes(), None),
        None
    );
}

#[test]
fn feeds_and_plain_text_are_text() {
    let feed = "<?xml version=\"1.0\" encoding=\"utf-8\"?><rss><channel><title>新着 &amp; 行事</title>\
                <link>https://a.example/</link><item><title>祭</title><link>https://a.example/1</link>\
                <description><![CDATA[<p>3日に<b>開催</b></p>]]></description>\
                <content>&lt;p&gt;雨天中止&lt;/p&gt;&nbsp;</content></item></channel></rss>";
    let page = read(feed.as_bytes(), Some("application/rss+xml"));
    assert_eq!(page.kind, Kind::Xml);
    assert_eq!(page.title.as_deref(), Some("新着 & 行事"));
    assert_eq!(page.text(), "新着 & 行事\n祭\n3日に開催\n雨天中止");
    assert_eq!(page.links.len(), 2);
    assert_eq!(page.blocks[2].at.path, "rss>channel>item>description");
    let page = read("一行目\r\n\n  二行目  <p>".as_bytes(), Some("text/plain"));
    assert_eq!(
        (page.kind, page.text().as_str()),
        (Kind::Text, "一行目\n二行目 <p>")
    );
}

#[test]
fn hostile_markup_is_bounded() {
    let nested = |tag: &str, count: usize| tag.repeat(count) + "text";
    let attributes: String = (0..400_000).map(|n| format!("<body b{n}=1>")).collect();
    let fonts: String = (0..20_000).map(|n| format!("<font color={n}>")).collect();
    let cases = [
        nested("<div>", 100_000),
        nested("<div>", 100_000) + &"</div>".repeat(100_000) + "<p>after",
        nested("<b><p>", 50_000),
        nested("<table><tr><td>", 30_000),
        nested("<p><div>", 50_000),
        nested("<a><div>", 50_000),
        nested("<li><section>", 50_000),
        nested("<option><div>", 50_000),
        "<table><tr><td>".to_owned() + &nested("<svg><td>", 50_000),
        nested("<svg><script>", 50_000),
        "<svg>".to_owned() + &nested("<script><g>", 50_000),
        nested("<div itemscope itemprop=a itemref=x id=x>", 20_000),
        fonts + &"<p>x".repeat(20_000),
        attributes + "text",
        "<table><tr>".to_owned()
            + &"<td rowspan=65534 colspan=1000>a".repeat(500)
            + &"<tr><td>text".repeat(5_000),
        "<script type=application/ld+json>".to_owned() + &"[".repeat(500_000) + "</script>text",
    ];
    for source in cases {
        let start = std::time::Instant::now();
        let read = Page::read(source.as_bytes(), Some("text/html"));
        let took = start.elapsed();
        assert!(took.as_secs() < 20, "{took:?} for {}…", &source[..30]);
        eprintln!("{took:?} for {}…", &source[..30]);
        assert!(!matches!(read, Read::Other(other) if other.why != Why::TooComplex));
    }
    let page = html(&(nested("<div>", 2000) + &"</div>".repeat(2000) + "<p>after"));
    assert_eq!(page.text(), "text\nafter", "flattened, not lost");
    assert_eq!(page.notes, ["nested deeper than 512 elements: flattened"]);
}
