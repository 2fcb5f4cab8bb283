// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * syscalls.c - what a system call takes: loops of a read, of a call without a tracepoint of hbprof's,
 * and of a write and a read over a TCP connection to itself. tests/bench/reqcost.py runs it, with and
 * without somebody who has a program on the tracepoints. The protocol is that of tests/workload:
 * PID, READY, a line on stdin, one line SYSCALL name ns each, DONE, a line.
 *
 * The quickest of the loops counts: what others do on the machine makes a loop longer, never shorter.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOPS 60
#define CALLS 2000

static int zero, client, server;

static void die(const char *what)
{
	fprintf(stderr, "syscalls: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* For hbprof, which attaches to no process without a function to measure. */
__attribute__((noinline)) int measured_call(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static void connect_to_itself(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)&at, &len))
		die("cannot listen");
	client = socket(AF_INET, SOCK_STREAM, 0);
	if (client < 0 || connect(client, (struct sockaddr *)&at, sizeof(at)))
		die("cannot connect");
	server = accept(listener, NULL, NULL);
	if (server < 0)
		die("cannot accept");
	close(listener);
}

static void call_read(void)
{
	char c;

	if (read(zero, &c, 1) != 1)
		die("read");
}

static void call_getppid(void)
{
	syscall(SYS_getppid);
}

static void call_tcp(void)
{
	char c = 'x';

	if (write(client, &c, 1) != 1 || read(server, &c, 1) != 1)
		die("a byte over TCP");
}

static void measure(const char *name, void (*call)(void))
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < LOOPS; i++) {
		uint64_t t0 = now(), ns;

		for (int k = 0; k < CALLS; k++)
			call();
		ns = now() - t0;
		best = ns < best ? ns : best;
	}
	printf("SYSCALL %s %.1f\n", name, (double)best / CALLS);
}

int main(void)
{
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (zero < 0)
		die("/dev/zero");
	printf("PID %d\nREADY\n", (int)getpid());
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	connect_to_itself();
	measure("read", call_read);
	measure("getppid", call_getppid);
	measure("tcp", call_tcp);
	printf("CALLED %d\nDONE\n", measured_call(0));
	fflush(stdout);
	getchar();
	return 0;
}
