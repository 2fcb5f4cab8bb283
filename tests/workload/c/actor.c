// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * actor.c - does what it is told, line by line: calls cJSON_Parse, forks, becomes another program. So a test
 * can wait between two steps for whatever it wants to. Commands, from stdin:
 *
 *   calls N        N calls; "CALLED pid N"
 *   fork FIFO      "CHILD pid"; the child goes on with commands from FIFO
 *   exec FILE ...  words are separated by single blanks
 *   load FILE      liblatecodec.so; "LOADED"
 *   late N         N calls of its latecodec_encode; "CALLED pid N"
 *   unload         "UNLOADED"
 *   passing FILE   loads it, calls it once and unloads it at once; "PASSED"
 *
 * It ends with its input.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#define MAX_WORDS 32

static void make_calls(const char *nr)
{
	long n = strtol(nr, NULL, 10);

	for (long i = 0; i < n; i++)
		cJSON_Delete(cJSON_Parse("[1,2,3]"));
	printf("CALLED %d %ld\n", (int)getpid(), n);
}

static void make_child(const char *fifo, FILE **in)
{
	pid_t child = fork();

	if (child) {
		printf("CHILD %d\n", (int)child);
		return;
	}
	*in = fopen(fifo, "re");
	if (!*in)
		_exit(1);
}

static void *library;

static void load(const char *file)
{
	library = dlopen(file, RTLD_NOW);
	if (library)
		return;
	printf("%s\n", dlerror());
	exit(1);
}

static void call_late(const char *nr)
{
	unsigned long (*fn)(const unsigned char *, size_t) = (unsigned long (*)(
		const unsigned char *, size_t))dlsym(library, "latecodec_encode");
	long n = strtol(nr, NULL, 10);
	unsigned char data[64] = {1};

	for (long i = 0; fn && i < n; i++)
		data[0] ^= (unsigned char)fn(data, sizeof(data));
}

static void unload(void)
{
	if (library)
		dlclose(library);
	library = NULL;
}

/* Of the library; false: it is no such command. */
static int do_library(int n, char *const *word)
{
	if (n == 2 && !strcmp(word[0], "load")) {
		load(word[1]);
		printf("LOADED\n");
	} else if (n == 2 && !strcmp(word[0], "late")) {
		call_late(word[1]);
		printf("CALLED %d %s\n", (int)getpid(), word[1]);
	} else if (n == 1 && !strcmp(word[0], "unload")) {
		unload();
		printf("UNLOADED\n");
	} else if (n == 2 && !strcmp(word[0], "passing")) {
		load(word[1]);
		call_late("1");
		unload();
		printf("PASSED\n");
	} else {
		return 0;
	}
	return 1;
}

static int split(char *line, char *word[MAX_WORDS])
{
	int n = 0;

	line[strcspn(line, "\n")] = '\0';
	while (line && n < MAX_WORDS - 1)
		word[n++] = strsep(&line, " ");
	word[n] = NULL;
	return n;
}

int main(void)
{
	char line[4096], *word[MAX_WORDS];
	FILE *in = stdin;

	setvbuf(stdout, NULL, _IOLBF, 0);
	setvbuf(stdin, NULL, _IONBF, 0); /* what follows an exec is the next program's */
	printf("PID %d\nREADY\n", (int)getpid());
	while (fgets(line, sizeof(line), in)) {
		int n = split(line, word);

		if (n == 2 && !strcmp(word[0], "calls")) {
			make_calls(word[1]);
		} else if (n == 2 && !strcmp(word[0], "fork")) {
			make_child(word[1], &in);
		} else if (n >= 2 && !strcmp(word[0], "exec")) {
			execv(word[1], &word[1]);
			printf("cannot become %s: %s\n", word[1], strerror(errno));
			return 1;
		} else if (!do_library(n, word)) {
			printf("what is '%s'?\n", word[0]);
			return 2;
		}
	}
	return 0;
}
