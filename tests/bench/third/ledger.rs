// SPDX-License-Identifier: GPL-2.0-only

//! Two threads that book into one ledger; 0: what is booked is computed with the lock held, 1: before it is taken.
use std::sync::{Arc, Mutex};
use std::thread;

#[inline(never)]
fn price(seed: u64) -> u64 {
    let mut x = seed | 1;
    for i in 0..40_000u64 {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(i) % 1_000_003 + 1;
    }
    x
}

#[inline(never)]
fn book_held(ledger: &Mutex<u64>, i: u64) {
    let mut sum = ledger.lock().unwrap();
    *sum = sum.wrapping_add(price(i));
}

#[inline(never)]
fn book_after(ledger: &Mutex<u64>, i: u64) {
    let p = price(i);
    let mut sum = ledger.lock().unwrap();
    *sum = sum.wrapping_add(p);
}

fn main() {
    let after = std::env::args().nth(1).as_deref() == Some("1");
    let ledger = Arc::new(Mutex::new(0u64));
    let threads: Vec<_> = (0..2u64)
        .map(|t| {
            let ledger = ledger.clone();
            thread::spawn(move || {
                for i in 0..2500 {
                    if after { book_after(&ledger, t + i) } else { book_held(&ledger, t + i) }
                }
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    println!("{}", ledger.lock().unwrap());
}
