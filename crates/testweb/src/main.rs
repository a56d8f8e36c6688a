//! `testweb serve`: the test web as a process. `testweb check`: judges its log.

use clap::{Args, Parser, Subcommand};
use reigi_testweb::check::{Promise, Report, check};
use reigi_testweb::{Bulk, Options, Running, Site, TestWeb, content, demo, log};
use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// A web on loopback with many hosts, faults and its own access log.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves until interrupted. The first line on stdout is the address.
    Serve(Serve),
    /// Judges an access log. Exit code 1 where a promise was broken.
    Check(Check),
    /// Prints an access log in the combined format.
    Combined {
        /// The log of JSON lines.
        log: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Serve {
    /// How many hosts `hNNNNN.bulk.test` there are.
    #[arg(long, default_value_t = 0)]
    hosts: u32,
    /// Pages on each of them.
    #[arg(long, default_value_t = 2)]
    pages: u32,
    /// About how long each page is, in bytes.
    #[arg(long, default_value_t = 30_000)]
    page_bytes: usize,
    /// The share of pages that changes each day of site time.
    #[arg(long, default_value_t = 0.05)]
    change_fraction: f64,
    /// `Crawl-delay` in their robots.txt.
    #[arg(long)]
    crawl_delay: Option<String>,
    /// Serves the town of sites that change.
    #[arg(long)]
    demo: bool,
    /// Serves a path for each fault and oddity.
    #[arg(long)]
    gallery: bool,
    /// Appends the access log to this file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Writes `host address:port` lines to this file.
    #[arg(long, value_name = "FILE")]
    hosts_file: Option<PathBuf>,
    /// Loopback addresses to listen on.
    #[arg(long, default_value = "127.0.0.1", value_delimiter = ',')]
    address: Vec<IpAddr>,
    /// The port; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Site time at the start, for example 2026-04-01T00:00:00+09:00.
    #[arg(long)]
    site_time: Option<jiff::Timestamp>,
}

#[derive(Debug, Args)]
struct Check {
    /// The log of JSON lines.
    log: PathBuf,
    /// The least gap from an answer's end to the host's next request: `2s`, `300ms`.
    #[arg(long, default_value = "2s", value_parser = duration)]
    interval: Duration,
    /// The least time between any two starts.
    #[arg(long, value_parser = duration)]
    global_interval: Option<Duration>,
    /// The only user agents sent; may be repeated.
    #[arg(long)]
    ua: Vec<String>,
    /// The product token by which robots.txt is read.
    #[arg(long, default_value = "")]
    token: String,
    /// Does not judge robots.txt.
    #[arg(long)]
    no_robots: bool,
    /// How old a robots.txt answer may be.
    #[arg(long, default_value = "24h", value_parser = duration)]
    robots_fresh: Duration,
    /// Does not judge conditional requests.
    #[arg(long)]
    no_conditional: bool,
    /// Judges `Retry-After` in seconds up to this.
    #[arg(long, value_parser = duration)]
    retry_after_max: Option<Duration>,
    /// How late the web may have noticed an arrival or a leave.
    #[arg(long, default_value = "5ms", value_parser = duration)]
    slack: Duration,
    /// Prints the whole report as JSON.
    #[arg(long)]
    json: bool,
}

/// A duration as charters write it: `300ms`, `2s`, `5m`, `24h`.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("{text:?} is no duration"))?;
    match text.get(digits.len()..).unwrap_or_default() {
        "us" => Ok(Duration::from_micros(number)),
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_secs(number.saturating_mul(60))),
        "h" => Ok(Duration::from_secs(number.saturating_mul(3600))),
        _ => Err(format!("{text:?}: the unit is one of us, ms, s, m, h")),
    }
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve(args) => serve(args),
        Command::Check(args) => judge(&args),
        Command::Combined { log } => combined(&log),
    };
    done.unwrap_or_else(|error| {
        // Nothing is left to tell a reader who has gone.
        let _ = writeln!(io::stderr(), "error: {error}");
        ExitCode::from(2)
    })
}

#[tokio::main]
async fn serve(args: Serve) -> Result<ExitCode, Box<dyn Error>> {
    let options = Options {
        addresses: args.address.clone(),
        port: args.port,
        log_file: args.log.clone(),
        log_kept: false,
        site_time: args.site_time,
        ..Options::default()
    };
    let web = TestWeb::start(sites(&args), options).await?;
    if let Some(file) = &args.hosts_file {
        std::fs::write(file, web.hosts_file())?;
    }
    let mut out = io::stdout();
    writeln!(out, "{}", web.addr())?;
    out.flush()?;
    interrupted().await?;
    Running::shutdown(web).await?;
    Ok(ExitCode::SUCCESS)
}

fn sites(args: &Serve) -> Vec<Site> {
    let mut sites = Vec::new();
    if args.hosts > 0 {
        let bulk = Bulk {
            hosts: args.hosts,
            pages_per_host: args.pages,
            page_bytes: args.page_bytes,
            change_fraction: args.change_fraction,
            crawl_delay: args.crawl_delay.clone(),
            ..Bulk::default()
        };
        sites.push(bulk.site());
    }
    if args.demo {
        sites.extend(demo::sites());
    }
    if args.gallery {
        sites.extend(content::gallery());
    }
    sites
}

/// Waits for an interrupt or a request to terminate.
async fn interrupted() -> io::Result<()> {
    let terminate = tokio::signal::unix::SignalKind::terminate();
    let mut terminate = tokio::signal::unix::signal(terminate)?;
    tokio::select! {
        done = tokio::signal::ctrl_c() => done,
        _ = terminate.recv() => Ok(()),
    }
}

fn judge(args: &Check) -> Result<ExitCode, Box<dyn Error>> {
    let events = log::read(BufReader::new(File::open(&args.log)?))?;
    let promise = Promise {
        interval: args.interval,
        global_interval: args.global_interval,
        user_agents: args.ua.clone(),
        token: args.token.clone(),
        robots: !args.no_robots,
        robots_fresh: args.robots_fresh,
        conditional: !args.no_conditional,
        retry_after_max: args.retry_after_max,
        slack: args.slack,
    };
    let report = check(&events, &promise);
    if args.json {
        serde_json::to_writer(io::stdout(), &report)?;
        writeln!(io::stdout())?;
    } else {
        print(&report)?;
    }
    Ok(if report.breaches.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn print(report: &Report) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for breach in &report.breaches {
        let against = breach.against.map(|line| format!(" against line {line}"));
        writeln!(
            out,
            "line {}{}: {:?} {}{}: {}",
            breach.line,
            against.unwrap_or_default(),
            breach.kind,
            breach.host,
            breach.path,
            breach.detail
        )?;
    }
    writeln!(
        out,
        "{} requests ({} robots.txt, {} not modified) to {} hosts over {} connections",
        report.requests,
        report.robots_requests,
        report.not_modified,
        report.hosts.len(),
        report.connections
    )?;
    for (name, spread) in [
        ("gaps", &report.gaps),
        ("starts", &report.starts),
        ("lateness", &report.lateness),
    ] {
        let figure = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.3}"));
        writeln!(
            out,
            "{name:9} n {} min {} p50 {} p99 {} max {} ms",
            spread.count,
            figure(spread.min_ms),
            figure(spread.p50_ms),
            figure(spread.p99_ms),
            figure(spread.max_ms)
        )?;
    }
    writeln!(
        out,
        "{} undecided, {} breaches",
        report.undecided,
        report.breaches.len()
    )
}

fn combined(path: &PathBuf) -> Result<ExitCode, Box<dyn Error>> {
    let events = log::read(BufReader::new(File::open(path)?))?;
    log::write_combined(log::requests(&events), io::stdout().lock())?;
    Ok(ExitCode::SUCCESS)
}
