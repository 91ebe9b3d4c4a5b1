// SPDX-License-Identifier: GPL-2.0-only

//! threads [SECONDS]: as threads.cc, by Rust's std.
use std::ptr::read_volatile;
use std::thread;
use std::time::{Duration, Instant};

// What the compiler has to believe to be needed; std::hint::black_box is younger than Rust 1.63.
fn keep<T: Copy>(value: T) -> T {
    unsafe { read_volatile(&value) }
}

#[no_mangle]
#[inline(never)]
fn worker(seconds: f64) -> u64 {
    let begin = Instant::now();
    let mut sink = 1u64;
    let mut turns = 0;
    // A loaded machine takes longer: what counts is that all of it has an owner.
    while begin.elapsed() < Duration::from_secs_f64(seconds) || turns < 100 {
        for k in 0..20000u64 {
            sink = keep(sink.wrapping_mul(3) + k);
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
        keep(thread.join().unwrap());
    }
}

#[no_mangle]
#[inline(never)]
fn hand_out(seconds: f64) {
    create_threads(seconds);
    keep(0u8);
}

fn main() {
    hand_out(std::env::args().nth(1).map_or(1.0, |s| s.parse().unwrap()));
}
