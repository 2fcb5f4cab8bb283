/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request.h - the requests of a recording: a part of model.h, which explains units and ownership.
 */
#ifndef HBPROF_REQUEST_H
#define HBPROF_REQUEST_H

#include <hbprof/req.h>

#include "model/model.h"

/* Codec calls of one (codec, operation) in requests of a row. */
struct m_request_codec {
	char *codec, *op;
	u64 calls, ns;
};

/* Requests of one process on one port, or calls of one handler. Bytes are as the process sees them: what
 * it has received is in. */
struct m_request {
	u32 target; /* index; unset in the overflow row */
	u8 side;    /* enum hb_req_side */
	bool overflow;
	bool children; /* not of the process, but of what it has forked, before that was measured */
	u16 port;      /* server: its own; client: the peer's */
	u32 func;      /* handlers: index of functions */
	u64 bytes_in, bytes_out;
	u64 codec_ns, codec_calls;
	u64 read_ns, write_ns;
	u64 first_sum_ns, first_max_ns; /* to the first byte of the answer */
	u64 waited, waited_sum_ns,
		waited_max_ns; /* first requests of a connection: since accept() */
	u64 queued, queued_sum_ns,
		queued_max_ns; /* connections: from the end of TCP's handshake to accept() */
	u64 unanswered, paused, tls;
	u64 parallel;	/* requests whose codec calls ran at the same time, in several goroutines */
	u64 overlap_ns; /* of codec_ns, at most so much while another call ran */
	u64 followed;	/* handlers: codec calls in goroutines that they have started */
	u64 in_window;	/* not in latency, as they overlap a window of counting */
	u64 tls_doubt;	/* of tls: the client may speak HTTP/2, so that exchanges may overlap */
	u64 stopped;	/* met a stop of the world; M_NONE: the process's stops were not seen */
	struct m_dist latency; /* its count is the number of requests */
	u64 *bucket_codec_ns;  /* codec time in the requests of latency.bucket[i] */
	struct m_request_codec *codec;
	u32 nr_codecs;
};

/* What the Go runtime and the scheduler did to a process meanwhile. */
struct m_request_proc {
	u32 target;	      /* index */
	bool stops_seen;      /* else it has no stops to be seen: no Go, or not its functions */
	struct m_dist pauses; /* while the world was stopped */
	u64 no_begin, no_end; /* pauses of which only the end, the begin was seen; no time */
	u64 no_row;	      /* pauses for which there was no room */
	u64 voluntary, involuntary; /* context switches of all its threads; M_NONE: not known */
	/* Functions of the runtime, counted in windows of window_ns in all; no windows: not counted. */
	u64 windows, window_ns;
	u64 gopark, mcall;
	u64 window_requests; /* served, by their last byte out */
};
#define REQUESTS_FOLLOWED "on"

struct m_requests {
	u64 n[HB_REQ_CNT_NR]; /* enum hb_req_counter */
	u64 probed_ns;	      /* for which such windows have slowed down the processes */
	u64 open_at_end;      /* exchanges without an answer yet */
	char *follow_go;      /* NULL: not asked for; REQUESTS_FOLLOWED; or why not */
	struct m_request *row;
	u32 nr_rows;
	struct m_request_proc *proc;
	u32 nr_procs;
};

void m_requests__free(struct m_requests *r); /* NULL is fine */
void m_request__init(struct m_request *r);
void m_request__fini(struct m_request *r);

/* In 1/10,000 of the latency: codec time in all requests of the row; in those between two quantiles
 * (1/10,000), as the sum over them. M_NONE: no requests there, or no bucket was kept, or codec calls in them
 * are not known (children). */
u64 m_request__share(const struct m_request *r);
/* The same without what ran while another codec call of the request did: at least so much of its time. */
u64 m_request__share_min(const struct m_request *r);
u64 m_request__share_between(const struct m_request *r, u32 from, u32 to);
/* Of the requests between P45 and P55, and of those from P99 on: M_NONE with fewer than 20, 100. */
u64 m_request__share_p50(const struct m_request *r);
u64 m_request__share_p99(const struct m_request *r);

void m_request_proc__init(struct m_request_proc *p);

/* Requests of a process, those in windows too, for what is told per request: those it has served, else its handlers' (of one handler
 * in another: the one with most), else those it has made. */
u64 m_requests__of_process(const struct m_requests *r, u32 target);

/* Of the codec calls that lie in no other one, those tied to a request, in 1/10,000; M_NONE: none. */
u64 m_requests__tied(const struct m_requests *r);

extern const char *const hb_req_side_names[HB_REQ_SIDE_NR];
extern const char *const hb_req_counter_names[HB_REQ_CNT_NR];

#endif
