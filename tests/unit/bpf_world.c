/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_world.c - the traced program: where its code, stacks and goroutines lie, and what it does.
 * What was measured of it, and whether that can be, is in bpf_world_check.c.
 */
#include "bpf_world.h"

#include <string.h>

#include "bpf_regs.h"
#include "bpf_world_impl.h"

#define MAX_TASKS 64
#define MAX_RETS  1024
#define SITES	  2048

/* Where things are. Only that they are far enough apart matters. */
#define CALLERS	   0x800000ULL /* vaddr of the first return address */
#define STACKS	   0x7f0000000000ULL
#define STACK_STEP (64ULL << 20)
#define GS	   0xc000000000ULL
#define FS	   0x7d0000000000ULL /* thread control block, and a jmp_buf */
#define FOREIGN	   0x7e0000000000ULL

/* Offsets in the g struct and in _panic. Not those of any Go version: bpf/ must ask. */
#define GOID_OFF     152
#define PANIC_OFF    40
#define PANIC_SP_OFF 24
#define SIGCODE_OFF  64
#define G_SIZE	     256
#define G_PANIC	     192	   /* where the world puts the _panic of a g */
#define M_OFF	     72		   /* in g */
#define CURG_OFF     120	   /* in m, which begins with g0 */
#define G0	     (GS - 0x1000) /* of the thread that a test's goroutines run on */
#define M	     (GS - 0x2000)

static const u64 image_bias[W_IMAGES] = {
	[W_GO_OLD] = 0x10000000ULL, [W_NATIVE] = 0x555500000000ULL};

struct ret {
	u64 ra;
	u32 site;
	struct w_site at;
};

struct world w;
struct w_func w_funcs[W_FUNCS];
u32 w_nr_funcs;
static struct w_task tasks_of[MAX_TASKS];
static struct ret rets[MAX_RETS];
static u32 nr_tasks_of, nr_rets, nr_sites, nr_ras, nr_stacks;
static u32 recover_site[W_IMAGES], panic_site, start_site, undo_site;

/* ---- making the program ---- */

static u32 site_put(struct hb_site s)
{
	u32 id = nr_sites++;

	assert_true(id < SITES);
	kernel__map_set(HOST_MAP(SITES), &id, &s);
	return id;
}

static void locs_put(struct hb_site *s, s16 lost, s16 moved, s16 to)
{
	for (s16 r = 0; r < HB_LOC_NR; r++) {
		s->loc[r] = lost >> r & 1 ? HB_LOC_LOST : r;
		if (moved == r + 1)
			s->loc[r] = to;
	}
}

static void images_put(void)
{
	struct hb_site s;

	for (u32 i = 0; i < W_IMAGES; i++) {
		struct hb_image im = {.lo = W_CODE, .hi = W_CODE_END};

		s = (struct hb_site){.vaddr = 0x8000, .func = HB_FUNC_NONE, .image = i};
		if (i != W_NATIVE)
			im.goid_off = GOID_OFF;
		if (i == W_GO) {
			im.panic_off = PANIC_OFF;
			im.panic_sp_off = PANIC_SP_OFF;
			im.scan_off = W_SCAN_OFF;
			im.seq_off = W_SEQ_OFF;
			im.m_off = M_OFF;
			im.curg_off = CURG_OFF;
		} else if (i == W_GO_OLD) {
			im.sigcode_off = SIGCODE_OFF;
		}
		kernel__map_set(HOST_MAP(IMAGES), &i, &im);
		locs_put(&s, 0, 0, 0);
		recover_site[i] = site_put(s);
	}
	s = (struct hb_site){.vaddr = 0x8800, .func = HB_FUNC_NONE, .image = W_GO};
	locs_put(&s, 0, 0, 0);
	panic_site = site_put(s);
	/* behind a call, where what it returned has been copied to be an argument */
	s.vaddr = 0x8c00;
	locs_put(&s, 1, 1 + W_AX, W_BX);
	start_site = site_put(s);
	/* as of a function that begins with a push and is probed after it */
	s = (struct hb_site){.vaddr = 0x9000, .func = HB_FUNC_NONE, .image = W_NATIVE, .sp_fix = 8};
	locs_put(&s, 0, 0, 0);
	undo_site = site_put(s);
}

int w_init(void **state)
{
	kernel__reset(host_maps, HOST_MAP_NR);
	host__load();
	memset(&w, 0, sizeof(w));
	memset(w_funcs, 0, sizeof(w_funcs));
	w_nr_funcs = nr_tasks_of = nr_rets = nr_sites = nr_ras = nr_stacks = 0;
	kernel__map_resize(HOST_MAP(SITES), SITES);
	kernel__map_resize(HOST_MAP(SITE_MISSES), SITES);
	kernel__map_resize(HOST_MAP(FUNCS), W_FUNCS);
	kernel__map_resize(HOST_MAP(FN_STATS), W_FUNCS);
	kernel__map_resize(HOST_MAP(IMAGES), W_IMAGES);
	kernel__map_resize(HOST_MAP(ROWS), W_ROWS);
	kernel__map_resize(HOST_MAP(ROW_STATS), W_ROWS);
	kernel__map_resize(HOST_MAP(ROW_CACHE), W_FUNCS * HB_SIZE_CLASSES * HB_OUTCOME_NR);
	kernel__map_resize(HOST_MAP(HISTS), W_HISTS);
	cfg_tgid = W_TGID;
	cfg_self_tgid = W_SELF;
	cfg_nr_rows = W_ROWS;
	cfg_nr_hists = W_HISTS;
	recording = true;
	kernel.now_ns = 1000000;
	images_put();
	kernel__user_add(FS - 8, 0x208);
	kernel__user_add(G0, G_SIZE);
	kernel__user_add(M, G_SIZE);
	kernel__user_write64(M, G0);
#if defined(__TARGET_ARCH_x86)
	kernel.task.thread.fsbase = FS;
#endif
	return 0;
}

void w_set_cal(void)
{
	for (u32 l = 0; l < HB_LANG_NR; l++) {
		for (u32 c = 0; c < HB_CLASS_NR; c++) {
			cal.in_ns[l][c] = 10 + c;
			cal.tail_ns[l][c] = 13 + c;
			for (u32 x = 0; x < HB_CLASS_NR; x++)
				cal.total_ns[l][c][x] = 20 + 10 * c + x;
		}
		for (u32 x = 0; x < HB_CLASS_NR; x++)
			cal.nested_ns[l][x] = 7 + 3 * x;
	}
}

u16 w_func(struct w_func spec)
{
	u32 id = w_nr_funcs++;
	struct hb_site s = {.image = spec.image, .func = id, .cls = spec.cls};

	assert_true(id < W_FUNCS);
	spec.f.image = spec.image;
	if (spec.f.flags & W_FUNC_TAILS)
		spec.f.tails = ~0ULL;
	spec.f.flags &= ~W_FUNC_TAILS;
	spec.f.lang = spec.image == W_NATIVE ? HB_LANG_NATIVE : HB_LANG_GO;
	spec.vaddr = W_CODE + id * 0x1000;
	s.vaddr = spec.vaddr + 1;
	s.sp_fix = spec.sp_fix;
	if (spec.jbe)
		s.flags = HB_SITE_TAKEN;
	locs_put(&s, spec.lost, 0, 0);
	spec.entry_site = site_put(s);
	if (spec.f.flags & HB_FUNC_EXIT_RET) {
		s.vaddr = spec.vaddr + 0x80;
		s.flags = 0;
		s.cls = spec.ret_cls;
		spec.ret_site = site_put(s);
	}
	w_funcs[id] = spec;
	kernel__map_set(HOST_MAP(FUNCS), &id, &spec.f);
	return id;
}

struct w_func *w_func_at(u16 func)
{
	assert_true(func < w_nr_funcs);
	return &w_funcs[func];
}

u32 w_nr(void)
{
	return w_nr_funcs;
}

const struct w_site *w_site_of(u64 ra)
{
	for (u32 i = 0; i < nr_rets; i++)
		if (rets[i].ra == ra)
			return &rets[i].at;
	return NULL;
}

u64 w_addr(u32 image, u64 vaddr)
{
	return image_bias[image] + vaddr;
}

u64 w_ra_unknown(u32 image)
{
	return w_addr(image, CALLERS + 0x40 * nr_ras++);
}

u64 w_ra_foreign(void)
{
	return FOREIGN + 0x40 * nr_ras++;
}

/* The image that an address at slide 0 lies in, or -1. */
static int image_of(u64 addr)
{
	for (int i = 0; i < W_IMAGES; i++)
		if (addr - image_bias[i] >= W_CODE && addr - image_bias[i] < W_CODE_END)
			return i;
	return -1;
}

void w_set_state(u64 ra, enum hb_ra_state state)
{
	int image = image_of(ra);
	struct hb_ra_key key = {.where = ra, .owner = 0, .space = HB_RA_PROCESS};
	u32 value = state;

	if (image >= 0) {
		key.where = ra - image_bias[image];
		key.owner = image;
		key.space = HB_RA_IMAGE;
	}
	kernel__map_set(HOST_MAP(RAS), &key, &value);
}

u32 w_attach(u64 ra, struct w_site at)
{
	int image = image_of(ra);
	struct hb_site s = {
		.vaddr = ra - at.delta - (image >= 0 ? image_bias[image] : 0),
		.sp_fix = -REGS_RET_SP,
		.ra_delta = at.delta,
		.func = at.func,
		.image = image >= 0 ? image : 0,
		.cls = at.cls,
		.flags = at.func == W_ANY ? 0 : HB_SITE_PURE,
	};

	assert_true(nr_rets < MAX_RETS);
	locs_put(&s, at.lost, at.moved, at.to);
	rets[nr_rets] = (struct ret){ra, site_put(s), at};
	w_set_state(ra, HB_RA_ATTACHED);
	return rets[nr_rets++].site;
}

u64 w_ra_with(u16 func, struct w_site at)
{
	u64 ra = w_ra_unknown(w_func_at(func)->image);

	w_attach(ra, at);
	return ra;
}

u64 w_ra(u16 func)
{
	return w_ra_with(func, (struct w_site){.func = func, .delta = -4});
}

static struct w_task *task_new(void)
{
	struct w_task *t = &tasks_of[nr_tasks_of];

	assert_true(nr_tasks_of < MAX_TASKS);
	*t = (struct w_task){.tgid = W_TGID, .tid = W_TGID + 1 + nr_tasks_of};
	nr_tasks_of++;
	t->lo = STACKS + STACK_STEP * ++nr_stacks;
	t->hi = t->lo + W_STACK;
	kernel__user_add(t->lo, W_STACK);
	w.cur = t;
	return t;
}

struct w_task *w_thread(u32 tid)
{
	struct w_task *t = task_new();

	t->tid = tid;
	return t;
}

static void g_put(const struct w_task *t)
{
	kernel__user_write64(t->g, t->lo);
	kernel__user_write64(t->g + 8, t->hi);
	kernel__user_write64(t->g + GOID_OFF, t->goid);
}

struct w_task *w_go(u64 goid)
{
	struct w_task *t = task_new();

	t->go = true;
	t->goid = goid;
	t->g = GS + 0x1000 * nr_tasks_of;
	kernel__user_add(t->g, G_SIZE);
	g_put(t);
	return t;
}

void w_reuse_g(struct w_task *t, u64 goid)
{
	t->goid = goid;
	g_put(t);
}

/* As the runtime does: what is in use is copied to the upper end of the new memory. */
void w_move_stack(struct w_task *t, u64 size)
{
	u64 lo = STACKS + STACK_STEP * ++nr_stacks, hi = lo + size;
	u64 used = size < t->hi - t->lo ? size : t->hi - t->lo;

	kernel__user_add(lo, size);
	for (u64 d = 8; d <= used; d += 8)
		kernel__user_write64(hi - d, kernel__user_read64(t->hi - d));
	kernel__user_remove(t->lo);
	t->lo = lo;
	t->hi = hi;
	g_put(t);
}

void w_switch_stack(struct w_task *t, u64 hi)
{
	t->hi = hi;
	t->lo = hi - W_STACK;
}

/* ---- what it does ---- */

void w_run(struct w_task *t)
{
	w.cur = t;
}

void w_pass(u64 ns)
{
	kernel.now_ns += ns;
}

/* entry_sp: where the word is that is the return address, if there is one. */
static void hit(u64 cookie, u64 ip, u64 sp, u64 entry_sp, enum regs_branch branch)
{
	const struct w_task *t = w.cur;
	struct regs_of of = {
		.reg = w.reg,
		.ip = ip,
		.sp = sp,
		.g = t->go && !w.g_lost ? t->g : w.reg[14],
		.branch = branch,
	};
	struct pt_regs regs;

	if (entry_sp >= t->lo && entry_sp < t->hi)
		of.ra = kernel__user_read64(entry_sp);
	regs = regs_make(&of);
	kernel.pid_tgid = (u64)t->tgid << 32 | t->tid;
	kernel.cookie = cookie;
	kernel__user_write64(FS - 8, w.g_lost ? t->g : w.tls_g);
	assert_int_equal(hb_probe(&regs), 0);
}

void w_hit(u32 site, enum hb_role role, enum hb_lang lang, u64 ip, u64 sp)
{
	const struct hb_site *s = kernel__map_at(HOST_MAP(SITES), 0, &site);

	hit(HB_COOKIE(site, role, lang), ip, sp,
	    s && role == HB_ROLE_ENTRY ? sp + (s64)s->sp_fix : 0, REGS_NOT_TAKEN);
	w_check_frames();
}

static u64 code_addr(const struct w_func *f, u64 vaddr)
{
	return image_bias[f->image] + w.cur->slide + vaddr;
}

static u64 ra_addr(u64 ra)
{
	return image_of(ra) >= 0 ? ra + w.cur->slide : ra;
}

void w_push(u64 depth, u64 value)
{
	kernel__user_write64(w.cur->hi - depth, value);
}

void w_clobber(u64 from, u64 to)
{
	for (u64 d = from; d <= to; d += 8)
		w_push(d, 0xdeadULL << 32 | d);
}

void w_enter(u16 func, u64 depth)
{
	const struct w_func *f = w_func_at(func);

	w_hit(f->entry_site, HB_ROLE_ENTRY, f->f.lang, code_addr(f, f->vaddr + 1),
	      w.cur->hi - depth - f->sp_fix);
}

void w_call(u16 func, u64 depth, u64 ra)
{
	w_push(depth, ra_addr(ra));
	w_enter(func, depth);
}

void w_grow(u16 func, u64 depth, u64 ra)
{
	const struct w_func *f = w_func_at(func);
	u64 cookie = HB_COOKIE(f->entry_site, HB_ROLE_ENTRY, f->f.lang);
	u64 ip = code_addr(f, f->vaddr + 1), entry_sp = w.cur->hi - depth;

	w_push(depth, ra_addr(ra));
	/* "below or equal" is taken on either of two flags */
	hit(cookie, ip, entry_sp - f->sp_fix, entry_sp, REGS_BELOW);
	hit(cookie, ip, entry_sp - f->sp_fix, entry_sp, REGS_EQUAL);
}

void w_jump_out(u16 func, u64 depth)
{
	const struct w_func *f = w_func_at(func);

	assert_true(f->f.flags & HB_FUNC_EXIT_RET);
	w_hit(f->ret_site, HB_ROLE_RET, f->f.lang, code_addr(f, f->vaddr + 0x80),
	      w.cur->hi - depth - f->sp_fix);
}

void w_site_hit(u64 ra, u64 depth)
{
	enum hb_lang lang = w.cur->go ? HB_LANG_GO : HB_LANG_NATIVE;

	for (u32 i = 0; i < nr_rets; i++)
		if (rets[i].ra == ra)
			w_hit(rets[i].site, HB_ROLE_RETSITE, lang, ra_addr(ra) - rets[i].at.delta,
			      w.cur->hi - depth + REGS_RET_SP);
}

void w_ret(u16 func, u64 depth, u64 ra)
{
	if (w_func_at(func)->f.flags & HB_FUNC_EXIT_RET)
		w_jump_out(func, depth);
	w_site_hit(ra, depth);
}

void w_ran(u16 func, u64 depth, u64 ra, u64 ns)
{
	w_call(func, depth, ra);
	w_pass(ns);
	w_ret(func, depth, ra);
}

void w_panic(u64 depth)
{
	w_hit(panic_site, HB_ROLE_PANIC, HB_LANG_GO, w_addr(W_GO, 0x8800), w.cur->hi - depth);
}

void w_recover(u64 depth)
{
	const struct w_task *t = w.cur;
	u64 panic = t->g + G_PANIC, ax = w.reg[W_AX];
	struct w_task g0 = *t;

	kernel__user_write64(t->g + PANIC_OFF, panic);
	kernel__user_write64(panic + PANIC_SP_OFF, t->hi - depth);
	kernel__user_write64(t->g + SIGCODE_OFF, t->hi - depth);
	w.reg[W_AX] = t->g;
	/* It runs on the thread's own g0. */
	g0.g = G0;
	w.cur = &g0;
	w_hit(recover_site[w.recover], HB_ROLE_RECOVER, HB_LANG_GO, 0x8000, STACKS - 0x1000);
	w.cur = (struct w_task *)t;
	w.reg[W_AX] = ax;
}

void w_start(const struct w_task *child)
{
	struct w_task *t = w.cur, g0 = *t;
	u64 bx = w.reg[W_BX];

	kernel__user_write64(G0 + M_OFF, w.m_lost ? 0 : M);
	kernel__user_write64(M + CURG_OFF, w.no_curg ? 0 : t->g);
	w.reg[W_BX] = child->g;
	g0.g = G0;
	w.cur = &g0;
	w_hit(start_site, HB_ROLE_GO, HB_LANG_GO, w_addr(W_GO, 0x8c00), STACKS - 0x1000);
	w.cur = t;
	w.reg[W_BX] = bx;
}

void w_in_c(const struct w_task *by)
{
	kernel__user_write64(G0 + M_OFF, M);
	kernel__user_write64(M + CURG_OFF, by ? by->g : 0);
	w.tls_g = by ? G0 : 0;
	kernel__user_write64(FS - 8, w.tls_g);
}

/* setjmp keeps SP as it is after its own return: glibc hides it, musl (guard 0) does not. */
void w_longjmp(u64 depth, u64 to, u64 guard)
{
#if defined(__TARGET_ARCH_arm64)
	/* The probe is where SP has been set; the site's sp_fix is not for that. */
	w_hit(undo_site, HB_ROLE_CATCH, HB_LANG_NATIVE, w_addr(W_NATIVE, 0x9000),
	      w.cur->hi - to - 8);
#else
	u64 sp = w.cur->hi - to, di = w.reg[W_DI], buf = FS + 0x100;

	if (guard) {
		sp ^= guard;
		sp = sp << 17 | sp >> 47;
	}
	kernel__user_write64(buf + 6 * 8, sp);
	kernel__user_write64(FS + 0x30, guard);
	w.reg[W_DI] = buf;
	w_hit(undo_site, HB_ROLE_LONGJMP, HB_LANG_NATIVE, w_addr(W_NATIVE, 0x9000),
	      w.cur->hi - depth - 8);
	w.reg[W_DI] = di;
#endif
}

void w_catch(u64 depth)
{
	w_hit(undo_site, HB_ROLE_CATCH, HB_LANG_NATIVE, w_addr(W_NATIVE, 0x9000),
	      w.cur->hi - depth - 8);
}

void w_loaded(s32 fix)
{
	struct hb_site *s = kernel__map_at(HOST_MAP(SITES), 0, &undo_site);
	s32 before = s->sp_fix;

	s->sp_fix = fix;
	w_hit(undo_site, HB_ROLE_LOADED, HB_LANG_NATIVE, w_addr(W_NATIVE, 0x9000),
	      w.cur->hi - 0x100);
	s->sp_fix = before;
}

void w_swapped(void)
{
	w_hit(undo_site, HB_ROLE_SWITCH, HB_LANG_NATIVE, w_addr(W_NATIVE, 0x9000),
	      w.cur->hi - 0x100);
}
