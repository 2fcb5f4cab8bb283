// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hostile.c - C programs that break tracers: calls that never return, calls on other stacks, calls
 * that end in a jump, calls under a filter that kills the process for an unexpected system call.
 * The probed functions are codec, codec_deep, codec_compare, chain_a to chain_c, tail_a to tail_c
 * and those of libtestcodec.so and liblatecodec.so. seccomp.c installs the filter.
 */
#include <dlfcn.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <ucontext.h>
#include "../lib/truth.h"
#include "hostile.h"
#include "stubs.h"
#include "testcodec.h"

#define DATA_LEN 256
#define DEEP	 1000

static unsigned char data[DATA_LEN];

static struct {
	struct truth *t;
	struct truth_func *codec, *deep, *compare;
	struct truth_func *chain[3], *tail[3];
	struct truth_func *encode, *decode, *block;
} work;

/* ---- probed functions ----------------------------------------------------------------------- */

TRUTH_PROBED uint64_t codec(const struct job *job)
{
	uint64_t sum = truth_hash(job->data, job->len);

	if (job->inside)
		sum += job->inside(job->arg);
	return sum ^ job->len;
}

/* Itself again, n entries in all. The barrier keeps the compiler from making it a loop. */
TRUTH_PROBED uint64_t codec_deep(unsigned int n)
{
	uint64_t sum = n > 1 ? codec_deep(n - 1) : 0;

	__asm__ volatile("" : "+r"(sum));
	return sum + n;
}

/* Only libc calls this. It counts its entries itself: qsort() decides how many there are. */
TRUTH_PROBED int codec_compare(const void *a, const void *b)
{
	const unsigned char *x = a, *y = b;

	truth_enter(work.compare);
	return *x - *y;
}

TRUTH_PROBED uint64_t chain_c(uint64_t v)
{
	return v * 3 + 1;
}

TRUTH_PROBED uint64_t chain_b(uint64_t v)
{
	return chain_c(v + 2);
}

TRUTH_PROBED uint64_t chain_a(uint64_t v)
{
	return chain_b(v ^ 5);
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* One timed call that is an outermost one and returns. */
static uint64_t call(uint64_t (*inside)(void *), void *arg)
{
	struct job job = {data, sizeof(data), inside, arg};
	uint64_t t0, t1, sum;

	truth_enter(work.codec);
	t0 = truth_now();
	sum = codec(&job);
	t1 = truth_now();
	truth_return(work.codec, t1 - t0, 0, false);
	return sum;
}

static uint64_t good(void)
{
	return call(NULL, NULL);
}

/* A call inside of a call. */
static uint64_t nested_call(void *arg)
{
	struct job job = {data, sizeof(data), NULL, NULL};

	truth_enter(work.codec);
	return codec(&job);
}

static uint64_t step_good(struct truth *t, int i)
{
	return i & 1 ? call(nested_call, NULL) : good();
}

/* ---- longjmp -------------------------------------------------------------------------------- */

static __thread jmp_buf jump_env;

static uint64_t jump_out(void *arg)
{
	longjmp(jump_env, 1);
}

/* Leaves two calls at once. */
static uint64_t nested_jump_out(void *arg)
{
	struct job job = {data, sizeof(data), jump_out, NULL};

	truth_enter(work.codec);
	return codec(&job);
}

__attribute__((noipa)) static void abandon(uint64_t (*inside)(void *))
{
	struct job job = {data, sizeof(data), inside, NULL};

	if (!setjmp(jump_env)) {
		truth_enter(work.codec);
		codec(&job);
		truth_die("a call that was left by longjmp returned");
	}
	truth_abandon(work.codec);
}

/* Below frames that wipe what stood there. */
__attribute__((noipa)) static uint64_t deeper(int frames)
{
	volatile char wipe[200];

	for (size_t i = 0; i < sizeof(wipe); i++)
		wipe[i] = 0;
	return frames ? deeper(frames - 1) + (uint64_t)wipe[0] : step_good(work.t, 1);
}

/* Below a frame that wipes nothing: the return address of an abandoned call still stands. */
__attribute__((noipa)) static uint64_t over_stale(void)
{
	volatile char room[1000];

	room[0] = 1;
	return step_good(work.t, 1) + (uint64_t)room[0];
}

static uint64_t step_longjmp(struct truth *t, int i)
{
	uint64_t sum;

	abandon(jump_out);
	sum = over_stale();
	abandon(nested_jump_out);
	sum += deeper(1 + i % 9);
	abandon(jump_out);
	return sum + good();
}

/* The same by the compiler's own jump, which passes no function of libc. */
static __thread void *builtin_env[5];

__attribute__((noipa)) static uint64_t builtin_out(void *arg)
{
	__builtin_longjmp(builtin_env, 1);
}

__attribute__((noipa)) static void abandon_builtin(void)
{
	struct job job = {data, sizeof(data), builtin_out, NULL};

	if (!__builtin_setjmp(builtin_env)) {
		truth_enter(work.codec);
		codec(&job);
		truth_die("a call that was left by __builtin_longjmp returned");
	}
	truth_abandon(work.codec);
}

static uint64_t step_builtin(struct truth *t, int i)
{
	uint64_t sum;

	abandon_builtin();
	sum = over_stale();
	abandon_builtin();
	sum += deeper(1 + i % 9);
	abandon_builtin();
	return sum + good();
}

/* ---- threads that end inside of a call ------------------------------------------------------ */

static uint64_t end_thread(void *arg)
{
	pthread_exit(NULL);
}

static uint64_t wait_cancel(void *arg)
{
	sem_post(arg);
	for (;;)
		pause();
	return 0;
}

static void *exiting_thread(void *arg)
{
	struct job job = {data, sizeof(data), arg ? wait_cancel : end_thread, arg};

	truth_enter(work.codec);
	codec(&job);
	truth_die("a call that its thread ended in returned");
}

/* A call that its thread ends by itself, one in which the thread is cancelled, and a good one. */
static uint64_t step_threadexit(struct truth *t, int i)
{
	pthread_t ends, cancelled;
	sem_t inside;

	if (sem_init(&inside, 0, 0) || pthread_create(&ends, NULL, exiting_thread, NULL) ||
	    pthread_create(&cancelled, NULL, exiting_thread, &inside))
		truth_die("cannot start a thread");
	pthread_join(ends, NULL);
	truth_abandon(work.codec);
	sem_wait(&inside);
	pthread_cancel(cancelled);
	pthread_join(cancelled, NULL);
	truth_abandon(work.codec);
	sem_destroy(&inside);
	return good();
}

/* ---- recursion, function pointers, tail calls ----------------------------------------------- */

static uint64_t step_recursion(struct truth *t, int i)
{
	uint64_t t0, t1, sum;

	truth_add(&work.deep->entries, DEEP);
	t0 = truth_now();
	sum = codec_deep(DEEP);
	t1 = truth_now();
	truth_return(work.deep, t1 - t0, 0, false);
	return sum;
}

/* volatile: the compiler cannot know the callee. */
static uint64_t (*volatile codec_pointer)(const struct job *) = codec;

static uint64_t step_funcptr(struct truth *t, int i)
{
	struct job job = {data, sizeof(data), NULL, NULL};
	unsigned char sorted[16];
	uint64_t t0, t1, sum, before;

	truth_enter(work.codec);
	t0 = truth_now();
	sum = codec_pointer(&job);
	t1 = truth_now();
	truth_return(work.codec, t1 - t0, 0, false);

	memcpy(sorted, data + i % 64, sizeof(sorted));
	before = __atomic_load_n(&work.compare->entries, __ATOMIC_RELAXED);
	qsort(sorted, sizeof(sorted), 1, codec_compare);
	if (before == __atomic_load_n(&work.compare->entries, __ATOMIC_RELAXED))
		truth_die("qsort did not compare");
	return sum + truth_hash(sorted, sizeof(sorted));
}

#ifdef __x86_64__
/* sub $8,%rsp; mov %rdi,%rax; mov %rsi,%rdi; call *%rax; add $8,%rsp; ret */
static const unsigned char jit_code[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0xf8, 0x48, 0x89,
					 0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
#elif defined(__aarch64__)
/* stp x29,x30,[sp,#-16]!; mov x9,x0; mov x0,x1; blr x9; ldp x29,x30,[sp],#16; ret */
static const unsigned int jit_code[] = {0xa9bf7bfd, 0xaa0003e9, 0xaa0103e0,
					0xd63f0120, 0xa8c17bfd, 0xd65f03c0};
#endif

typedef uint64_t (*jit_call)(uint64_t (*fn)(const struct job *), const struct job *);

/* Code that no file holds: private memory, shared memory (which maps shows as a file) and a memfd. */
static jit_call jit_make(int kind)
{
	int fd = kind == 2 ? memfd_create("jit", MFD_CLOEXEC) : -1;
	int flags = kind == 0	? MAP_PRIVATE | MAP_ANONYMOUS
		    : kind == 1 ? MAP_SHARED | MAP_ANONYMOUS
				: MAP_SHARED;
	void *p;

	if (kind == 2 && (fd < 0 || ftruncate(fd, 4096)))
		truth_die("no memfd");
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, flags, fd, 0);
	if (p == MAP_FAILED)
		truth_die("no memory for code");
	memcpy(p, jit_code, sizeof(jit_code));
	__builtin___clear_cache(p, (char *)p + sizeof(jit_code));
	return (jit_call)p;
}

static uint64_t step_jit(struct truth *t, int i)
{
	static jit_call call[3];
	struct job job = {data, sizeof(data), NULL, NULL};
	uint64_t t0, t1, sum;

	if (!call[i % 3])
		call[i % 3] = jit_make(i % 3);
	truth_enter(work.codec);
	t0 = truth_now();
	sum = call[i % 3](codec, &job);
	t1 = truth_now();
	truth_return(work.codec, t1 - t0, 0, false);
	return sum;
}

/* Three functions are entered, and one return ends all three calls. */
static void count_chain(struct truth_func **f, uint64_t ns)
{
	truth_return(f[0], ns, 0, false);
	truth_count(f[1], 0, false);
	truth_count(f[2], 0, false);
}

static uint64_t step_tailcalls(struct truth *t, int i)
{
	uint64_t t0, t1, t2, sum;

	for (int k = 0; k < 3; k++) {
		truth_enter(work.chain[k]);
		truth_enter(work.tail[k]);
	}
	t0 = truth_now();
	sum = chain_a((uint64_t)i);
	t1 = truth_now();
	sum += (uint64_t)tail_a(i);
	t2 = truth_now();
	count_chain(work.chain, t1 - t0);
	count_chain(work.tail, t2 - t1);
	return sum;
}

/* ---- other stacks --------------------------------------------------------------------------- */

static volatile sig_atomic_t call_is_open;
static uint64_t signal_sum;

/* Runs on the alternative stack; inside of a call its own is a nested one. */
static void on_signal(int sig)
{
	signal_sum = call_is_open ? nested_call(NULL) : good();
}

static uint64_t raise_signal(void *arg)
{
	call_is_open = 1;
	raise(SIGUSR1);
	call_is_open = 0;
	return signal_sum;
}

static void init_sigaltstack(struct truth *t)
{
	static char stack[65536];
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	if (sigaltstack(&ss, NULL) || sigaction(SIGUSR1, &sa, NULL))
		truth_die("no alternative stack: %s", strerror(errno));
}

static uint64_t step_sigaltstack(struct truth *t, int i)
{
	if (i & 1)
		return call(raise_signal, NULL);
	raise(SIGUSR1);
	return signal_sum + good();
}

#define NR_FIBERS 2

static struct {
	ucontext_t main, fiber[NR_FIBERS];
	char stack[NR_FIBERS][65536];
	uint64_t sum;
} fibers;

/* Goes to the other fiber from within a call, so that calls of both are open at once. */
static uint64_t switch_fiber(void *self)
{
	int me = *(int *)self;

	swapcontext(&fibers.fiber[me], &fibers.fiber[!me]);
	return 1;
}

/* The last switch of fiber 0 ends fiber 1, and its own end goes back to main. */
static void run_fiber(int me)
{
	for (int i = 0; i < work.t->opt.n; i++)
		fibers.sum += call(switch_fiber, &me);
}

static void make_fiber(int me, void (*run)(int), ucontext_t *then)
{
	getcontext(&fibers.fiber[me]);
	fibers.fiber[me].uc_stack.ss_sp = fibers.stack[me];
	fibers.fiber[me].uc_stack.ss_size = sizeof(fibers.stack[me]);
	fibers.fiber[me].uc_link = then;
	makecontext(&fibers.fiber[me], (void (*)(void))run, 1, me);
}

static uint64_t step_fibers(struct truth *t, int i)
{
	if (i)
		return 0;
	make_fiber(0, run_fiber, &fibers.fiber[1]);
	make_fiber(1, run_fiber, &fibers.main);
	swapcontext(&fibers.main, &fibers.fiber[0]);
	return fibers.sum;
}

/* Its calls are open on no other stack. */
static void run_beside(int me)
{
	for (;;) {
		fibers.sum += good();
		switch_fiber(&me);
	}
}

/* Within each call of one fiber the other one makes a whole call. Which stack is the deeper one matters to
 * who compares addresses, so both ways. */
static uint64_t step_yield(struct truth *t, int i)
{
	for (int me = 0; !i && me < NR_FIBERS; me++) {
		make_fiber(me, run_fiber, &fibers.main);
		make_fiber(!me, run_beside, NULL);
		swapcontext(&fibers.main, &fibers.fiber[me]);
	}
	return fibers.sum;
}

/* ---- shared objects ------------------------------------------------------------------------- */

typedef uint64_t (*codec_fn)(const unsigned char *, size_t);

static void count_blocks(uint64_t n)
{
	truth_add(&work.block->entries, n);
	for (; n; n--)
		truth_count(work.block, 0, false);
}

static uint64_t step_dso(struct truth *t, int i)
{
	size_t len = (size_t)(i % DATA_LEN) + 1;
	uint64_t t0, t1, t2, sum;

	truth_enter(work.encode);
	truth_enter(work.decode);
	t0 = truth_now();
	sum = testcodec_encode(data, len);
	t1 = truth_now();
	sum += testcodec_decode(data, len);
	t2 = truth_now();
	truth_return(work.encode, t1 - t0, 0, false);
	truth_return(work.decode, t2 - t1, 0, false);
	count_blocks((len + TESTCODEC_BLOCK - 1) / TESTCODEC_BLOCK + 1);
	return sum;
}

static struct {
	codec_fn encode, decode;
} late;

static codec_fn late_symbol(void *dso, const char *name)
{
	codec_fn fn = (codec_fn)dlsym(dso, name);

	if (!fn)
		truth_die("%s", dlerror());
	return fn;
}

/* The first call loads the library, and gives a profiler that watches for it time to attach. */
static uint64_t step_dlopen(struct truth *t, int i)
{
	size_t len = (size_t)(i % DATA_LEN) + 1;
	void *dso;
	uint64_t sum;

	if (!i) {
		dso = dlopen("liblatecodec.so", RTLD_NOW);
		if (!dso)
			truth_die("%s", dlerror());
		late.encode = late_symbol(dso, "latecodec_encode");
		late.decode = late_symbol(dso, "latecodec_decode");
		usleep(200000);
	}
	truth_enter(work.encode);
	truth_enter(work.decode);
	sum = late.encode(data, len) + late.decode(data, len);
	truth_count(work.encode, 0, false);
	truth_count(work.decode, 0, false);
	count_blocks((len + TESTCODEC_BLOCK - 1) / TESTCODEC_BLOCK + 1);
	return sum;
}

static codec_fn relay;

static void *relay_load(const char *file)
{
	void *dso = dlopen(file, RTLD_NOW);

	if (!dso)
		truth_die("%s", dlerror());
	relay = late_symbol(dso, "relay");
	return dso;
}

/* One library calls the codec, and half way another one, which lies where the first one was. */
static uint64_t step_reload(struct truth *t, int i)
{
	static void *dso;
	codec_fn before = relay;
	uint64_t sum;

	if (!i) {
		dso = relay_load("librelay_a.so");
	} else if (i == t->opt.n / 2) {
		dlclose(dso);
		dso = relay_load("librelay_b.so");
		if (relay != before)
			truth_die("librelay_b.so is at another address");
	}
	sum = relay(data, (size_t)(i % DATA_LEN) + 1);
	count_blocks(1);
	return sum;
}

/* ---- modes ---------------------------------------------------------------------------------- */

static void add_codec(struct truth *t)
{
	work.codec = truth_func_new(t, "probe", "call", "codec");
}

static void add_deep(struct truth *t)
{
	work.deep = truth_func_new(t, "probe", "call", "codec_deep");
}

static void add_pointers(struct truth *t)
{
	add_codec(t);
	work.compare = truth_func_new(t, "probe", "call", "codec_compare");
}

static void add_chains(struct truth *t)
{
	static const char *const chain[] = {"chain_a", "chain_b", "chain_c"};
	static const char *const tail[] = {"tail_a", "tail_b", "tail_c"};

	for (int i = 0; i < 3; i++) {
		work.chain[i] = truth_func_new(t, "probe", "call", chain[i]);
		work.tail[i] = truth_func_new(t, "probe", "call", tail[i]);
	}
}

static void add_dso(struct truth *t)
{
	work.encode = truth_func_new(t, "probe", "call", "testcodec_encode");
	work.decode = truth_func_new(t, "probe", "call", "testcodec_decode");
	work.block = truth_func_new(t, "probe", "call", "testcodec_block");
}

static void add_block(struct truth *t)
{
	work.block = truth_func_new(t, "probe", "call", "testcodec_block");
}

static void add_late(struct truth *t)
{
	work.encode = truth_func_new(t, "probe", "call", "latecodec_encode");
	work.decode = truth_func_new(t, "probe", "call", "latecodec_decode");
	work.block = truth_func_new(t, "probe", "call", "latecodec_block");
}

static void add_seccomp(struct truth *t)
{
	add_codec(t);
	seccomp_strict();
}

static void add_sigaltstack(struct truth *t)
{
	add_codec(t);
	init_sigaltstack(t);
}

static const struct {
	const char *name;
	void (*add)(struct truth *t); /* before the process says that it is ready */
	truth_step step;
	int threads; /* 1: the mode keeps state that threads would share */
} modes[] = {
	{"plain", add_codec, step_good, 0},
	{"longjmp", add_codec, step_longjmp, 0},
	{"builtin", add_codec, step_builtin, 0},
	{"threadexit", add_codec, step_threadexit, 0},
	{"recursion", add_deep, step_recursion, 0},
	{"threads", add_codec, step_good, 4},
	{"seccomp", add_seccomp, step_good, 1},
	{"tailcalls", add_chains, step_tailcalls, 0},
	{"sigaltstack", add_sigaltstack, step_sigaltstack, 1},
	{"fibers", add_codec, step_fibers, 1},
	{"yield", add_codec, step_yield, 1},
	{"funcptr", add_pointers, step_funcptr, 0},
	{"jit", add_codec, step_jit, 1},
	{"dso", add_dso, step_dso, 0},
	{"dlopen", add_late, step_dlopen, 1},
	{"reload", add_block, step_reload, 1},
};

#define NR_MODES (sizeof(modes) / sizeof(modes[0]))

static void run(struct truth *t, size_t mode)
{
	if (modes[mode].threads == 1 && t->opt.g > 1)
		truth_die("mode %s runs in one thread: leave -g out", t->opt.mode);
	modes[mode].add(t);
	truth_start(t);
	truth_run(t, t->opt.g ? t->opt.g : modes[mode].threads, modes[mode].step);
	if (work.compare)
		work.compare->calls = work.compare->entries;
}

int main(int argc, char **argv)
{
	static const char *names[NR_MODES + 1];
	static struct truth t;

	for (size_t i = 0; i < NR_MODES; i++)
		names[i] = modes[i].name;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 37 + 11);
	work.t = &t;
	truth_init(&t, argc, argv, names);
	for (size_t i = 0; i < NR_MODES; i++)
		if (!strcmp(modes[i].name, t.opt.mode))
			run(&t, i);
	truth_finish(&t);
	return 0;
}
