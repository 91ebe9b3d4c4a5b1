// SPDX-License-Identifier: GPL-2.0-only
// Threads, closures, and collections of Rust's standard library, for ever.
use std::collections::BTreeMap;
use std::thread;

#[inline(never)]
fn count(words: &[String]) -> usize {
    let mut seen = BTreeMap::new();
    for word in words {
        *seen.entry(word.chars().rev().collect::<String>()).or_insert(0usize) += word.len();
    }
    seen.values().filter(|n| **n % 3 == 0).count()
}

fn turn(seed: usize) -> usize {
    let words: Vec<String> = (0..500).map(|i| format!("{:x}", i * seed * 7919)).collect();
    count(&words)
}

fn main() {
    let workers: Vec<_> = (1..4)
        .map(|seed| thread::spawn(move || loop { unsafe { std::ptr::read_volatile(&turn(seed)) }; }))
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
}
