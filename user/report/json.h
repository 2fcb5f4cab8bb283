/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* json.h - the report for programs. Its keys are stable: they are listed in docs/capture.md. */
#ifndef HBPROF_JSON_H
#define HBPROF_JSON_H

#include "report/table.h"

/* 0 or -ENOMEM; errors of the text stay in v->out. */
int json__print(struct view *v);

#endif
