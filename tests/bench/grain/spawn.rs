// SPDX-License-Identifier: GPL-2.0-only

// Threads for pieces of a sum; the argument is how many numbers a piece has.
use std::thread;

fn piece(from: u64, until: u64) -> u64 {
    let mut sum = 0u64;
    for i in from..until {
        sum = sum.wrapping_add((i as f64).sqrt() as u64 ^ i);
    }
    sum
}

fn main() {
    let step: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let (mut sum, mut i) = (0u64, 0u64);
    while i < 20_000_000 {
        let a = thread::spawn(move || piece(i, i + step));
        let b = thread::spawn(move || piece(i + step, i + 2 * step));
        sum = sum.wrapping_add(a.join().unwrap()).wrapping_add(b.join().unwrap());
        i += 2 * step;
    }
    println!("{}", sum);
}
