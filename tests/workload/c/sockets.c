// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sockets.c - a server and its client in one thread, over TCP connections whose descriptors are not what
 * they seem: duplicated, closed while the connection lives on, used again for another one. Mode uring
 * has a ring of io_uring open, by the raw system call, and does nothing with it.
 *
 * What it knows of its requests is the line REQUESTS, as the servers print it. Each has one call of
 * sockets_answer, which makes the answer.
 */
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "../lib/truth.h"

#define ASK	  "a question"
#define ANSWER_OF 24
#define PER_CONN  10  /* requests, in mode reuse */
#define FAR_AWAY  200 /* a descriptor that nothing else gets */

static struct {
	struct truth t;
	struct truth_func *answer;
	struct sockaddr_in at;
	int listener;
	uint64_t count, connections, bytes_in, bytes_out;
} s;

struct pair {
	int client, server;
};

static void listen_somewhere(void)
{
	socklen_t len = sizeof(s.at);

	s.at = (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	s.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s.listener < 0 || bind(s.listener, (struct sockaddr *)&s.at, sizeof(s.at)) ||
	    listen(s.listener, 8) || getsockname(s.listener, (struct sockaddr *)&s.at, &len))
		truth_die("cannot listen: %s", strerror(errno));
}

static struct pair connection(void)
{
	struct pair p = {.client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};

	if (p.client < 0 || connect(p.client, (struct sockaddr *)&s.at, sizeof(s.at)))
		truth_die("cannot connect: %s", strerror(errno));
	p.server = accept(s.listener, NULL, NULL);
	if (p.server < 0)
		truth_die("cannot accept: %s", strerror(errno));
	s.connections++;
	return p;
}

size_t sockets_answer(char *out, size_t room);

TRUTH_PROBED size_t sockets_answer(char *out, size_t room)
{
	memset(out, 'y', room);
	return room;
}

/* One request: the server reads from one descriptor and writes to another. */
static void request(int client, int in, int out)
{
	char ask[64], answer[ANSWER_OF];
	uint64_t t0;
	ssize_t got;
	size_t len;

	if (write(client, ASK, strlen(ASK)) != (ssize_t)strlen(ASK))
		truth_die("cannot ask: %s", strerror(errno));
	got = read(in, ask, sizeof(ask));
	if (got <= 0)
		truth_die("nothing was asked: %s", strerror(errno));
	truth_enter(s.answer);
	t0 = truth_now();
	len = sockets_answer(answer, sizeof(answer));
	truth_return(s.answer, truth_now() - t0, 0, false);
	if (write(out, answer, len) != (ssize_t)len ||
	    read(client, answer, sizeof(answer)) != (ssize_t)len)
		truth_die("no answer: %s", strerror(errno));
	s.count++;
	s.bytes_in += (uint64_t)got;
	s.bytes_out += len;
}

static int copy_of(int fd)
{
	int copy = dup(fd);

	if (copy < 0)
		truth_die("cannot duplicate a descriptor: %s", strerror(errno));
	return copy;
}

/* One connection; half of the requests after its first descriptor has been closed. */
static void serve_dup(void)
{
	struct pair p = connection();
	int copy = copy_of(p.server), far;

	for (int i = 0; i < s.t.opt.n / 2; i++)
		request(p.client, i % 2 ? p.server : copy, i % 3 ? p.server : copy);
	close(p.server);
	far = dup2(copy, FAR_AWAY);
	if (far != FAR_AWAY)
		truth_die("cannot duplicate a descriptor: %s", strerror(errno));
	for (int i = s.t.opt.n / 2; i < s.t.opt.n; i++)
		request(p.client, i % 2 ? far : copy, i % 3 ? far : copy);
	close(copy);
	close(far);
	close(p.client);
}

/* Two connections at a time; the second one has the descriptor that was the first one's. */
static void serve_reuse(void)
{
	for (int i = 0; i < s.t.opt.n; i += 2 * PER_CONN) {
		struct pair first = connection(), second;
		int copy = copy_of(first.server);

		request(first.client, first.server, first.server);
		close(first.server);
		second = connection();
		if (second.server != first.server && second.client != first.server)
			truth_die("descriptor %d was not used again", first.server);
		for (int k = 0; k < PER_CONN; k++) {
			request(second.client, second.server, second.server);
			if (k)
				request(first.client, copy, copy);
		}
		close(copy);
		close(first.client);
		close(second.server);
		close(second.client);
	}
}

static void serve_uring(void)
{
	struct pair p = connection();

	for (int i = 0; i < s.t.opt.n; i++)
		request(p.client, p.server, p.server);
	close(p.server);
	close(p.client);
}

static void open_ring(void)
{
	struct io_uring_params params = {0};

	if (syscall(SYS_io_uring_setup, 4, &params) < 0)
		printf("URING n/a (%s)\n", strerror(errno));
}

int main(int argc, char **argv)
{
	static const char *const modes[] = {"dup", "reuse", "uring", NULL};

	truth_init(&s.t, argc, argv, modes);
	s.answer = truth_func_new(&s.t, "probe", "call", "sockets_answer");
	listen_somewhere();
	if (!strcmp(s.t.opt.mode, "uring"))
		open_ring();
	truth_start(&s.t);
	if (!strcmp(s.t.opt.mode, "dup"))
		serve_dup();
	else if (!strcmp(s.t.opt.mode, "reuse"))
		serve_reuse();
	else
		serve_uring();
	printf("REQUESTS rule=connection count=%llu unanswered=0 connections=%llu bytes_in=%llu "
	       "bytes_out=%llu\n",
	       (unsigned long long)s.count, (unsigned long long)s.connections,
	       (unsigned long long)s.bytes_in, (unsigned long long)s.bytes_out);
	truth_finish(&s.t);
	return 0;
}
