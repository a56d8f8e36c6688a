//! `reigi`: the command line over the libraries of the house.
//!
//! The only place with a clock, a terminal and a process exit. [`cli`] says what can be asked,
//! [`commands`] does it, [`driver`] runs the bots.

use std::process::ExitCode;

use clap::Parser as _;

mod cli;
mod clock;
mod commands;
mod driver;
mod exit;
mod house;
mod lang;
mod people;
mod table;
mod writer;

fn main() -> ExitCode {
    let (lang, outcome) = commands::dispatch(cli::Cli::parse());
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            let lang = lang
                .or_else(lang::of_house)
                .unwrap_or(reigi_core::charter::Lang::En);
            eprint!("{}", failure.say(lang));
            failure.exit.into()
        }
    }
}
