// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * keeper.c - see keeper.h: the process, and what is said over the socket to it. How links are made and
 * closed is attach.c's; the keeper calls that on its side.
 *
 * A request is a struct request, with the program and the file as descriptors, and an array: probes to
 * add, or the numbers of links to close. The answer is a struct answer; after an addition the probes
 * follow, with the refused ones marked, and the links: their number here, and the descriptor.
 */
#include "trace/keeper.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/attach_impl.h"
#include "util/array.h"
#include "util/log.h"

struct keeper {
	pid_t pid;
	int sock;
};

enum request_op { REQUEST_ADD, REQUEST_CLOSE };

struct request {
	u32 op; /* enum request_op */
	u32 kind;
	s32 pid;
	u32 nr; /* elements of the array behind it */
};

struct answer {
	s32 err;
	u32 nr_refused;
	u32 nr_links;
};

/* A link on its way to hbprof: the descriptor goes with it. */
struct sent_link {
	s32 held; /* the keeper's own descriptor */
	u32 group;
};

/* ---- the socket: all of it or -EPIPE -------------------------------------------------------- */

static int send_all(int sock, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = send(sock, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EPIPE;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int recv_all(int sock, void *data, size_t len)
{
	char *p = data;

	while (len) {
		ssize_t n = recv(sock, p, len, MSG_WAITALL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EPIPE;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A few bytes with at most two descriptors: such a message is not cut on a stream. */
union fd_space {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(2 * sizeof(int))];
};

static int send_with_fds(int sock, const void *data, size_t len, const int *fd, size_t nr_fds)
{
	struct iovec io = {(void *)data, len};
	union fd_space space = {0};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = space.bytes,
			   .msg_controllen = CMSG_SPACE(nr_fds * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	ssize_t n;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
	memcpy(CMSG_DATA(c), fd, nr_fds * sizeof(int));
	do
		n = sendmsg(sock, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len ? 0 : -EPIPE;
}

/* -EMFILE: descriptors were sent and there is no room for them. */
static int recv_with_fds(int sock, void *data, size_t len, int *fd, size_t nr_fds)
{
	struct iovec io = {data, len};
	union fd_space space = {0};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = space.bytes,
			   .msg_controllen = CMSG_SPACE(nr_fds * sizeof(int))};
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(sock, &m, MSG_WAITALL | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)len)
		return -EPIPE;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(nr_fds * sizeof(int)))
		return -EMFILE;
	memcpy(fd, CMSG_DATA(c), nr_fds * sizeof(int));
	return 0;
}

/* ---- the keeper's side ---------------------------------------------------------------------- */

static int send_links(int sock, const struct attach *made)
{
	int err = 0;

	for (size_t i = 0; i < made->nr_links && !err; i++) {
		struct sent_link l = {made->link[i].fd, made->link[i].group};

		err = send_with_fds(sock, &l, sizeof(l), &made->link[i].fd, 1);
	}
	return err;
}

static int serve_add(struct attach *all, int sock, const struct request *r, const int *fd)
{
	struct attach_probe *p = array_alloc(r->nr, sizeof(*p));
	struct attach made;
	struct answer a = {0};
	size_t refused = 0;
	int err = -ENOMEM;

	attach__init(&made, r->kind, fd[0]);
	if (!p)
		goto out;
	err = recv_all(sock, p, r->nr * sizeof(*p));
	if (err)
		goto out;
	a.err = attach__add(&made, fd[1], r->pid, p, r->nr, &refused);
	a.nr_refused = (u32)refused;
	a.nr_links = (u32)made.nr_links;
	err = send_all(sock, &a, sizeof(a));
	if (!err)
		err = send_all(sock, p, r->nr * sizeof(*p));
	if (!err)
		err = send_links(sock, &made);
out:
	attach__take(all, &made);
	free(p);
	return err;
}

/* The links of these numbers leave the list, and are closed together. */
static int serve_close(struct attach *all, int sock, const struct request *r)
{
	s32 *held = array_alloc(r->nr, sizeof(*held));
	struct attach closing = {.prog_fd = -1};
	struct answer a = {0};
	int err = held ? recv_all(sock, held, r->nr * sizeof(*held)) : -ENOMEM;

	for (u32 i = 0; i < r->nr && !err; i++) {
		for (size_t k = 0; k < all->nr_links; k++) {
			if (all->link[k].fd != held[i])
				continue;
			attach__keep(&closing, all->link[k]);
			all->link[k] = all->link[--all->nr_links];
			break;
		}
	}
	attach__fini(&closing);
	free(held);
	return err ? err : send_all(sock, &a, sizeof(a));
}

static int serve(struct attach *all, int sock)
{
	struct request r;
	int fd[2], err;

	err = recv_with_fds(sock, &r, sizeof(r), fd, 2);
	if (err)
		return err;
	if (r.nr > ATTACH_PROBES_MAX)
		err = -EPIPE;
	else if (r.op == REQUEST_ADD)
		err = serve_add(all, sock, &r, fd);
	else
		err = serve_close(all, sock, &r);
	close(fd[0]);
	close(fd[1]);
	return err;
}

/* Signals are for hbprof. Of its files only the socket, as 0, and the messages are of use here, and a pipe that
 * is held open has no end. */
static void let_go(int sock)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGUSR1};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	setsid();
	/* Should somebody have stopped this process, it goes on when hbprof is gone. */
	prctl(PR_SET_PDEATHSIG, SIGCONT);
	prctl(PR_SET_NAME, "hbprof-keeper");
	dup2(sock, 0);
	close(1);
	syscall(SYS_close_range, 3, ~0U, 0);
}

static void __attribute__((noreturn)) keep(int sock)
{
	struct attach all = {.prog_fd = -1};

	let_go(sock);
	while (!serve(&all, 0))
		;
	attach__fini(&all);
	_exit(0);
}

/* ---- hbprof's side -------------------------------------------------------------------------- */

int keeper__start(struct keeper **out)
{
	struct keeper *k = calloc(1, sizeof(*k));
	int sock[2];

	if (!k)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock)) {
		free(k);
		return -errno;
	}
	k->pid = fork();
	if (!k->pid)
		keep(sock[1]);
	close(sock[1]);
	if (k->pid < 0) {
		close(sock[0]);
		free(k);
		return -EAGAIN;
	}
	k->sock = sock[0];
	*out = k;
	return 0;
}

/* It may have been stopped, by a name that matched hbprof's too: a request would wait for ever, and the
 * target have its breakpoints for as long. */
static void wake(const struct keeper *k)
{
	kill(k->pid, SIGCONT);
}

static int recv_links(struct keeper *k, struct attach *a, u32 nr)
{
	struct sent_link l;
	int fd, err = 0;

	for (u32 i = 0; i < nr && !err; i++) {
		err = recv_with_fds(k->sock, &l, sizeof(l), &fd, 1);
		if (!err)
			err = attach__keep(a, (struct attach_link){fd, l.held, l.group});
	}
	/* Without room for a descriptor the rest of the answer is of no use, nor is what comes after. */
	return err ? -EPIPE : 0;
}

int keeper__add(struct keeper *k, struct attach *a, int file_fd, pid_t pid, struct attach_probe *p,
		size_t nr, size_t *nr_refused)
{
	struct request r = {.op = REQUEST_ADD, .kind = a->kind, .pid = pid, .nr = (u32)nr};
	const int fd[2] = {a->prog_fd, file_fd};
	struct answer answer;
	int err;

	wake(k);
	err = send_with_fds(k->sock, &r, sizeof(r), fd, 2);
	if (!err)
		err = send_all(k->sock, p, nr * sizeof(*p));
	if (!err)
		err = recv_all(k->sock, &answer, sizeof(answer));
	if (!err)
		err = recv_all(k->sock, p, nr * sizeof(*p));
	if (!err)
		err = recv_links(k, a, answer.nr_links);
	if (err)
		return err;
	*nr_refused = answer.nr_refused;
	return answer.err;
}

void keeper__close(struct keeper *k, const struct attach_link *link, size_t nr)
{
	struct request r = {.op = REQUEST_CLOSE, .nr = (u32)nr};
	s32 *held = array_alloc(nr, sizeof(*held));
	const int fd[2] = {k->sock, k->sock}; /* none are needed, but a request has two */
	struct answer answer;

	if (!held || !nr)
		goto out;
	for (size_t i = 0; i < nr; i++)
		held[i] = link[i].held;
	wake(k);
	if (send_with_fds(k->sock, &r, sizeof(r), fd, 2) ||
	    send_all(k->sock, held, nr * sizeof(*held)) ||
	    recv_all(k->sock, &answer, sizeof(answer)))
		log_debug("the process that holds the probes is gone");
out:
	free(held);
}

void keeper__stop(struct keeper *k)
{
	if (!k)
		return;
	close(k->sock);
	wake(k);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(k);
}
