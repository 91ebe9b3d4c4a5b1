// SPDX-License-Identifier: GPL-2.0-only

// Numbers through a bounded channel; the argument is how many a message has.
use std::sync::mpsc::sync_channel;
use std::thread;

fn main() {
    let step: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let (sender, receiver) = sync_channel::<Vec<u64>>(4);
    let producer = thread::spawn(move || {
        let mut i = 0u64;
        while i < 1_500_000 {
            sender.send((i..i + step).map(|n| n * 7 % 1000).collect()).unwrap();
            i += step;
        }
    });
    let mut sum = 0u64;
    for message in receiver {
        sum += message.iter().sum::<u64>();
    }
    producer.join().unwrap();
    println!("{}", sum);
}
