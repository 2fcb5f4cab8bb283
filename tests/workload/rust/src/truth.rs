// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The protocol of the workloads for Rust: what truth.h is for C, as far as the codecs need it. One
//! thread; one outermost function.

use std::io::{BufRead, Write};
use std::time::Instant;

pub struct Options {
    pub mode: String,
    pub size: String,
    pub n: u64,
    nowait: bool,
}

fn usage(modes: &[String]) -> ! {
    eprintln!("usage: -mode M -n CALLS -size heartbeat|order|device -nowait\nmodes: {}", modes.join(" "));
    std::process::exit(2)
}

pub fn die(message: &str) -> ! {
    eprintln!("workload: {message}");
    std::process::exit(1)
}

impl Options {
    pub fn parse(modes: &[String]) -> Options {
        let mut o = Options { mode: modes[0].clone(), size: "heartbeat".into(), n: 1000, nowait: false };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            if arg == "-nowait" {
                o.nowait = true;
                continue;
            }
            let value = args.next().unwrap_or_else(|| usage(modes));
            match arg.as_str() {
                "-mode" => o.mode = value,
                "-size" => o.size = value,
                "-n" => o.n = value.parse().unwrap_or_else(|_| usage(modes)),
                _ => usage(modes),
            }
        }
        if !modes.contains(&o.mode) || !["heartbeat", "order", "device"].contains(&o.size.as_str()) || o.n < 1 {
            usage(modes);
        }
        o
    }
}

/// What a profiler should find of one function.
pub struct Truth {
    opt: Options,
    codec: String,
    op: String,
    function: String,
    calls: u64,
    errors: u64,
    size_sum: u64,
    size_max: u64,
    timer_ns: u64,
    values: Vec<u64>,
}

impl Truth {
    pub fn new(opt: Options, codec: &str, op: &str, function: &str) -> Truth {
        let mut empty: Vec<u64> = (0..10001)
            .map(|_| {
                let t0 = Instant::now();
                t0.elapsed().as_nanos() as u64
            })
            .collect();
        empty.sort_unstable();
        let (timer_ns, n) = (empty[empty.len() / 2], opt.n as usize);
        Truth {
            opt,
            codec: codec.into(),
            op: op.into(),
            function: function.into(),
            calls: 0,
            errors: 0,
            size_sum: 0,
            size_max: 0,
            timer_ns,
            values: Vec::with_capacity(n),
        }
    }

    pub fn opt(&self) -> &Options {
        &self.opt
    }

    pub fn count(&mut self, ns: u128, size: usize, failed: bool) {
        self.calls += 1;
        self.errors += u64::from(failed);
        self.size_sum += size as u64;
        self.size_max = self.size_max.max(size as u64);
        self.values.push((ns as u64).saturating_sub(self.timer_ns));
    }

    pub fn start(&self) {
        println!("PID {}\nREADY", std::process::id());
        self.wait();
    }

    /// Every value is kept, and so quantiles are exact; the others have buckets of 1/64 octave.
    fn quantile(&self, permille: usize) -> u64 {
        let rank = (self.values.len() * permille).div_ceil(1000).max(1);
        self.values[rank - 1]
    }

    pub fn finish(mut self, checksum: u64, version: &str) {
        self.values.sort_unstable();
        let v = &self.values;
        println!(
            "TRUTH {} {} {} calls={} entries={} errors={} size_sum={} size_max={} abandoned=0",
            self.codec, self.op, self.function, self.calls, self.calls, self.errors, self.size_sum, self.size_max
        );
        println!(
            "LATENCY {} count={} mean={:.1} min={} p50={:.1} p90={:.1} p99={:.1} p999={:.1} max={}",
            self.function,
            v.len(),
            v.iter().sum::<u64>() as f64 / v.len() as f64,
            v[0],
            self.quantile(500) as f64,
            self.quantile(900) as f64,
            self.quantile(990) as f64,
            self.quantile(999) as f64,
            v[v.len() - 1]
        );
        println!("LIBRARY {} {version}\nCHECKSUM {checksum}\nTIMER ns={}\nDONE", self.codec, self.timer_ns);
        self.wait();
    }

    fn wait(&self) {
        if std::io::stdout().flush().is_err() {
            die("cannot write the result");
        }
        if !self.opt.nowait {
            let mut line = String::new();
            let _ = std::io::stdin().lock().read_line(&mut line);
        }
    }
}
