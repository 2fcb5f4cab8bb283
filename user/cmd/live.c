// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* live.c - what is read when, and where messages go while the screen is not theirs. */
#include "cmd/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "capture/host_run.h"
#include "cmd/screen.h"
#include "report/view.h"
#include "trace/session.h"
#include "util/array.h"
#include "util/log.h"

#define MAX_KEPT 1000 /* messages; more than that nobody reads */

struct kept {
	enum log_level level;
	char *text;
};

struct live {
	struct session *session;
	struct host_run *run;
	struct screen *screen;
	struct live_view view;
	enum view_style style;
	bool utf8;
	struct kept *kept; /* messages to be printed afterwards */
	size_t nr_kept, cap_kept, nr_lost;
};

/* ---- messages ------------------------------------------------------------------------------ */

/* The sink of util/log knows no argument, and there is one screen. */
static struct live *showing;

static void say(enum log_level level, const char *text)
{
	switch (level) {
	case LOG_ERR:
		log_err("%s", text);
		break;
	case LOG_WARN:
		log_warn("%s", text);
		break;
	case LOG_INFO:
		log_info("%s", text);
		break;
	default:
		log_debug("%s", text);
	}
}

static void keep(struct live *l, enum log_level level, const char *text)
{
	char *copy = l->nr_kept < MAX_KEPT ? strdup(text) : NULL;

	if (!copy || array_grow((void **)&l->kept, l->nr_kept, &l->cap_kept, sizeof(*l->kept))) {
		free(copy);
		l->nr_lost++;
		return;
	}
	l->kept[l->nr_kept++] = (struct kept){level, copy};
}

static void log_to_view(enum log_level level, const char *text)
{
	struct live *l = showing;

	view__message(&l->view, level <= LOG_WARN, text);
	if (isatty(STDERR_FILENO)) {
		keep(l, level, text);
		return;
	}
	/* Into a file or a pipe: that does not disturb the screen, and somebody may be waiting. */
	log_set_sink(NULL);
	say(level, text);
	log_set_sink(log_to_view);
}

static void print_kept(struct live *l)
{
	for (size_t i = 0; i < l->nr_kept; i++) {
		say(l->kept[i].level, l->kept[i].text);
		free(l->kept[i].text);
	}
	if (l->nr_lost)
		log_warn("%zu more messages were not kept", l->nr_lost);
	free(l->kept);
}

/* ---- readings and frames -------------------------------------------------------------------- */

/* The first of these that is set decides, in the C library as here: setlocale() would do more. */
static bool locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *s = getenv(names[i]);

		if (s && *s)
			return strcasestr(s, "UTF-8") || strcasestr(s, "UTF8");
	}
	return false;
}

static enum view_style style_of_terminal(void)
{
	const char *no_color = getenv("NO_COLOR");

	return no_color && *no_color ? VIEW_MONO : VIEW_COLOUR;
}

static int draw(struct live *l)
{
	struct view_look look = {.style = l->style, .utf8 = l->utf8};
	struct strbuf frame;
	int err;

	screen__size(l->screen, &look.width, &look.height);
	strbuf__init(&frame, VIEW_FRAME);
	err = view__frame(&l->view, &look, &frame);
	if (!err)
		err = screen__draw(l->screen, &frame);
	strbuf__fini(&frame);
	return err;
}

/* What the machine does meanwhile, for the page that shows it: nobody else is worth the look at all CPUs. */
static int add_run_facts(struct live *l, struct recording *now)
{
	if (l->view.st.page == VIEW_ABOUT)
		return host_run__facts(l->run, now);
	return host_run__warn(l->run, now);
}

static int read_now(struct live *l)
{
	struct recording *now;
	int err = session__live(l->session, &now);

	if (err)
		return err;
	err = add_run_facts(l, now);
	return view__update(&l->view, now) ? -ENOMEM : err;
}

/* Why there is no view any more. A terminal that has gone needs no word: nobody reads it. */
static bool goes_on(int err)
{
	if (err && err != -EIO)
		log_warn("the live view has ended (%s); measuring goes on", strerror(-err));
	return !err;
}

struct live *live__open(struct session *s, struct host_run *run)
{
	struct live *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return NULL;
	err = screen__open(&l->screen);
	if (err) {
		if (err != -ENOTTY)
			log_warn("no live view: the terminal cannot be opened (%s)",
				 strerror(-err));
		free(l);
		return NULL;
	}
	l->session = s;
	l->run = run;
	l->style = style_of_terminal();
	l->utf8 = locale_is_utf8();
	view__init(&l->view);
	showing = l;
	log_set_sink(log_to_view);
	if (live__tick(l))
		return l;
	live__close(l);
	return NULL;
}

int live__fd(const struct live *l)
{
	return screen__fd(l->screen);
}

bool live__tick(struct live *l)
{
	int err = 0;

	if (!l)
		return true;
	if (!l->view.st.paused || !l->view.now)
		err = read_now(l);
	return goes_on(err ? err : draw(l));
}

bool live__event(struct live *l, bool *quit)
{
	struct screen_events ev;
	bool changed;
	int err;

	if (!l)
		return true;
	err = screen__poll(l->screen, &ev);
	changed = ev.redraw;
	for (u32 i = 0; i < ev.nr_keys && !err; i++) {
		enum view_answer answer = view__key(&l->view, ev.key[i]);

		changed |= answer != VIEW_IGNORED;
		*quit |= answer == VIEW_QUIT;
		if (answer == VIEW_REDRAW)
			screen__forget(l->screen);
	}
	if (!err && changed && !*quit)
		err = draw(l);
	return goes_on(err);
}

void live__close(struct live *l)
{
	if (!l)
		return;
	screen__close(l->screen);
	log_set_sink(NULL);
	showing = NULL;
	print_kept(l);
	view__fini(&l->view);
	free(l);
}
