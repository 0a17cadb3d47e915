#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| -> libfuzzer_sys::Corpus { gluey_fuzz::take("expression", bytes) });
