//! The pages of the town, with what changes when. All schools, prices and texts are made up.

use super::template::Template;
use crate::answer::{Encoding, Validator};

const SIMPLE: &str = include_str!("../../testdata/demo/simple-price.html");

/// What most pages have in common.
const BASE: Template = Template {
    id: "",
    host: "",
    path: "/price.html",
    title: "受講料のご案内",
    html: SIMPLE,
    values: &[],
    later: &[],
    charset: "UTF-8",
    validator: Validator::Both,
    encoding: Encoding::Gzip,
};

pub(super) const PAGES: &[Template] = &[
    Template {
        id: "sakura-price",
        host: "sakura-code.test",
        html: include_str!("../../testdata/demo/sakura-price.html"),
        values: &[
            ("school", "さくらコードスクール"),
            ("web", "657,800円"),
            ("web24", "月々28,600円"),
            ("data", "726,000円"),
            ("data24", "月々31,500円"),
            ("python", "98,000円"),
            ("entry", "33,000円"),
            ("benefit", "70％"),
            ("cap", "56万円"),
            ("cancel", "7日"),
        ],
        later: &[
            (
                (2026, 7, 1),
                &[("web", "698,500円"), ("web24", "月々30,300円")],
            ),
            ((2026, 10, 1), &[("benefit", "80％"), ("cap", "64万円")]),
        ],
        // Every answer has another nonce, so the site gives no validator.
        validator: Validator::None,
        ..BASE
    },
    Template {
        id: "sakura-campaign",
        host: "sakura-code.test",
        path: "/campaign.html",
        title: "春の学び応援キャンペーン",
        html: include_str!("../../testdata/demo/sakura-campaign.html"),
        values: &[
            ("lead", "この春から学び始める方の受講料を割り引きます。"),
            ("discount", "受講料から50,000円引き"),
            ("deadline", "2026年5月31日（日）"),
            ("deadline_iso", "2026-05-31"),
        ],
        later: &[
            (
                (2026, 5, 25),
                &[
                    ("deadline", "2026年6月14日（日）"),
                    ("deadline_iso", "2026-06-14"),
                ],
            ),
            (
                (2026, 9, 1),
                &[
                    ("title", "秋の学び応援キャンペーン"),
                    ("lead", "秋に始める方の受講料を割り引きます。"),
                    ("discount", "受講料から30,000円引き"),
                    ("deadline", "2026年10月31日（土）"),
                    ("deadline_iso", "2026-10-31"),
                ],
            ),
        ],
        ..BASE
    },
    Template {
        id: "sakura-courses",
        host: "sakura-code.test",
        path: "/courses.html",
        title: "コース一覧",
        html: include_str!("../../testdata/demo/sakura-courses.html"),
        values: &[
            ("web_start", "2026年6月8日"),
            ("data_start", "2026年7月6日"),
            ("new_course", ""),
        ],
        later: &[(
            (2026, 6, 15),
            &[
                ("web_start", "2026年9月7日"),
                (
                    "new_course",
                    "<article class=\"card\"><h2>業務に活かす生成AIコース</h2><p>議事録や集計など、\
                     毎日の仕事を題材に道具の使いどころと限界を学びます。</p><ul><li>期間 6週間</li>\
                     <li>定員 20名</li><li>受講料 132,000円</li></ul></article>",
                ),
            ],
        )],
        validator: Validator::Weak,
        encoding: Encoding::Brotli,
        ..BASE
    },
    Template {
        id: "sakura-terms",
        host: "sakura-code.test",
        path: "/terms.html",
        title: "受講規約",
        html: include_str!("../../testdata/demo/terms.html"),
        values: &[
            ("school", "さくらコードスクール"),
            ("revised", "2025年10月1日"),
            ("payment", "開講日の14日前"),
            (
                "cancellation",
                "受講者は開講後でも解約できます。当校は、受講料から提供済みの授業に当たる額と\
                 20,000円とを引いた残りを返します。",
            ),
        ],
        later: &[(
            (2026, 11, 1),
            &[
                ("revised", "2026年11月1日"),
                (
                    "cancellation",
                    "受講者は開講後でも解約できます。当校は、受講料から提供済みの授業に当たる額と、\
                     50,000円または残りの受講料の20％のいずれか低い額とを引いた残りを返します。",
                ),
            ],
        )],
        validator: Validator::Date,
        ..BASE
    },
    Template {
        id: "aozora-fee",
        host: "aozora-design.test",
        path: "/fee/",
        title: "学費について",
        html: include_str!("../../testdata/demo/aozora-fee.html"),
        values: &[
            ("day", "880,000円"),
            ("night", "540,000円"),
            ("weekend", "168,000円"),
            ("second", "2026年9月30日"),
        ],
        later: &[(
            (2026, 12, 1),
            &[("day", "924,000円"), ("second", "2027年9月30日")],
        )],
        validator: Validator::Fresh,
        ..BASE
    },
    Template {
        id: "minato-fee",
        host: "minato-cooking.test",
        path: "/ryoukin.html",
        title: "料金のごあんない",
        html: include_str!("../../testdata/demo/minato-ryoukin.html"),
        values: &[
            ("home", "６，６００円"),
            ("sweets", "４，４００円"),
            ("fish", "５，５００円"),
            ("closed", "月曜日"),
            ("updated", "令和８年３月２０日"),
        ],
        later: &[(
            (2026, 10, 1),
            &[("home", "７，１５０円"), ("updated", "令和８年１０月１日")],
        )],
        charset: "Shift_JIS",
        validator: Validator::Date,
        encoding: Encoding::Identity,
    },
    Template {
        id: "kyobunka-courses",
        host: "kyobunka.test",
        path: "/kouza.html",
        title: "講座一覧",
        html: include_str!("../../testdata/demo/kyobunka-kouza.html"),
        values: &[
            ("term", "令和8年度 前期"),
            ("calligraphy", "12,000円"),
            ("binding", "9,500円"),
            ("documents", "15,000円"),
            ("deadline", "令和8年4月20日"),
        ],
        later: &[(
            (2026, 8, 20),
            &[
                ("term", "令和8年度 後期"),
                ("binding", "10,500円"),
                ("deadline", "令和8年9月18日"),
            ],
        )],
        charset: "EUC-JP",
        validator: Validator::Flipping,
        encoding: Encoding::Identity,
    },
    Template {
        id: "northwind-pricing",
        host: "northwind-academy.test",
        path: "/pricing",
        title: "Plans and pricing",
        html: include_str!("../../testdata/demo/northwind-pricing.html"),
        values: &[
            ("full", "$9,800"),
            ("full_number", "9800"),
            ("part", "$7,400"),
            ("self", "$249 a month"),
            ("full_start", "June 1, 2026"),
            ("part_start", "June 15, 2026"),
            ("refund", "14 days"),
        ],
        later: &[
            (
                (2026, 6, 2),
                &[
                    ("full_start", "September 14, 2026"),
                    ("part_start", "September 28, 2026"),
                ],
            ),
            ((2026, 8, 1), &[("self", "$279 a month")]),
            (
                (2026, 9, 20),
                &[("refund", "7 days"), ("full_start", "January 11, 2027")],
            ),
        ],
        validator: Validator::None,
        encoding: Encoding::Zstd,
        ..BASE
    },
    Template {
        id: "hoshizora-price",
        host: "hoshizora-data.test",
        values: &[
            ("school", "ほしぞらデータ塾"),
            (
                "lead",
                "統計の基礎から機械学習まで、夜間と週末に開講しています。",
            ),
            ("course1", "統計入門（12回）"),
            ("price1", "79,200円"),
            ("course2", "機械学習実習（20回）"),
            ("price2", "198,000円"),
            ("entry", "11,000円"),
            ("due", "10日"),
            ("news", "夏期集中講座の申込みを7月1日から受け付けます。"),
        ],
        later: &[(
            (2026, 8, 10),
            &[
                ("price2", "209,000円"),
                ("news", "設備更新のためのサイト停止は終わりました。"),
            ],
        )],
        validator: Validator::Strong,
        ..BASE
    },
    Template {
        id: "tsubame-price",
        host: "tsubame-english.test",
        values: &[
            ("school", "つばめ英会話"),
            (
                "lead",
                "一回40分のマンツーマンレッスンです。月の途中からでも始められます。",
            ),
            ("course1", "月4回プラン"),
            ("price1", "月額13,200円"),
            ("course2", "月8回プラン"),
            ("price2", "月額24,200円"),
            ("entry", "無料"),
            ("due", "3日"),
            ("news", "お友だちを紹介された方に教材をさしあげます。"),
        ],
        later: &[((2026, 11, 1), &[("price1", "月額13,750円")])],
        ..BASE
    },
    Template {
        id: "kaede-price",
        host: "kaede-web.test",
        values: &[
            ("school", "かえでウェブ制作教室"),
            ("lead", "自分の店のサイトを自分で直せるようになる教室です。"),
            ("course1", "サイト更新入門（6回）"),
            ("price1", "46,200円"),
            ("course2", "ネットショップ運営（8回）"),
            ("price2", "68,200円"),
            ("entry", "5,500円"),
            ("due", "5日"),
            ("news", "駅前教室は6月に移転しました。"),
        ],
        later: &[((2026, 10, 1), &[("price1", "49,500円")])],
        ..BASE
    },
    Template {
        id: "matsu-price",
        host: "matsu-lab.test",
        values: &[
            ("school", "まつ電子工作ラボ"),
            (
                "lead",
                "親子で参加できる電子工作の教室です。部品はすべて用意します。",
            ),
            ("course1", "親子コース（4回）"),
            ("price1", "19,800円"),
            ("course2", "マイコン入門（8回）"),
            ("price2", "38,500円"),
            ("entry", "2,200円"),
            ("due", "7日"),
            ("news", "秋の作品展は10月18日です。"),
        ],
        later: &[((2026, 9, 1), &[("price1", "21,450円")])],
        validator: Validator::Useless,
        ..BASE
    },
    Template {
        id: "kumo-price",
        host: "kumo-school.test",
        values: &[
            ("school", "くもクラウド講座"),
            (
                "lead",
                "サーバーを借りて動かすところまでを二か月で学びます。",
            ),
            ("course1", "クラウド基礎"),
            ("price1", "154,000円"),
            ("course2", "運用と監視"),
            ("price2", "187,000円"),
            ("entry", "不要"),
            ("due", "14日"),
            ("news", "法人の方は10名から出張講座をご利用いただけます。"),
        ],
        later: &[((2026, 5, 11), &[("price2", "176,000円")])],
        ..BASE
    },
    Template {
        id: "fuji-price",
        host: "fuji-it.test",
        values: &[
            ("school", "ふじIT専門校"),
            ("lead", "国家試験の対策講座を通年で開いています。"),
            ("course1", "基本技術者講座"),
            ("price1", "88,000円"),
            ("course2", "安全確保講座"),
            ("price2", "121,000円"),
            ("entry", "11,000円"),
            ("due", "7日"),
            ("news", "模擬試験の日程を発表しました。"),
        ],
        ..BASE
    },
    Template {
        id: "mori-fees",
        host: "mori-craft.test",
        path: "/fees.html",
        title: "会費と受講料",
        values: &[
            ("school", "もりの木工教室"),
            ("lead", "地元の木を使って、椅子や小箱を作ります。"),
            ("course1", "椅子づくり（5日間）"),
            ("price1", "63,800円"),
            ("course2", "小箱づくり（1日）"),
            ("price2", "9,900円"),
            ("entry", "3,300円"),
            ("due", "7日"),
            ("news", "8月12日から16日まで休みます。"),
        ],
        ..BASE
    },
    Template {
        id: "toride-price",
        host: "toride-security.test",
        values: &[
            ("school", "とりでセキュリティ学院"),
            ("lead", "守る側の考え方を、演習を通して学びます。"),
            ("course1", "防御の基礎"),
            ("price1", "143,000円"),
            ("course2", "事故対応演習"),
            ("price2", "231,000円"),
            ("entry", "22,000円"),
            ("due", "14日"),
            ("news", "企業研修のご相談を受け付けています。"),
        ],
        ..BASE
    },
];
