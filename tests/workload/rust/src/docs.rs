// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The documents of the workloads: the same data as in lib/docs.go. prost's derive makes messages of the
//! same types, with the numbers of lib/payload.proto.

use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Serialize, Deserialize, prost::Message)]
pub struct Heartbeat {
    #[prost(string, tag = "1")]
    pub node: String,
    #[prost(string, tag = "2")]
    pub token: String,
    #[prost(int64, tag = "3")]
    pub seq: i64,
    #[prost(int64, tag = "4")]
    pub time: i64,
    #[prost(bool, tag = "5")]
    pub alive: bool,
}

#[derive(Clone, PartialEq, Serialize, Deserialize, prost::Message)]
pub struct Line {
    #[prost(string, tag = "1")]
    pub sku: String,
    #[prost(string, tag = "2")]
    pub title: String,
    #[prost(int64, tag = "3")]
    pub quantity: i64,
    #[prost(int64, tag = "4")]
    pub cents: i64,
    #[prost(string, repeated, tag = "5")]
    pub tags: Vec<String>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize, prost::Message)]
pub struct Order {
    #[prost(int64, tag = "1")]
    pub id: i64,
    #[prost(string, tag = "2")]
    pub customer: String,
    #[prost(string, tag = "3")]
    pub currency: String,
    #[prost(message, repeated, tag = "4")]
    pub lines: Vec<Line>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize, prost::Message)]
pub struct Device {
    #[prost(int64, tag = "1")]
    pub id: i64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(string, tag = "3")]
    pub kind: String,
    #[prost(int64, repeated, tag = "4")]
    pub readings: Vec<i64>,
    #[prost(message, repeated, tag = "5")]
    pub children: Vec<Device>,
}

pub trait Doc: Clone + PartialEq + Serialize + serde::de::DeserializeOwned + prost::Message + Default {
    fn make() -> Self;
}

impl Doc for Heartbeat {
    fn make() -> Self {
        Heartbeat {
            node: "node-0017.rack-04".into(),
            token: "f3a91c0e77d2440bb6c58a1e9d034b7c21d0e95a8".into(),
            seq: 9000217,
            time: 1700000000123,
            alive: true,
        }
    }
}

impl Doc for Order {
    fn make() -> Self {
        let lines = (0..10)
            .map(|i| Line {
                sku: format!("SKU-{:05}", i * 7919),
                title: format!("article number {} of the list", i + 100),
                quantity: i + 1,
                cents: 1999 + i * 350,
                tags: vec!["new".into(), "stock".into()],
            })
            .collect();
        Order { id: 770021, customer: "customer-0042".into(), currency: "EUR".into(), lines }
    }
}

fn device(levels: i32, last: &mut i64) -> Device {
    *last += 1;
    let id = *last;
    let children = if levels == 0 { 0 } else { 4 };
    Device {
        id,
        name: format!("device-{id:04}"),
        kind: "sensor-hub".into(),
        readings: (0..5).map(|i| id * 100 + i).collect(),
        children: (0..children).map(|_| device(levels - 1, last)).collect(),
    }
}

impl Doc for Device {
    fn make() -> Self {
        device(3, &mut 0)
    }
}
