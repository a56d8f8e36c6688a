//! Which pages are walls, and which only look a little like one.

use reigi_page::{Needs, Page, Read};

fn needs(html: &str) -> Option<Needs> {
    match Page::read(html.as_bytes(), Some("text/html; charset=utf-8")) {
        Read::Html(page) => page.needs,
        Read::Other(other) => panic!("{other:?}"),
    }
}

/// A page of a museum, long enough to stand for itself.
fn museum(head: &str, top: &str) -> String {
    let body =
        "<h2>ご利用案内</h2><p>開館時間は午前9時から午後5時まで、入館は午後4時30分までです。</p>\
        <p>休館日は月曜日（祝日の場合は翌平日）と年末年始です。</p>\
        <table><tr><th>大人</th><td>500円</td></tr><tr><th>小人</th><td>200円</td></tr></table>"
            .repeat(3);
    format!(
        "<!doctype html><html lang=ja><head><title>町の博物館</title>{head}</head>\
         <body><header>{top}</header><main>{body}</main></body></html>"
    )
}

#[test]
fn walls_are_recognised() {
    let challenge = |name| Some(Needs::Challenge(name));
    let cases: [(&str, Option<Needs>); 27] = [
        (
            r#"<html><head><META NAME="robots" CONTENT="noindex,nofollow"><script src="/_Incapsula_Resource?SWJIYLWA=abc"></script><body></body></html>"#,
            challenge("Imperva Incapsula"),
        ),
        (
            r#"<html><body style="margin:0"><iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=23" width=100%>Request unsuccessful. Incapsula incident ID: 1</iframe></body></html>"#,
            challenge("Imperva Incapsula"),
        ),
        (
            r#"<title>Just a moment...</title><body><div class="main-wrapper"><noscript>Enable JavaScript and cookies to continue</noscript></div><script>window._cf_chl_opt={cvId:'3'}</script>"#,
            challenge("Cloudflare"),
        ),
        (
            r#"<title>少々お待ちください...</title><h1>www.example.jp</h1><p>お使いの接続が安全であることを確認しています</p><script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>"#,
            challenge("Cloudflare"),
        ),
        (
            r#"<title>Attention Required! | Cloudflare</title><div id="cf-wrapper"><h1>Sorry, you have been blocked</h1><p>You are unable to access example.jp</p><p>Cloudflare Ray ID: 1</p></div>"#,
            challenge("Cloudflare"),
        ),
        (
            r#"<TITLE>Access Denied</TITLE><H1>Access Denied</H1>You don't have permission to access "http&#58;&#47;&#47;a&#46;example&#47;" on this server.<P>Reference&#32;&#35;18<P>https&#58;&#47;&#47;errors&#46;edgesuite&#46;net&#47;18"#,
            challenge("Akamai"),
        ),
        (
            r#"<html><head></head><body><div id="sec-if-cpt-container"></div><script src="/_sec/cp_challenge/ak-challenge-3-3.js"></script></body></html>"#,
            challenge("Akamai"),
        ),
        (
            r#"<html><head><title>example.jp</title></head><body><p id="cmsg">Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c','cid':'A'}</script><script src="https://ct.captcha-delivery.com/c.js"></script></body></html>"#,
            challenge("DataDome"),
        ),
        (
            r#"<title>Access to this page has been denied</title><div id="px-captcha"></div><p>Press &amp; Hold to confirm you are a human (and not a bot).</p>"#,
            challenge("HUMAN PerimeterX"),
        ),
        (
            r#"<html><head><title></title><script src="https://a1.token.awswaf.com/a1/challenge.js"></script></head><body><div id="challenge-container"></div><noscript><h1>JavaScript is disabled</h1></noscript></body></html>"#,
            challenge("AWS WAF"),
        ),
        (
            r#"<html><title>You are being redirected...</title><noscript>Javascript is required.</noscript><script>var s={},u;sucuri_cloudproxy_js='';</script></html>"#,
            challenge("Sucuri"),
        ),
        (
            r#"<title>Robot Check</title><form><div class="h-captcha" data-sitekey=x></div></form><script src="https://js.hcaptcha.com/1/api.js"></script>"#,
            challenge("captcha"),
        ),
        (
            r#"<p>人間であることを確認してください</p><div class="g-recaptcha"></div><script src="https://www.google.com/recaptcha/api.js"></script>"#,
            challenge("captcha"),
        ),
        (
            r#"<title>Making sure you're not a bot!</title><script id="anubis_challenge" type="application/json">{}</script><p>Loading...</p>"#,
            challenge("Anubis"),
        ),
        (
            r#"<div id="root"></div><script src="/static/js/main.js"></script>"#,
            Some(Needs::Script),
        ),
        (
            r#"<noscript>You need to enable JavaScript to run this app.</noscript><div id="app"></div><script src="a.js"></script>"#,
            Some(Needs::Script),
        ),
        (
            r#"<noscript>このサイトをご覧になるにはJavaScriptを有効にしてください。</noscript><script>go()</script><div class="box"></div>"#,
            Some(Needs::Script),
        ),
        (
            r#"<p>本サイトを利用するには、ブラウザのJavaScriptを有効にしてください。</p>"#,
            Some(Needs::Script),
        ),
        (
            r#"<script id="__NEXT_DATA__" type="application/json">{"props":{}}</script>"#,
            Some(Needs::Script),
        ),
        (
            r#"<h1>Cookies are required</h1><p>Please enable cookies in your browser and reload.</p>"#,
            Some(Needs::CookieWall),
        ),
        (
            r#"<p>当サイトのご利用にはクッキーを有効にする必要があります。</p>"#,
            Some(Needs::CookieWall),
        ),
        (
            r#"<title>ログイン | 会員サイト</title><main><form action=/login><label>会員番号<input name=id></label><label>パスワード<input type=password></label><input type=submit value=ログイン></form></main>"#,
            Some(Needs::Login),
        ),
        (
            r#"<title>Sign in - Example</title><form><input type=email><input type=password><button>Sign in</button></form>"#,
            Some(Needs::Login),
        ),
        (
            r#"<form><input name=user><input type=password name=pass></form>"#,
            Some(Needs::Login),
        ),
        (
            r#"<h1>401 Unauthorized</h1><p>This server could not verify that you are authorized.</p>"#,
            Some(Needs::Login),
        ),
        (
            r#"<p>このページをご覧いただくにはログインが必要です。</p><a href=/login>ログイン</a>"#,
            Some(Needs::Login),
        ),
        (
            r#"<title>会員専用ページ</title><p>会員専用ページです。ログインしてください。</p>"#,
            Some(Needs::Login),
        ),
    ];
    for (html, want) in cases {
        assert_eq!(needs(html), want, "{html}");
    }
}

#[test]
fn pages_with_text_of_their_own_are_not_walls() {
    let cases = [
        museum("", r#"<a href="/login">ログイン</a>"#),
        museum("", r#"<form><input name=id><input type=password><button>ログイン</button></form>"#),
        museum(r#"<script src="https://www.google.com/recaptcha/api.js"></script>"#, r#"<div class="g-recaptcha"></div>"#),
        museum(r#"<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>"#, ""),
        museum(r#"<script src="/_Incapsula_Resource?SWJIYLWA=1"></script>"#, ""),
        museum(r#"<script src="/akam/13/abc"></script><script src="https://cdn.awswaf.com/a.js"></script>"#, ""),
        museum("", r#"<noscript>JavaScriptを有効にしてください。</noscript><div id="root"></div>"#),
        museum("", r#"<div id="cookie-banner">当サイトはクッキーを使用します。同意しますか。</div>"#),
        museum("", "<p>このサイトではJavaScriptを使用しています。</p>"),
        "<title>お問い合わせ</title><form><label>お名前<input name=n></label><label>メール<input type=email></label><textarea></textarea><div class=g-recaptcha></div><script src='https://www.google.com/recaptcha/api.js'></script></form>".to_owned(),
        "<p>閉館しました。</p>".to_owned(),
        "<p>Closed.</p><script src=analytics.js></script>".to_owned(),
        "<title>Welcome</title><h1>Town museum</h1><p>Open daily 9-17. Adults 500 yen.</p><script src=a.js></script>".to_owned(),
        String::new(),
        "<title>Access Denied</title><h1>Access Denied: a history of locked doors</h1><p>An exhibition.</p>".to_owned(),
        "<p>This exhibition explains how a captcha asks you to verify you are human.</p>".to_owned(),
    ];
    for html in cases {
        assert_eq!(needs(&html), None, "{html}");
    }
}
