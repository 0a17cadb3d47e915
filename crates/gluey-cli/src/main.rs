//! The command `gluey`.

fn main() {}
