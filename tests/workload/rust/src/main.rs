// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Calls of Rust's codecs, for attaching to: modes CODEC-encode, CODEC-decode. What is set up before
//! READY calls them too. README.md of the folder above has the protocol.

mod docs;
mod truth;

use docs::{Device, Doc, Heartbeat, Order};
use std::hint::black_box;
use std::time::{Duration, Instant};
use truth::{die, Options, Truth};

/// Mode, name in the registry, operation, and the function that a profiler may find.
const MODES: &[(&str, &str, &str, &str)] = &[
    ("serde_json-encode", "serde_json", "encode", "serde_json::ser::to_vec"),
    ("serde_json-decode", "serde_json", "decode", "serde_json::de::from_trait"),
    ("rmp-serde-encode", "rmp-serde", "encode", "rmp_serde::encode::to_vec"),
    ("rmp-serde-decode", "rmp-serde", "decode", "rmp_serde::decode::from_slice"),
    ("ciborium-encode", "ciborium", "encode", "ciborium::ser::into_writer"),
    ("ciborium-decode", "ciborium", "decode", "ciborium::de::from_reader"),
    ("bincode-encode", "bincode", "encode", "bincode::internal::serialize"),
    ("bincode-decode", "bincode", "decode", "bincode::internal::deserialize"),
    ("simd-json-encode", "simd-json", "encode", "simd_json::serde::se::to_vec"),
    ("simd-json-decode", "simd-json", "decode", "simd_json::Deserializer::from_slice"),
    ("prost-encode", "prost", "encode", "prost::message::Message::encode_to_vec"),
    ("prost-decode", "prost", "decode", "prost::message::Message::decode"),
];

fn encode<D: Doc>(codec: &str, v: &D) -> Vec<u8> {
    match codec {
        "serde_json" => serde_json::to_vec(v).ok(),
        "rmp-serde" => rmp_serde::to_vec(v).ok(),
        "ciborium" => {
            let mut out = Vec::new();
            ciborium::into_writer(v, &mut out).ok().map(|()| out)
        }
        "bincode" => bincode::serialize(v).ok(),
        "simd-json" => simd_json::to_vec(v).ok(),
        "prost" => Some(v.encode_to_vec()),
        _ => None,
    }
    .unwrap_or_else(|| die("cannot encode"))
}

/// simd-json changes the text that it reads.
fn decode<D: Doc>(codec: &str, bytes: &mut [u8]) -> D {
    match codec {
        "serde_json" => serde_json::from_slice(bytes).ok(),
        "rmp-serde" => rmp_serde::from_slice(bytes).ok(),
        "ciborium" => ciborium::from_reader(&*bytes).ok(),
        "bincode" => bincode::deserialize(bytes).ok(),
        "simd-json" => simd_json::from_slice(bytes).ok(),
        "prost" => D::decode(&*bytes).ok(),
        _ => None,
    }
    .unwrap_or_else(|| die("cannot decode"))
}

fn run<D: Doc>(mut t: Truth, codec: &str, op: &str) {
    let v = D::make();
    let bytes = encode(codec, &v);
    let mut sum = 0;
    t.start();
    for i in 0..t.opt().n {
        if i == 1 {
            std::thread::sleep(Duration::from_millis(200)); // return addresses become known
        }
        let mut copy = bytes.clone();
        let t0 = Instant::now();
        if op == "encode" {
            let out = black_box(encode(codec, black_box(&v)));
            t.count(t0.elapsed().as_nanos(), out.len(), false);
            sum += out.len() as u64;
        } else {
            let back: D = black_box(decode(codec, black_box(&mut copy)));
            t.count(t0.elapsed().as_nanos(), bytes.len(), false);
            if back != v {
                die("the decoded value is not the one that was encoded");
            }
            sum += 1;
        }
    }
    t.finish(sum, "n/a");
}

fn main() {
    let names: Vec<String> = MODES.iter().map(|m| m.0.to_string()).collect();
    if std::env::args().nth(1).as_deref() == Some("-modes") {
        println!("{}", names.join("\n"));
        return;
    }
    let opt = Options::parse(&names);
    let m = MODES.iter().find(|m| m.0 == opt.mode).unwrap_or_else(|| die("no mode"));
    let size = opt.size.clone();
    let t = Truth::new(opt, m.1, m.2, m.3);
    match size.as_str() {
        "heartbeat" => run::<Heartbeat>(t, m.1, m.2),
        "order" => run::<Order>(t, m.1, m.2),
        _ => run::<Device>(t, m.1, m.2),
    }
}
