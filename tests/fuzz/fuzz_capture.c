// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_capture.c - damages captures at random, reads them, prints what could be read as a table and
 * as JSON, and compares it with itself. The captures have every key that there is. Arguments: how
 * many, and the seed; the same two give the same run. Under the sanitizers every fault ends the
 * program; without one it prints a line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "capture/gz.h"
#include "model/request.h"
#include "report/compare.h"
#include "report/report.h"
#include "tests/unit/sample.h"

static u64 state;

static u64 random_below(u64 n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

/* What is likely to be at a limit somewhere. */
static const char *const tokens[] = {
	"null",
	"true",
	"[]",
	"{}",
	"[",
	"{",
	"\"",
	",",
	"-1",
	"0",
	"1",
	"1.5",
	"1e400",
	"4294967295",
	"4294967296",
	"\"18446744073709551615\"",
	"\"18446744073709551616\"",
	"\"9223372036854775807\"",
	"\"9223372036854775808\"",
	"\"\"",
	"\"\\u0000\"",
	"\"\xff\xfe\"",
	"\"AAAA\"",
	"\"//////////8B\"",
	"\"overflow\":true,",
	"\"ok\"",
	"\"error\"",
	"\"step\"",
};

static size_t put(char *text, size_t len, size_t cut, size_t at, const char *s, size_t slen)
{
	memmove(text + at + slen, text + at + cut, len - at - cut);
	memcpy(text + at, s, slen);
	return len - cut + slen;
}

/* The end of the JSON scalar that begins at `at`. */
static size_t scalar_end(const char *text, size_t len, size_t at)
{
	size_t end = at;

	if (text[at] == '"') {
		const char *q = memchr(text + at + 1, '"', len - at - 1);

		return q ? (size_t)(q - text) + 1 : len;
	}
	while (end < len && !strchr(",]}", text[end]))
		end++;
	return end;
}

/* One change that keeps most of the text's structure, or none of it. text has room for 4 KB more. */
static size_t mutate(char *text, size_t len)
{
	const char *token = tokens[random_below(sizeof(tokens) / sizeof(tokens[0]))];
	size_t at = random_below(len), from, n;
	char chunk[256];

	switch (random_below(6)) {
	case 0: /* a byte */
		text[at] = (char)random_below(256);
		return len;
	case 1: /* a digit: numbers stay numbers */
		while (at < len && (text[at] < '0' || text[at] > '9'))
			at++;
		if (at < len)
			text[at] = (char)('0' + random_below(10));
		return len;
	case 2: /* a value */
		while (at < len && text[at] != ':')
			at++;
		if (++at >= len)
			return len;
		return put(text, len, scalar_end(text, len, at) - at, at, token, strlen(token));
	case 3: /* anywhere */
		return put(text, len, 0, at, token, strlen(token));
	case 4: /* a piece goes away */
		n = random_below(200);
		n = n < len - at ? n : len - at - 1;
		return put(text, len, n, at, "", 0);
	default: /* a piece is doubled elsewhere */
		from = random_below(len);
		n = random_below(sizeof(chunk));
		n = n < len - from ? n : len - from;
		memcpy(chunk, text + from, n);
		return put(text, len, 0, at, chunk, n);
	}
}

static int compare_with_itself(const struct recording *r, FILE *f)
{
	const struct compare_opts opts = {.by_size = random_below(2), .fail_over = 0.1};
	struct compare_run run = {r, "fuzz"};
	struct compare_side side[2] = {{"A", &run, 1}, {"B", &run, 1}};
	struct compare c;
	int err = compare__build(&c, side, 2, &opts);

	if (err)
		return err;
	err = compare__print(&c, (enum compare_format)random_below(3), 100, f);
	compare__fini(&c);
	return err;
}

static int print_all(const struct recording *r)
{
	struct report_opts opts = {0};
	FILE *f = fopen("/dev/null", "w");
	int err = f ? 0 : -errno;

	for (u32 i = 0; !err && i < 4; i++) {
		opts.format = i == 3 ? REPORT_JSON : REPORT_TABLE;
		opts.by = i == 2 ? REPORT_BY_PROCESS : i == 1 ? REPORT_BY_SIZE : REPORT_BY_CODEC;
		opts.width = (u32)random_below(200);
		err = report__print(r, &opts, f);
	}
	if (!err && !random_below(4))
		err = compare_with_itself(r, f);
	if (f)
		fclose(f);
	return err;
}

/* ---- what sample_recording() lacks ---- */

static void count_calls(struct recording *r)
{
	static const char *const names[] = {"cycles", "instructions", "cache-misses", "on-cpu"};
	struct m_counters *c = &r->counters;
	struct m_interval *iv = &r->interval[1];

	c->nr = 4;
	for (u32 i = 0; i < c->nr; i++)
		c->v[i] = (struct m_counter){.name = strdup(names[i]), .bias = i ? M_NONE : 123};
	c->v[2].lack = strdup("no such counter here");
	c->lost[HB_CTR_LOST_SWITCH] = 7;
	iv->ctr = sample_array(r->nr_rows * c->nr, sizeof(*iv->ctr));
	for (u32 i = 0; i < r->nr_rows; i++) {
		for (u32 k = 0; k < HB_CTRS; k++)
			m_ctr__init(&r->row[i].ctr[k]);
		for (u32 k = 0; k < c->nr; k++) {
			u64 n = c->v[k].lack ? 0 : r->row[i].count / 2;

			if (!n)
				continue;
			r->row[i].ctr[k] = (struct m_ctr){n, n * (1000 + k), 1000, 1000 + 2 * k};
			iv->ctr[iv->nr_ctrs++] = (struct m_ctr_delta){i, (u8)k, 1, 1000 + k};
		}
	}
}

static void sample_request(struct m_request *q, u8 side, u32 codecs)
{
	m_request__init(q);
	q->side = side;
	q->port = side == HB_REQ_HANDLER ? 0 : 8080;
	sample_add(&q->latency, 1000000, 90);
	sample_add(&q->latency, 9000000, 10);
	q->bucket_codec_ns = sample_array(q->latency.nr_buckets, sizeof(*q->bucket_codec_ns));
	for (u32 i = 0; i < q->latency.nr_buckets; i++)
		q->bucket_codec_ns[i] = 1000000;
	q->codec_ns = q->latency.nr_buckets * 1000000;
	q->codec_calls = 100;
	q->bytes_in = q->bytes_out = 100000;
	q->read_ns = q->write_ns = 500000;
	q->first_sum_ns = 90000000;
	q->first_max_ns = 8000000;
	q->waited = q->queued = q->paused = q->tls = q->tls_doubt = q->unanswered = 1;
	q->stopped = 3;
	q->waited_sum_ns = q->waited_max_ns = 40000;
	q->queued_sum_ns = q->queued_max_ns = 50000;
	q->codec = sample_array(codecs, sizeof(*q->codec));
	for (u32 i = 0; i < codecs; i++)
		q->codec[q->nr_codecs++] = (struct m_request_codec){
			strdup(i ? "cJSON" : "encoding/json"), strdup("decode"), 100, 700000};
}

static void sample_requests(struct recording *r)
{
	struct m_requests *q = sample_array(1, sizeof(*q));

	r->requests = q;
	for (u32 i = 0; i < HB_REQ_CNT_NR; i++)
		q->n[i] = i;
	q->open_at_end = 2;
	q->nr_rows = 4;
	q->row = sample_array(q->nr_rows, sizeof(*q->row));
	sample_request(&q->row[0], HB_REQ_SERVER, 2);
	sample_request(&q->row[1], HB_REQ_CLIENT, 1);
	q->row[1].target = 1;
	sample_request(&q->row[2], HB_REQ_HANDLER, 1);
	q->row[2].func = 1;
	sample_request(&q->row[3], HB_REQ_SERVER, 1);
	q->row[3].overflow = true;
	q->nr_procs = 2;
	q->proc = sample_array(q->nr_procs, sizeof(*q->proc));
	for (u32 i = 0; i < q->nr_procs; i++) {
		m_request_proc__init(&q->proc[i]);
		q->proc[i].target = i;
		q->proc[i].stops_seen = !i;
		q->proc[i].voluntary = i ? M_NONE : 100;
		q->proc[i].involuntary = i ? M_NONE : 3;
	}
	q->proc[1].windows = 3;
	q->proc[1].window_ns = 300000000;
	q->proc[1].gopark = q->proc[1].mcall = 1000;
	q->proc[1].window_requests = 10;
	q->probed_ns = 400000000;
	sample_add(&q->proc[0].pauses, 30000, 12);
	q->proc[0].no_begin = q->proc[0].no_end = q->proc[0].no_row = 1;
}

static void sample_facts(struct recording *r)
{
	static const char *const facts[][2] = {
		{"cpu_generation", "AMD EPYC Milan (Zen 3), family 25 model 1 stepping 1"},
		{"cpus_online", "16"},
		{"smt", "on"},
		{"virtualization", "KVM"},
		{"run_clocksource", "tsc, tsc"},
		{"run_changes", "none"},
		{"run_load", "0.5 to 3.1"},
		{"run_busy", "31.2%"},
		{"run_steal", "0.4%"},
		{"run_suspended", "no"},
		{"run_cpu_quota", "1.50 CPUs"},
		{"run_throttled", "12 times, 340ms in all CPUs"},
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (m_host__add(&r->host, facts[i][0], facts[i][1]))
			abort();
	r->codecs = strdup("cbf29ce484222325");
	r->func[0].kind = strdup("handler");
	r->func[0].off_ns = SAMPLE_SECOND;
}

/* 1: read and printed, 0: refused, or -errno: what neither may be. */
static int try_capture(const char *bytes, size_t len)
{
	struct recording *r = NULL;
	char why[256] = "";
	int err;

	err = capture__read_mem(bytes, len, "fuzz", &r, why, sizeof(why));
	if (err)
		return why[0] && (err == -EBADMSG || err == -EPROTO || err == -EFBIG) ? 0 : err;
	err = print_all(r);
	recording__free(r);
	return err ? err : 1;
}

static int try_text(const char *sample, size_t len)
{
	size_t n = len, packed;
	u64 changes = 1 + random_below(3);
	char *text = malloc(len + 4096), *bytes;
	int err;

	if (!text)
		return -ENOMEM;
	memcpy(text, sample, len);
	while (changes--)
		n = mutate(text, n);
	err = gz_pack(text, n, &bytes, &packed);
	free(text);
	if (err)
		return err;
	err = try_capture(bytes, packed);
	free(bytes);
	return err;
}

static int try_bytes(const char *sample, size_t len)
{
	size_t n = random_below(4) ? len : random_below(len);
	char *bytes = malloc(n ? n : 1);
	int err;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, sample, n);
	for (u64 i = random_below(5); n && i; i--)
		bytes[random_below(n)] ^= (char)(1 << random_below(8));
	err = try_capture(bytes, n);
	free(bytes);
	return err;
}

int main(int argc, char **argv)
{
	u64 count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct recording *r = sample_recording();
	u64 readable = 0;
	char *bytes = NULL, *text = NULL;
	size_t len, textlen;
	const char *why;
	int err;

	sample_stacks(r);
	sample_facts(r);
	count_calls(r);
	sample_requests(r);
	state = seed * 0x9e3779b97f4a7c15ULL + 1;
	err = capture__write_mem(r, &bytes, &len);
	if (!err)
		err = gz_unpack(bytes, len, CAPTURE_MAX_TEXT, &text, &textlen, &why);
	for (u64 i = 0; err >= 0 && i < count; i++) {
		err = random_below(5) ? try_text(text, textlen) : try_bytes(bytes, len);
		readable += err == 1;
		if (err < 0)
			printf("fuzz_capture: number %llu of seed %llu: %s\n", i, seed,
			       strerror(-err));
	}
	free(text);
	free(bytes);
	recording__free(r);
	if (err < 0)
		return 1;
	/* A harness that never gets past the reader tests only that. */
	printf("fuzz_capture: %llu captures of seed %llu, %llu of them readable\n", count, seed,
	       readable);
	return count >= 1000 && readable < count / 100;
}
