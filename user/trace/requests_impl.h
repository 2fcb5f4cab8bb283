/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* requests_impl.h - what requests.c and requests_read.c share. */
#ifndef HBPROF_REQUESTS_IMPL_H
#define HBPROF_REQUESTS_IMPL_H

#include <hbprof/req.h>

#include "trace/requests.h"

#define REQUESTS_LINKS 40

struct bpf_link;

struct requests {
	struct hbprof_bpf *skel;
	const struct plan *plan;
	struct bpf_link *link[REQUESTS_LINKS];
	u32 nr_links;
	bool said_uring;	   /* that io_uring is used */
	struct switches *switches; /* NULL: they cannot be read here */
};

#endif
