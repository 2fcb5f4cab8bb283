/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session.h - one measurement of one or more processes, from loaded programs to the last snapshot:
 *
 *   session__open      load, size and fill the maps, calibrate on hbprof's own functions
 *   session__attach    verify and probe every site of the plan
 *   session__start     recording = true: from here on calls count, everywhere at once
 *   session__poll      discovered return addresses are probed (discover.c)
 *   session__recalibrate, session__snapshot   every few seconds, every interval (snapshot.c)
 *   session__stop      recording = false, probes off, final counts
 *   session__close
 *
 * Each returns 0 or -errno with the reason logged where the user can do something about it.
 * session__attach(): -ENODATA: no function can be measured, and nothing is followed that may have some.
 */
#ifndef HBPROF_SESSION_H
#define HBPROF_SESSION_H

#include "model/model.h"
#include "trace/attach.h"
#include "trace/bystanders.h"
#include "trace/calib.h"
#include "trace/counters.h"
#include "trace/cover.h"
#include "trace/follow.h"
#include "trace/mapped.h"
#include "trace/plan.h"

struct hbprof_bpf;
struct rates;
struct requests;
struct ring_buffer;
struct sampler;

struct session_opts {
	u32 max_tasks;	      /* calls in flight that can be followed; 0: default */
	u32 max_rows;	      /* 0: default */
	u32 sample_hz;	      /* CPU samples a second and CPU; 0: none */
	bool requests;	      /* account for requests: system call tracepoints */
	u32 max_conns;	      /* connections that they are followed on; 0: default */
	const char *counters; /* names with commas between; "none"; NULL: COUNTERS_DEFAULT */
	bool sched;	      /* count time on the CPU, waiting for one, blocked */
	u32 max_sites; /* probes at once; 0: no limit, or BUDGET_DEFAULT where each is dear */
	bool follow;   /* what the processes fork and exec is measured, too */
	/* NULL, or what is measured when it starts later; follow is set then. It outlives the session. */
	const struct selection *meant;
	bool only_meant; /* of what the targets fork and run: see follow.h */
	bool functions;	 /* keep those that are always inside of others (cover.h) */
};

/* What user space remembers of a site that it gave to the kernel: it is to be probed in processes that
 * come later, too. */
struct session_site {
	struct site site;
	u32 image;
	u32 nr_probed;	       /* processes, ended ones included */
	bool refused, differs; /* differs: in memory or in the file from what was decoded */
	bool found;	       /* by a call, not in the code: site.func is one of its callees */
	bool off;	       /* its probes have been taken off */
	bool guard;	       /* HB_SITE_GUARD is set */
	u32 group;	       /* what it is taken off with: cover.h */
};

/* A process of the plan, by the same index. */
struct session_proc {
	struct attach links;
	struct mapped mapped;
	u64 begin_mono_ns, end_mono_ns; /* measured in between; 0: not yet */
	u64 born_mono_ns; /* of its fork or exec, which was seen; 0: it was there before */
	u64 cpu_begin_ns;
	u64 usage_mono_ns; /* when its CPU time was last read; 0: never */
	u32 nr_probes;
	int pidfd;	  /* readable when it has ended */
	struct proc *own; /* NULL, or the plan's, which came from here */
};
#define SESSION_NO_PROC (~0u)

struct session {
	struct plan *plan;
	struct session_proc *proc; /* plan->nr_procs of them */
	u32 nr_procs;
	size_t cap_procs;
	u32 nr_measured; /* that are measured now */
	int ends;	 /* epoll of the pidfds */
	struct follow follow;
	struct hbprof_bpf *skel;
	struct ring_buffer *ring;
	struct sampler *sampler; /* NULL: no samples */
	u32 sample_hz;
	struct rates *rates;	   /* NULL: none are counted */
	struct requests *requests; /* NULL: none are accounted for */
	enum attach_kind kind;
	struct keeper *keeper; /* of the targets' links; NULL: none could be started */
	struct attach self;
	struct bystanders bystanders;
	struct calib calib;
	struct counters counters;
	struct cover cover;
	struct session_site *site;
	u32 nr_sites, max_sites;
	u32 nr_probes, max_probes; /* in the targets; 0: no limit */
	u32 all_probes, nr_links;  /* those of ended ones included */
	bool said_full;
	/* The tables of the kernel have room for more than the plan has at the start. */
	u32 max_funcs;	/* of the targets; the calibration's follow */
	u32 max_images; /* of the targets; hbprof's own follows */
	u32 *given;	/* by image: how many of the plan's sites the kernel has */
	u32 max_rows, max_hists, max_tasks;
	struct hb_event *pending; /* return addresses asked for, not yet handled */
	size_t nr_pending, cap_pending;
	u64 begin_mono_ns, end_mono_ns, begin_wall_ns, own_cpu_begin_ns;
	u64 map_bytes;
	/* By function: calls that were open in a process that has become another, or whose pid is another's. */
	u64 *cut_abandoned, *cut_in_flight;
	u64 unmatched_by[HB_CLASS_DIM];	   /* coverage.unmatched by the class of the site */
	u64 cold[HB_CNT_NR - HB_CNT_COLD]; /* counters of entries that found the caches cold */
	u32 ras_discovered, ras_refused, sites_refused;
	struct recording *rec; /* being filled; the caller takes it after session__stop() */
	struct m_row *prev;    /* rows at the end of the last interval */
	u32 nr_prev;
	u64 prev_mono_ns;
};

int session__open(struct plan *plan, const struct session_opts *o, struct session **out);
int session__attach(struct session *s);
int session__start(struct session *s);
/* fd that becomes readable when the kernel has something to say. */
int session__poll_fd(const struct session *s);
int session__poll(struct session *s);
/* fd that becomes readable when a process has ended; what is done then. */
static inline int session__ends_fd(const struct session *s)
{
	return s->ends;
}
int session__reap(struct session *s);
/* fd that becomes readable when it is time to count gopark and mcall, or to end that; -1: never. */
int session__rates_fd(const struct session *s);
int session__rates(struct session *s);
/* How many processes are measured at the moment, or are named and have nothing to measure yet. */
static inline u32 session__nr_live(const struct session *s)
{
	return s->nr_measured + s->follow.nr_named;
}
/* Those that are measured. */
static inline u32 session__nr_measured(const struct session *s)
{
	return s->nr_measured;
}
int session__recalibrate(struct session *s);
/* Ends an interval: its changes are added to the recording. */
int session__snapshot(struct session *s);
/* What has been measured so far, without intervals, host and what is in flight: not balanced, as calls
 * go on while it is read. The caller's; recording__free() it. */
int session__live(struct session *s, struct recording **out);
/* Calls of codec rows up to the last snapshot. */
u64 session__calls(const struct session *s);
/* reason: why recording ended. The recording is complete and balanced afterwards. */
int session__stop(struct session *s, const char *reason);
/* What was recorded, all but the host; valid until session__close(). */
static inline struct recording *session__recording(const struct session *s)
{
	return s->rec;
}
void session__close(struct session *s);

#endif
