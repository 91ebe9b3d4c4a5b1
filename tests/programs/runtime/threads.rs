// SPDX-License-Identifier: GPL-2.0-only

//! threads [SECONDS]: as threads.cc, by Rust's std.
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

#[no_mangle]
#[inline(never)]
fn worker(seconds: f64) -> u64 {
    let begin = Instant::now();
    let mut sink = 1u64;
    let mut turns = 0;
    // A loaded machine takes longer: what counts is that all of it is somebody's.
    while begin.elapsed() < Duration::from_secs_f64(seconds) || turns < 100 {
        for k in 0..20000u64 {
            sink = black_box(sink.wrapping_mul(3) + k);
        }
        turns += 1;
    }
    sink
}

#[no_mangle]
#[inline(never)]
fn create_threads(seconds: f64) {
    let threads: Vec<_> = (0..2).map(|_| thread::spawn(move || worker(seconds))).collect();
    for thread in threads {
        black_box(thread.join().unwrap());
    }
}

#[no_mangle]
#[inline(never)]
fn hand_out(seconds: f64) {
    create_threads(seconds);
    black_box(());
}

fn main() {
    hand_out(std::env::args().nth(1).map_or(1.0, |s| s.parse().unwrap()));
}
