//! Asks a robots.txt on standard input about URLs.
//!
//! ```text
//! cargo run -p reigi-robots --example verdict -- ExampleBot /a https://museum.example/b < robots.txt
//! ```

use std::io::{self, Read};

use reigi_robots::Rules;

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let Some(token) = args.next() else {
        return Err(io::Error::other("usage: verdict TOKEN URL… < robots.txt"));
    };
    let mut body = Vec::new();
    io::stdin().read_to_end(&mut body)?;
    let rules = Rules::parse(&body);
    let agent = rules.for_agent(&token);
    for note in rules.notes() {
        println!("line {}: {:?}", note.line, note.oddity);
    }
    if let Some(delay) = agent.group_delay() {
        println!(
            "line {}: wait {} s between requests",
            delay.line, delay.seconds
        );
    }
    for url in args {
        let verdict = agent.verdict(&url);
        let answer = if verdict.allowed {
            "allowed"
        } else {
            "refused"
        };
        match verdict.rule {
            Some(rule) => println!("{answer}\t{url}\tline {}: {}", rule.line, rule.pattern),
            None => println!("{answer}\t{url}\tno rule"),
        }
    }
    Ok(())
}
