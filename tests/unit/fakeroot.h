/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fakeroot.h - a folder that stands for "/" where facts of a machine are read, and what was found. */
#ifndef HBPROF_TEST_FAKEROOT_H
#define HBPROF_TEST_FAKEROOT_H

#include "model/model.h"

extern char fakeroot[64];

/* cmocka's setup and teardown: makes an empty one; removes it with all that is in it. */
int fakeroot__make(void **state);
int fakeroot__clear(void **state);
/* Writes a file below it, with the folders that it needs. */
void fakeroot__put(const char *path, const char *text);
/* Removes a file or folder. */
void fakeroot__remove(const char *path);

void assert_fact(const struct m_host *h, const char *key, const char *value);

#endif
