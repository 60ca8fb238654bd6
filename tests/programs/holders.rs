// SPDX-License-Identifier: GPL-3.0-or-later
// holders.rs -- what tests/programs/holders.c does, with Rust's mutex.
//
// holders MS: prints the same line of JSON.
use std::hint::black_box;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

const THREADS: u32 = 5;
const PARTS: [&str; 3] = ["hold_short", "hold_middle", "hold_long"];

static LOCK: Mutex<()> = Mutex::new(());

// When a thread asked for the lock, had it and left it, in which part.
struct Turn {
    asked: u64,
    got: u64,
    left: u64,
    part: usize,
}

fn now(start: Instant) -> u64 {
    start.elapsed().as_nanos() as u64
}

#[inline(always)]
fn hold(start: Instant, part: usize, ms: u64) -> Turn {
    let asked = now(start);
    let guard = LOCK.lock().unwrap();
    let got = now(start);
    thread::sleep(Duration::from_millis(ms));
    let left = now(start);
    drop(guard);
    black_box(Turn { asked, got, left, part })
}

#[inline(never)]
fn hold_short(start: Instant) -> Turn {
    hold(start, 0, 2)
}

#[inline(never)]
fn hold_middle(start: Instant) -> Turn {
    hold(start, 1, 5)
}

#[inline(never)]
fn hold_long(start: Instant) -> Turn {
    hold(start, 2, 10)
}

fn run(start: Instant, end: u64, number: u32) -> Vec<Turn> {
    let mut seed = number + 1;
    let mut draw = move |n: u32| {
        seed = seed.wrapping_mul(1103515245).wrapping_add(12345);
        (seed >> 16) % n
    };
    let mut turns = Vec::new();
    while now(start) < end {
        turns.push(match draw(3) {
            0 => hold_short(start),
            1 => hold_middle(start),
            _ => hold_long(start),
        });
        thread::sleep(Duration::from_millis(draw(8) as u64));
    }
    turns
}

fn main() {
    let start = Instant::now();
    let ms: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let threads: Vec<_> = (0..THREADS)
        .map(|i| thread::spawn(move || run(start, ms * 1000000, i)))
        .collect();
    let books: Vec<Vec<Turn>> =
        threads.into_iter().map(|it| it.join().unwrap()).collect();
    let mut held_up = [0u64; 3];
    let mut waited = 0;
    for (i, waiters) in books.iter().enumerate() {
        for waiter in waiters {
            waited += waiter.got - waiter.asked;
            for (k, holders) in books.iter().enumerate() {
                for holder in holders.iter().filter(|_| k != i) {
                    held_up[holder.part] += waiter.got.min(holder.left)
                        .saturating_sub(waiter.asked.max(holder.got));
                }
            }
        }
    }
    let parts: Vec<String> = PARTS.iter().zip(held_up)
        .map(|(name, ns)| format!("\"{name}\": {ns}")).collect();
    println!("{{\"held_up\": {{{}}}, \"waited_ns\": {}, \"late_ns\": {}}}",
             parts.join(", "), waited,
             waited - held_up.iter().sum::<u64>());
}
