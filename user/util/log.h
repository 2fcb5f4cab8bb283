/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* log.h - messages to the person, on stderr. Data goes to stdout and never through here. */
#ifndef HBPROF_LOG_H
#define HBPROF_LOG_H

#include <stdarg.h>

enum log_level { LOG_ERR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Messages above this level are not made. Default LOG_WARN; -v LOG_INFO, -vv LOG_DEBUG. */
void log_set_level(enum log_level max);
enum log_level log_level(void);
/* Tests replace the sink. NULL: stderr again. */
void log_set_sink(void (*sink)(enum log_level l, const char *msg));

/* "hbprof: message\n"; error and warning words are coloured on a terminal unless NO_COLOR is set.
 * Control bytes of the message are escaped: names come from foreign files. */
void log_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
