// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * callback.c - the C between two pieces of Go.
 */
#include <pthread.h>
#include <stdint.h>
#include "_cgo_export.h"

void call_back(int depth);
int call_back_on_thread(int calls);

/* Some stack of C's own, so that this is no tail call. */
void call_back(int depth)
{
	volatile char room[256];

	room[0] = (char)depth;
	hbWorkloadCallback(depth);
	room[sizeof(room) - 1] = room[0];
}

static void *thread(void *calls)
{
	for (intptr_t i = 0; i < (intptr_t)calls; i++)
		call_back(0);
	return NULL;
}

int call_back_on_thread(int calls)
{
	pthread_t t;

	if (pthread_create(&t, NULL, thread, (void *)(intptr_t)calls))
		return -1;
	return pthread_join(t, NULL);
}
