//! `cargo run --release -p gluey-inputs --example take -- WAY FILE…`: what becomes of the bytes of a file.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(way) = arguments.next().and_then(|name| gluey_inputs::way(&name)) else {
        let names: Vec<&str> = gluey_inputs::WAYS.iter().map(|way| way.name).collect();
        eprintln!("usage: take WAY FILE…, where WAY is one of {}", names.join(", "));
        return ExitCode::from(2);
    };
    for path in arguments {
        match std::fs::read(&path) {
            Ok(bytes) => println!("{path}: {:?}", (way.take)(&bytes)),
            Err(error) => {
                eprintln!("cannot read {path}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
