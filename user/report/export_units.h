/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export_units.h - what the counters of calls are called in the formats that have units: one name and
 * unit a counter, whatever the capture calls it.
 */
#ifndef HBPROF_EXPORT_UNITS_H
#define HBPROF_EXPORT_UNITS_H

#include "report/export.h"

#define EXPORT_MAX_UNIT 64

/* Of benchstat, per call: "cpu-cycles/op", "on-cpu-ns/op". */
const char *export_benchstat_unit(char buf[EXPORT_MAX_UNIT], const char *counter);

/* The counters of calls as OpenMetrics families. label[i] is that of v->groups.v[i], without braces. */
void export_openmetrics_counters(struct view *v, char *const *label);

/* export_openmetrics.c: key="value" with what the format escapes; after a comma, if it is not the first. */
void openmetrics_label(struct strbuf *b, const char *key, const char *value);

#endif
