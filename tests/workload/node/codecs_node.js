#!/usr/bin/env node
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// codecs_node.js - calls of JSON.parse and JSON.stringify, in the protocol of the workloads: modes parse,
// parseerr and stringify. One call of each is made before READY, so this is for attaching to.
'use strict';
const fs = require('fs');

const MODES = ['parse', 'parseerr', 'stringify'];
const FUNCTIONS = {
	parse: ['decode', 'v8::internal::Builtin_JsonParse...'],
	stringify: ['encode', 'v8::internal::JsonStringify...'],
};

function usage() {
	process.stderr.write(`usage: -mode M -n CALLS -size heartbeat|order|device -nowait\nmodes: ${MODES.join(' ')}\n`);
	process.exit(2);
}

function die(message) {
	process.stderr.write(`workload: ${message}\n`);
	process.exit(1);
}

function options(args) {
	const o = { mode: MODES[0], n: 1000, size: 'heartbeat', nowait: false };

	for (let i = 0; i < args.length; i++) {
		if (args[i] === '-nowait')
			o.nowait = true;
		else if (['-mode', '-n', '-size'].includes(args[i]) && i + 1 < args.length)
			o[args[i].slice(1)] = args[++i];
		else
			usage();
	}
	o.n = Number(o.n);
	if (!MODES.includes(o.mode) || !(o.n >= 1) || !(o.size in DOCS))
		usage();
	return o;
}

// The data of lib/docs.go.
function order() {
	const lines = [];

	for (let i = 0; i < 10; i++)
		lines.push({ sku: 'SKU-' + String(i * 7919).padStart(5, '0'), title: `article number ${i + 100} of the list`,
			quantity: i + 1, cents: 1999 + i * 350, tags: ['new', 'stock'] });
	return { id: 770021, customer: 'customer-0042', currency: 'EUR', lines };
}

function device(levels, last) {
	const id = ++last.id, d = { id, name: 'device-' + String(id).padStart(4, '0'), kind: 'sensor-hub',
		readings: [0, 1, 2, 3, 4].map((i) => id * 100 + i), children: null };

	if (levels > 0)
		d.children = [0, 1, 2, 3].map(() => device(levels - 1, last));
	return d;
}

const DOCS = {
	heartbeat: () => ({ node: 'node-0017.rack-04', token: 'f3a91c0e77d2440bb6c58a1e9d034b7c21d0e95a8', seq: 9000217,
		time: 1700000000123, alive: true }),
	order,
	device: () => device(3, { id: 0 }),
};

function say(text) {
	fs.writeSync(1, text);
}

// A line, or the end. Plain reads: nothing else runs meanwhile.
function wait(o) {
	const b = Buffer.alloc(1);

	while (!o.nowait && fs.readSync(0, b, 0, 1, null) === 1 && b[0] !== 10)
		;
}

function timer() {
	const d = [];

	for (let i = 0; i < 10001; i++) {
		const t0 = process.hrtime.bigint();
		d.push(Number(process.hrtime.bigint() - t0));
	}
	return d.sort((a, b) => a - b)[5000];
}

function parseOne(text, r) {
	r.failed = false;
	const t0 = process.hrtime.bigint();
	try {
		r.value = JSON.parse(text);
	} catch (e) {
		r.failed = true;
	}
	r.ns = Number(process.hrtime.bigint() - t0);
	r.size = text.length;
}

function stringifyOne(value, r) {
	const t0 = process.hrtime.bigint();
	r.value = JSON.stringify(value);
	r.ns = Number(process.hrtime.bigint() - t0);
	r.size = r.value.length;
	r.failed = false;
}

function main() {
	const args = process.argv.slice(2);

	if (args[0] === '-modes')
		return say(MODES.join('\n') + '\n');
	const o = options(args), ns = [], r = {}, cost = timer();
	const value = DOCS[o.size](), text = JSON.stringify(value), spoilt = text.slice(0, text.length * 2 / 3);
	const t = { errors: 0, sum: 0, max: 0, checksum: 0 };

	parseOne(text, r);
	say(`PID ${process.pid}\nREADY\n`);
	wait(o);
	for (let i = 0; i < o.n; i++) {
		const fails = o.mode === 'parseerr' && i % 3 === 2;

		if (i === 1) // return addresses become known
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
		if (o.mode === 'stringify')
			stringifyOne(value, r);
		else
			parseOne(fails ? spoilt : text, r);
		if (r.failed !== fails || (o.mode === 'stringify' && r.value !== text))
			die('a call has another result than it should have');
		ns.push(Math.max(r.ns - cost, 0));
		t.errors += r.failed;
		t.sum += r.size;
		t.max = Math.max(t.max, r.size);
	}
	finish(o, t, ns, cost);
}

function finish(o, t, ns, cost) {
	const [op, f] = FUNCTIONS[o.mode.replace('err', '')], n = ns.length;
	const q = (permille) => ns[Math.max(Math.ceil(n * permille / 1000), 1) - 1].toFixed(1);

	ns.sort((a, b) => a - b);
	say(`TRUTH V8_JSON ${op} ${f} calls=${n} entries=${n} errors=${t.errors} size_sum=${t.sum} size_max=${t.max} ` +
		'abandoned=0\n' +
		`LATENCY ${f} count=${n} mean=${(ns.reduce((a, b) => a + b) / n).toFixed(1)} min=${ns[0]} p50=${q(500)} ` +
		`p90=${q(900)} p99=${q(990)} p999=${q(999)} max=${ns[n - 1]}\n` +
		`LIBRARY V8_JSON n/a\nCHECKSUM ${t.sum}\nTIMER ns=${cost}\nDONE\n`);
	wait(o);
}

main();
