// SPDX-License-Identifier: GPL-2.0-only

//! Makes a table and adds it up by two threads; the table is made by one thread (0) or by both (1).
use std::thread;

const N: u64 = 9_000_000;

#[inline(never)]
fn make_table(from: u64, until: u64) -> Vec<u64> {
    (from..until).map(|i| (1..24u64).fold(i, |x, k| x.wrapping_mul(2862933555777941757) % (k + 97) + i)).collect()
}

#[inline(never)]
fn add_up(part: &[u64]) -> u64 {
    part.iter().fold(0u64, |s, x| (s ^ x).wrapping_mul(31) % 1_000_003)
}

fn main() {
    let both = std::env::args().nth(1).as_deref() == Some("1");
    let table = if both {
        let one = thread::spawn(|| make_table(0, N / 2));
        let mut two = make_table(N / 2, N);
        let mut table = one.join().unwrap();
        table.append(&mut two);
        table
    } else {
        make_table(0, N)
    };
    let (one, two) = table.split_at(table.len() / 2);
    let sum = thread::scope(|s| {
        let first = s.spawn(|| add_up(one));
        add_up(two) + first.join().unwrap()
    });
    println!("{}", sum);
}
