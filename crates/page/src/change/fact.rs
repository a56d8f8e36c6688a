//! What must never be hidden: text that states a price, a date, a time, a number or a status.
//!
//! The judgement errs towards "states a fact": it decides only whether a difference may be called
//! noise at all.

use super::fold;

/// Words that state a fact without a figure, matched anywhere in the text: scripts without spaces.
const STATUS: &[&str] = &[
    "無料",
    "有料",
    "休館",
    "休業",
    "休診",
    "休園",
    "休止",
    "休校",
    "休日",
    "定休",
    "閉館",
    "閉鎖",
    "閉店",
    "閉園",
    "閉場",
    "開館",
    "開園",
    "開店",
    "開場",
    "営業",
    "中止",
    "延期",
    "満席",
    "満室",
    "満員",
    "空席",
    "空室",
    "空き",
    "受付",
    "終了",
    "完売",
    "売切",
    "売り切れ",
    "品切",
    "在庫",
    "販売",
    "予約",
    "募集",
    "締切",
    "締め切",
    "変更",
    "廃止",
    "再開",
    "臨時",
    "停止",
    "運休",
    "終日",
    "毎日",
    "毎週",
    "平日",
    "祝日",
    "祝祭日",
    "曜",
    "土日",
    "年末年始",
    "可能",
    "不可",
    "必要",
    "不要",
    "禁止",
    "あり",
    "なし",
    "要予約",
    "半額",
    "割引",
    "免除",
    "値上げ",
    "値下げ",
    "免费",
    "免費",
    "关闭",
    "關閉",
    "开放",
    "開放",
    "取消",
    "무료",
    "휴관",
    "휴무",
    "취소",
    "마감",
    "요일",
    "매진",
];

/// The same for scripts with spaces, lower case, matched as the beginning of a word.
const STATUS_WORDS: &[&str] = &[
    "free",
    "closed",
    "closing",
    "open",
    "cancel",
    "postpone",
    "delay",
    "sold",
    "full",
    "available",
    "unavailable",
    "suspend",
    "until",
    "hours",
    "daily",
    "weekday",
    "weekend",
    "holiday",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "price",
    "fee",
    "discount",
    "required",
    "prohibited",
    "mandatory",
    "yes",
    "no",
    "not",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "gratuit",
    "ferm",
    "ouvert",
    "complet",
    "annul",
    "reporté",
    "payant",
    "lundi",
    "mardi",
    "mercredi",
    "jeudi",
    "vendredi",
    "samedi",
    "dimanche",
    "kostenlos",
    "geschlossen",
    "geöffnet",
    "abgesagt",
    "ausverkauft",
    "verschoben",
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonntag",
    "gratis",
    "cerrado",
    "abierto",
    "agotado",
    "cancelado",
    "lunes",
    "martes",
    "miércoles",
    "jueves",
    "viernes",
    "sábado",
    "domingo",
    "chiuso",
    "aperto",
    "annullato",
    "esaurito",
];

/// Signs and units of money; letters among them count only beside a figure.
const MONEY: &[&str] = &[
    "円",
    "ドル",
    "ユーロ",
    "ポンド",
    "元",
    "원",
    "$",
    "€",
    "£",
    "¥",
    "₩",
    "₹",
    "฿",
    "usd",
    "eur",
    "jpy",
    "gbp",
    "yen",
    "euro",
    "dollar",
    "chf",
    "cad",
    "aud",
    "cny",
    "krw",
    "%",
    "割",
];

/// States a price, date, time, number or status.
pub(super) fn states(text: &str) -> bool {
    let text = fold::wide(text).to_lowercase();
    text.chars().any(char::is_numeric)
        || text.chars().any(|c| "$€£¥₩₹฿円%".contains(c))
        || has_kanji_figure(&text)
        || STATUS.iter().any(|word| text.contains(word))
        || words(&text).any(|word| STATUS_WORDS.iter().any(|status| word.starts_with(status)))
}

/// States a price or a rate: a figure with money or per cent beside it in one line.
pub(super) fn is_price(text: &str) -> bool {
    let text = fold::wide(text).to_lowercase();
    (text.chars().any(char::is_numeric) || has_kanji_figure(&text))
        && MONEY.iter().any(|unit| text.contains(unit))
}

/// Has a figure, in whatever script.
pub(super) fn has_figure(text: &str) -> bool {
    let text = fold::wide(text);
    text.chars().any(char::is_numeric) || has_kanji_figure(&text)
}

/// Words of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// Figures in kanji before a unit, such as 三百円 or 第一回.
fn has_kanji_figure(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    chars.windows(2).any(|pair| match pair {
        [figure, unit] => {
            "〇一二三四五六七八九十百千万億元".contains(*figure)
                && "円年月日時分人名枚回階歳才個本部台件点割".contains(*unit)
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_seen_with_and_without_figures() {
        for text in [
            "一般 1,000円",
            "１０時",
            "①",
            "三百円",
            "第一回",
            "火曜定休",
            "本日休館",
            "無料",
            "満席",
            "Closed on Mondays",
            "Sold out",
            "Entrée gratuite",
            "$5",
            "twelve or two",
        ] {
            assert!(states(text), "{text}");
        }
        for text in [
            "お知らせ",
            "Make your community sustainable.",
            "#スカウトの日",
            "Company",
        ] {
            assert!(!states(text), "{text}");
        }
    }

    #[test]
    fn a_price_needs_a_figure_and_money() {
        assert!(is_price("大人 １，２００円") && is_price("EUR 5") && is_price("5％引き"));
        assert!(!is_price("円") && !is_price("12 人"));
    }
}
