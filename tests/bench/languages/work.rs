// SPDX-License-Identifier: GPL-2.0-only
// As work.py says, with rayon.
use rayon::prelude::*;
use std::sync::Mutex;

const SIZE: usize = 20000;

#[inline(never)]
fn burn(mut x: u64) -> u64 {
    for _ in 0..SIZE {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        x ^= x >> 29;
    }
    x
}

#[inline(never)]
fn parse(from: usize, to: usize) -> u64 {
    (from..to).map(|i| burn(i as u64)).fold(0, u64::wrapping_add)
}

#[inline(never)]
fn update(total: &Mutex<u64>, x: u64) {
    let mut total = total.lock().unwrap();
    *total = total.wrapping_add(burn(burn(burn(x))));
}

#[inline(never)]
fn compute(i: usize) -> u64 {
    burn(i as u64)
}

fn sum(n: usize) -> u64 {
    (0..n).into_par_iter().map(compute).reduce(|| 0, u64::wrapping_add)
}

#[allow(non_snake_case)]
fn main() {
    let times = std::env::args().nth(2).map_or(200, |s| s.parse().unwrap());
    let N: usize = times * 100;
    let total = Mutex::new(0);
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
    let found = match std::env::args().nth(1).as_deref() {
        Some("serial") => parse(0, N) ^ sum(2 * N),
        Some("serial-fixed") => {
            let (a, b) = rayon::join(|| parse(0, N / 2), || parse(N / 2, N));
            a ^ b ^ sum(2 * N)
        }
        Some("lock") => {
            (0..N).into_par_iter().for_each(|i| update(&total, burn(i as u64)));
            0
        }
        Some("lock-fixed") => (0..N)
            .into_par_iter()
            .map(|i| burn(burn(burn(burn(i as u64)))))
            .reduce(|| 0, u64::wrapping_add),
        _ => sum(4 * N),
    };
    println!("{}", found ^ total.into_inner().unwrap());
}
