// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * codecs.c - calls of C libraries with known counts and sizes. jansson and json-c use the same names:
 * -DWITH_JSON_C makes the program of the latter.
 *
 * As tests/workload/README.md has it: PID, READY, a line, the calls, DONE, a line. Each operation
 * prints "CALLED codec op calls bytes"; bytes of each call, 0 where it is not known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef WITH_JSON_C
#include <json-c/json.h>
#else
#include <jansson.h>
#endif

#define ROUNDS	1000
#define WARM_US 200000 /* where they return to becomes known by the first calls */

static const char doc[] = "{\"a\": [1, 2, 3, {\"b\": \"text\"}], \"c\": 1.5}";

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s failed\n", what);
	exit(1);
}

#ifdef WITH_JSON_C
static void rounds(void)
{
	size_t len = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct json_object *o = json_tokener_parse(doc);

		if (i == 1)
			usleep(WARM_US);
		check(o != NULL, "json_tokener_parse");
		len = strlen(json_object_to_json_string(o));
		json_object_put(o);
	}
	printf("CALLED json-c decode %d %zu\n", ROUNDS, strlen(doc));
	printf("CALLED json-c encode %d %zu\n", ROUNDS, len);
}
#else
static void rounds(void)
{
	size_t len = 0;

	for (int i = 0; i < ROUNDS; i++) {
		json_t *j = i & 1 ? json_loads(doc, 0, NULL)
				  : json_loadb(doc, strlen(doc), 0, NULL);
		char *s;

		if (i == 2)
			usleep(WARM_US);
		check(j != NULL, "json_loads");
		s = json_dumps(j, 0);
		check(s != NULL, "json_dumps");
		len = strlen(s);
		free(s);
		json_decref(j);
	}
	printf("CALLED jansson decode %d %zu\n", ROUNDS, strlen(doc));
	printf("CALLED jansson encode %d %zu\n", ROUNDS, len);
}
#endif

int main(void)
{
	printf("PID %d\nREADY\n", (int)getpid());
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	rounds();
	printf("DONE\n");
	fflush(stdout);
	getchar();
	return 0;
}
