/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * requests_report.h - the requests of a recording: their part of the table (requests_table.c) and of
 * JSON (requests_json.c).
 */
#ifndef HBPROF_REQUESTS_REPORT_H
#define HBPROF_REQUESTS_REPORT_H

#include "model/jsonw.h"
#include "model/request.h"
#include "report/table.h"

/* Nothing where requests were not looked at. */
void table__requests(struct view *v);
/* "requests": rows; "request_coverage": counters. null where they were not looked at. */
void requests_json(struct view *v, struct jsonw *w);

/* What told one request from the next: "connection" or "handler". */
const char *request_rule(const struct m_request *q);
/* Percent of a share in 1/10,000; NaN for M_NONE. */
double share_pct(u64 share);
/* The same of a codec's share in requests: NaN, too, when too many calls have no time to be counted. */
double codec_share_pct(const struct recording *r, u64 share);
/* Percent of the measured functions' calls that have no time; NaN: there were none. */
double lost_calls_pct(const struct recording *r);
/* From here on a share is not given: it would be too small by as much. */
#define REQUESTS_MAX_LOST_PCT 5.0
/* Requests that met a stop of the world; NaN: none were seen, or stops were not. */
double stopped_pct(const struct m_request *q);
double requests_per_s(const struct recording *r, const struct m_request *q);
/* Part of the time of its measurement in which a process's world was stopped; NaN: not known. */
double pauses_pct(const struct recording *r, const struct m_request_proc *p);
/* NaN where either is not known or there was none. */
double per_request(u64 n, u64 requests);
/* Of what was counted in windows: a second; and the part of the time of its measurement that these are. */
double window_rate(const struct m_request_proc *p, u64 n);
double windows_pct(const struct recording *r, const struct m_request_proc *p);
/* The paragraphs of what the runtime and the scheduler did to the processes: requests_procs.c. */
void table__request_procs(struct view *v);
/* Why a part of the traffic is not in the rows; NULL: no such counter was hit or it needs no words. */
extern const char *const request_losses[HB_REQ_LOSS_NR];

#endif
