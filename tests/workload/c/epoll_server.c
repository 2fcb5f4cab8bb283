// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * epoll_server.c - an HTTP server for heartbeats without a framework: it decodes a request with cJSON,
 * spins for -ns, encodes the value, and knows how long each request took and how much of that cJSON
 * took. goload, another program, makes the load. Modes are the system calls of its input and output,
 * the number of threads, and what the load is like.
 *
 * A request begins when a read first returns data after a response and ends with the last write
 * before the next such read, as in lib/serve. Times are taken behind the system calls.
 */
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "../lib/truth.h"

#define BUF_BYTES   32768
#define THREADS_MAX 4
#define DRAIN_MS    20000 /* from the end of the load to that of the last connection */

struct sample {
	uint64_t latency_ns, codec_ns;
};

struct conn {
	int fd;
	bool open;  /* data was read that belongs to no finished request */
	bool wrote; /* and something was written since */
	uint64_t first_ns, last_ns, codec_ns;
	size_t len;
	char buf[BUF_BYTES];
};

static struct {
	struct truth t;
	struct truth_func *decode, *decode_opts, *encode;
	ssize_t (*in)(int fd, void *buf, size_t len);
	ssize_t (*out)(int fd, const void *buf, size_t len);
	int listener;
	char addr[128]; /* as goload takes it */
	uint64_t accepted, closed, unanswered, bytes_in, bytes_out;
	pthread_mutex_t lock; /* of what follows */
	struct sample *samples;
	size_t nr_samples, room;
} server;

/* ---- ways to read and write ----------------------------------------------------------------- */

static ssize_t in_recv(int fd, void *buf, size_t len)
{
	return recv(fd, buf, len, 0);
}

static ssize_t out_send(int fd, const void *buf, size_t len)
{
	return send(fd, buf, len, MSG_NOSIGNAL);
}

static ssize_t in_msg(int fd, void *buf, size_t len)
{
	struct iovec io = {buf, len};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};

	return recvmsg(fd, &m, 0);
}

static ssize_t out_msg(int fd, const void *buf, size_t len)
{
	struct iovec io = {(void *)buf, len};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};

	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

static ssize_t in_vec(int fd, void *buf, size_t len)
{
	struct iovec io = {buf, len};

	return readv(fd, &io, 1);
}

static ssize_t out_vec(int fd, const void *buf, size_t len)
{
	struct iovec io[2] = {{(void *)buf, len / 2}, {(char *)buf + len / 2, len - len / 2}};

	return writev(fd, io, 2);
}

static const struct mode {
	const char *name;
	ssize_t (*in)(int fd, void *buf, size_t len);
	ssize_t (*out)(int fd, const void *buf, size_t len);
	const char *load; /* goload's options */
	int threads;
	bool unix_socket;
} modes[] = {
	{"rw", read, write, "", 1, false},
	{"recv", in_recv, out_send, "", 1, false},
	{"msg", in_msg, out_msg, "", 1, false},
	{"vec", in_vec, out_vec, "", 1, false},
	{"threads", read, write, "", THREADS_MAX, false},
	{"tail", read, write, "-tail", 1, false},
	{"short", read, write, "-short", 1, false},
	{"unix", read, write, "", 1, true},
};

#define NR_MODES (sizeof(modes) / sizeof(modes[0]))

/* ---- the truth of a connection -------------------------------------------------------------- */

static void add_sample(uint64_t latency_ns, uint64_t codec_ns)
{
	pthread_mutex_lock(&server.lock);
	if (server.nr_samples == server.room) {
		server.room = server.room ? 2 * server.room : 4096;
		server.samples = realloc(server.samples, server.room * sizeof(*server.samples));
		if (!server.samples)
			truth_die("out of memory");
	}
	server.samples[server.nr_samples++] = (struct sample){latency_ns, codec_ns};
	pthread_mutex_unlock(&server.lock);
}

static void finish_request(struct conn *c)
{
	add_sample(c->last_ns - c->first_ns, c->codec_ns);
	c->open = c->wrote = false;
	c->codec_ns = 0;
}

static void was_read(struct conn *c, size_t n)
{
	uint64_t now = truth_now();

	truth_add(&server.bytes_in, n);
	if (c->wrote)
		finish_request(c);
	if (!c->open) {
		c->open = true;
		c->first_ns = now;
	}
}

static void close_conn(struct conn *c)
{
	if (c->wrote)
		finish_request(c);
	else if (c->open)
		truth_add(&server.unanswered, 1);
	close(c->fd);
	free(c);
	truth_add(&server.closed, 1);
}

/* ---- a request ------------------------------------------------------------------------------ */

/* The load has one request under way on a connection, so there is room for the response. */
static void write_all(struct conn *c, const char *p, size_t len)
{
	while (len) {
		ssize_t n = server.out(c->fd, p, len);

		if (n < 0 && errno == EAGAIN)
			continue;
		if (n <= 0)
			truth_die("cannot write: %s", strerror(errno));
		c->last_ns = truth_now();
		c->wrote = true;
		truth_add(&server.bytes_out, (uint64_t)n);
		p += n;
		len -= (size_t)n;
	}
}

static cJSON *decode(struct conn *c, const char *body, size_t len)
{
	uint64_t t0, t1;
	cJSON *item;

	truth_enter(server.decode);
	truth_enter(server.decode_opts);
	t0 = truth_now();
	item = cJSON_ParseWithLength(body, len);
	t1 = truth_now();
	truth_return(server.decode, t1 - t0, len, !item);
	c->codec_ns += t1 - t0;
	return item;
}

static char *encode(struct conn *c, const cJSON *item)
{
	uint64_t t0, t1;
	char *text;

	truth_enter(server.encode);
	t0 = truth_now();
	text = cJSON_PrintUnformatted(item);
	t1 = truth_now();
	truth_return(server.encode, t1 - t0, text ? strlen(text) : 0, !text);
	c->codec_ns += t1 - t0;
	return text;
}

static void spin(uint64_t ns)
{
	uint64_t end = truth_now() + ns;

	while (ns && truth_now() < end)
		;
}

static void respond(struct conn *c, const char *body, size_t len)
{
	cJSON *item = decode(c, body, len);
	char out[BUF_BYTES], *text;
	int n;

	if (!item)
		truth_die("a request of %zu bytes is no JSON", len);
	spin((uint64_t)server.t.opt.ns);
	text = encode(c, item);
	if (!text)
		truth_die("cJSON_PrintUnformatted failed");
	n = snprintf(out, sizeof(out), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
		     strlen(text), text);
	truth_add(&server.t.checksum, truth_hash(text, strlen(text)));
	cJSON_Delete(item);
	cJSON_free(text);
	if (n < 0 || (size_t)n >= sizeof(out))
		truth_die("a response of %d bytes", n);
	write_all(c, out, (size_t)n);
}

/* The length of the first request in the buffer, 0 if it is not all there; *body is where its body is. */
static size_t request_len(const struct conn *c, size_t *body)
{
	static const char key[] = "Content-Length: ";
	const char *end = memmem(c->buf, c->len, "\r\n\r\n", 4), *len;
	size_t total;

	if (!end)
		return 0;
	*body = (size_t)(end - c->buf) + 4;
	len = memmem(c->buf, *body, key, sizeof(key) - 1);
	if (!len)
		truth_die("a request without Content-Length");
	total = *body + strtoul(len + sizeof(key) - 1, NULL, 10);
	if (total > sizeof(c->buf))
		truth_die("a request of %zu bytes", total);
	return total <= c->len ? total : 0;
}

static void serve_conn(struct conn *c)
{
	ssize_t n = server.in(c->fd, c->buf + c->len, sizeof(c->buf) - c->len);
	size_t len, body;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close_conn(c);
		return;
	}
	was_read(c, (size_t)n);
	c->len += (size_t)n;
	while ((len = request_len(c, &body))) {
		bool last = memmem(c->buf, body, "Connection: close", 17);

		respond(c, c->buf + body, len - body);
		memmove(c->buf, c->buf + len, c->len - len);
		c->len -= len;
		if (last) {
			close_conn(c);
			return;
		}
	}
}

/* ---- the server ----------------------------------------------------------------------------- */

static void watch(int epoll, int fd, void *what, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = what};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e))
		truth_die("cannot watch a socket: %s", strerror(errno));
}

static void accept_conn(int epoll)
{
	int fd = accept4(server.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct conn *c;

	if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
		return;
	if (fd < 0)
		truth_die("cannot accept: %s", strerror(errno));
	c = calloc(1, sizeof(*c));
	if (!c)
		truth_die("out of memory");
	c->fd = fd;
	truth_add(&server.accepted, 1);
	watch(epoll, fd, c, EPOLLIN);
}

static void *serve(void *arg)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), n;
	struct epoll_event events[64];

	if (epoll < 0)
		truth_die("no epoll: %s", strerror(errno));
	watch(epoll, server.listener, NULL, EPOLLIN | EPOLLEXCLUSIVE);
	for (;;) {
		n = epoll_wait(epoll, events, 64, -1);
		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr)
				serve_conn(events[i].data.ptr);
			else
				accept_conn(epoll);
		}
	}
	return NULL;
}

static void listen_tcp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);

	server.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (server.listener < 0 || bind(server.listener, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(server.listener, 4096) ||
	    getsockname(server.listener, (struct sockaddr *)&a, &len))
		truth_die("cannot listen: %s", strerror(errno));
	snprintf(server.addr, sizeof(server.addr), "127.0.0.1:%d", ntohs(a.sin_port));
}

/* An abstract name begins with a 0, which is written as @. */
static void listen_unix(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "hbprof-workload-%d",
			 (int)getpid());

	snprintf(server.addr, sizeof(server.addr), "@%s", a.sun_path + 1);
	server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (server.listener < 0 ||
	    bind(server.listener, (struct sockaddr *)&a,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ||
	    listen(server.listener, 4096))
		truth_die("cannot listen: %s", strerror(errno));
}

static void start_server(const struct mode *m)
{
	struct rlimit files;
	pthread_t thread;
	int err;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	pthread_mutex_init(&server.lock, NULL);
	server.in = m->in;
	server.out = m->out;
	if (m->unix_socket)
		listen_unix();
	else
		listen_tcp();
	for (int i = 0; i < m->threads; i++) {
		err = pthread_create(&thread, NULL, serve, NULL);
		if (err)
			truth_die("cannot start a thread: %s", strerror(err));
	}
}

/* ---- the run -------------------------------------------------------------------------------- */

/* goload, which is beside this program; what it prints is part of the truth. */
static void run_load(const struct mode *m)
{
	const struct truth_opt *o = &server.t.opt;
	char dir[PATH_MAX], command[PATH_MAX + 512], line[512];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	FILE *f;

	if (n < 0)
		truth_die("cannot tell where this program is");
	dir[n] = 0;
	*strrchr(dir, '/') = 0;
	snprintf(command, sizeof(command),
		 "exec '%s/goload' -addr %s -n %d -g %d -rate %g -size %s %s", dir, server.addr,
		 o->n, o->g, o->rate, o->size, m->load);
	fflush(stdout);
	f = popen(command, "re");
	while (f && fgets(line, sizeof(line), f))
		fputs(line, stdout);
	if (!f || pclose(f))
		truth_die("goload failed");
}

static void drain(void)
{
	for (int ms = 0; __atomic_load_n(&server.closed, __ATOMIC_RELAXED) <
			 __atomic_load_n(&server.accepted, __ATOMIC_RELAXED);
	     ms++) {
		if (ms == DRAIN_MS)
			truth_die("connections are still open long after the end of the load");
		usleep(1000);
	}
}

static int cmp_samples(const void *a, const void *b)
{
	return truth_cmp(&((const struct sample *)a)->latency_ns,
			 &((const struct sample *)b)->latency_ns);
}

static double share(size_t from, size_t to)
{
	uint64_t latency = 0, codec = 0;

	for (size_t i = from; i < to; i++) {
		latency += server.samples[i].latency_ns;
		codec += server.samples[i].codec_ns;
	}
	return latency ? 100.0 * (double)codec / (double)latency : 0;
}

static size_t rank(size_t permille)
{
	return (server.nr_samples * permille + 999) / 1000 - 1;
}

static double at(size_t permille)
{
	return (double)server.samples[rank(permille)].latency_ns;
}

static void print_requests(void)
{
	size_t n = server.nr_samples;
	uint64_t latency = 0, codec = 0;

	printf("REQUESTS rule=connection count=%zu unanswered=%llu connections=%llu bytes_in=%llu "
	       "bytes_out=%llu\n",
	       n, (unsigned long long)server.unanswered, (unsigned long long)server.accepted,
	       (unsigned long long)server.bytes_in, (unsigned long long)server.bytes_out);
	if (!n)
		return;
	qsort(server.samples, n, sizeof(*server.samples), cmp_samples);
	for (size_t i = 0; i < n; i++) {
		latency += server.samples[i].latency_ns;
		codec += server.samples[i].codec_ns;
	}
	printf("LATENCY request count=%zu mean=%.1f min=%llu p50=%.1f p90=%.1f p99=%.1f p999=%.1f "
	       "max=%llu\n",
	       n, (double)latency / (double)n, (unsigned long long)server.samples[0].latency_ns,
	       at(500), at(900), at(990), at(999),
	       (unsigned long long)server.samples[n - 1].latency_ns);
	printf("SHARE request codec_mean_ns=%.1f all_pct=%.2f p50_pct=%.2f p99_pct=%.2f\n",
	       (double)codec / (double)n, share(0, n),
	       share(n * 45 / 100, n * 55 / 100 > n * 45 / 100 ? n * 55 / 100 : n * 45 / 100 + 1),
	       share(rank(990), n));
}

int main(int argc, char **argv)
{
	static const char *names[NR_MODES + 1];
	struct truth *t = &server.t;
	const struct mode *m = modes;

	for (size_t i = 0; i < NR_MODES; i++)
		names[i] = modes[i].name;
	truth_init(t, argc, argv, names);
	while (strcmp(m->name, t->opt.mode))
		m++;
	server.decode = truth_func_new(t, "cJSON", "decode", "cJSON_ParseWithLength");
	server.decode_opts = truth_func_new(t, "cJSON", "decode", "cJSON_ParseWithLengthOpts");
	server.encode = truth_func_new(t, "cJSON", "encode", "cJSON_PrintUnformatted");
	start_server(m);
	printf("LISTEN %s\n", server.addr);
	truth_start(t);
	if (t->opt.g)
		run_load(m);
	else
		truth_wait(t);
	drain();
	print_requests();
	truth_finish(t);
	return 0;
}
