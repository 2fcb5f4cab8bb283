// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* check.c - `hbprof check`: prints what trace/feat finds out, and the verdict. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hbprof/version.h>

#include "capture/host.h"
#include "cmd/cmd.h"
#include "model/jsonw.h"
#include "model/text.h"
#include "trace/feat.h"
#include "util/log.h"

#define MAX_OUTPUT (1u << 20)
#define NAME_WIDTH 24

enum { OPT_JSON = 0x100 };

static const struct argp_option options[] = {
	{"json", OPT_JSON, NULL, 0, "Print a JSON document instead of a table", 1},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case OPT_JSON:
		*(bool *)state->input = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.doc = "Say what hbprof can measure on this machine, as this user, and what to do about the "
	       "rest.\v"
	       "Exit status: 0 hbprof can measure here, 1 it cannot, 2 usage.",
};

struct check {
	struct feat_item *item;
	size_t nr;
	struct m_host host;
	u32 count[FEAT_RESULT_NR];
	u32 fail_as_root, unknown_as_root; /* of these: root would change it */
	bool root;
};

static int check__read(struct check *c)
{
	int err = feat__check(&c->item, &c->nr);

	if (!err)
		err = host__read("", &c->host);
	for (size_t i = 0; !err && i < c->nr; i++) {
		const struct feat_item *it = &c->item[i];

		c->count[it->result]++;
		c->fail_as_root += it->result == FEAT_FAIL && it->as_root;
		c->unknown_as_root += it->result == FEAT_UNKNOWN && it->as_root;
	}
	c->root = !geteuid();
	return err;
}

static void check__fini(struct check *c)
{
	for (u32 i = 0; i < c->host.nr_facts; i++) {
		free(c->host.fact[i].key);
		free(c->host.fact[i].value);
	}
	free(c->host.fact);
	free(c->item);
}

static bool can_measure(const struct check *c)
{
	return !c->count[FEAT_FAIL];
}

static void add_line(struct strbuf *b, const char *what, const char *text)
{
	strbuf__addf(b, "%-7s %-*s ", "", NAME_WIDTH, "");
	strbuf__addf(b, "%s", what);
	text_add_escaped(b, text);
	strbuf__addc(b, '\n');
}

static void add_item(struct strbuf *b, const struct feat_item *it)
{
	strbuf__addf(b, "%-7s %-*s ", feat_result_names[it->result], NAME_WIDTH, it->name);
	text_add_escaped(b, it->detail);
	strbuf__addc(b, '\n');
	if (it->result == FEAT_OK)
		return;
	add_line(b, "for: ", it->need);
	if (it->remedy[0])
		add_line(b, "remedy: ", it->remedy);
}

static void add_verdict(struct strbuf *b, const struct check *c)
{
	u32 others = c->count[FEAT_FAIL] - c->fail_as_root;

	if (can_measure(c)) {
		strbuf__addf(b,
			     "hbprof can measure here%s: %u ok, %u with less than all, %u not "
			     "known.\n",
			     c->root ? "" : " as this user", c->count[FEAT_OK], c->count[FEAT_WARN],
			     c->count[FEAT_UNKNOWN]);
		return;
	}
	strbuf__addf(b, "hbprof cannot measure here%s: see the %u item%s above that fail%s.\n",
		     c->root ? "" : " as this user", c->count[FEAT_FAIL],
		     c->count[FEAT_FAIL] == 1 ? "" : "s", c->count[FEAT_FAIL] == 1 ? "s" : "");
	if (c->root)
		return;
	if (others)
		strbuf__addf(b, "Root would not change %u of them.\n", others);
	else
		strbuf__adds(b, "Root would lack none of what could be seen from here");
	if (!others && c->unknown_as_root)
		strbuf__addf(b, "; %u things only root can try: sudo hbprof check",
			     c->unknown_as_root);
	if (!others)
		strbuf__adds(b, ".\n");
}

static void print_table(struct strbuf *b, const struct check *c)
{
	for (u32 i = 0; i < c->host.nr_facts; i++) {
		const struct m_kv *f = &c->host.fact[i];

		if (strcmp(f->key, "cpu_model") && strcmp(f->key, "arch") &&
		    strcmp(f->key, "virtualization"))
			continue;
		strbuf__addf(b, "%s%s", b->len ? ", " : "",
			     strcmp(f->key, "virtualization") ? "" : "virtualization ");
		text_add_escaped(b, f->value);
	}
	strbuf__adds(b, "\n\n");
	for (size_t i = 0; i < c->nr; i++)
		add_item(b, &c->item[i]);
	strbuf__addc(b, '\n');
	add_verdict(b, c);
}

static void print_json(struct strbuf *b, const struct check *c)
{
	struct jsonw w;

	jsonw__init(&w, b, true);
	jsonw__object(&w, NULL);
	jsonw__str(&w, "hbprof", HBPROF_VERSION);
	jsonw__bool(&w, "can_measure", can_measure(c));
	jsonw__bool(&w, "root", c->root);
	jsonw__array(&w, "checks");
	for (size_t i = 0; i < c->nr; i++) {
		const struct feat_item *it = &c->item[i];

		jsonw__object(&w, NULL);
		jsonw__str(&w, "name", it->name);
		jsonw__str(&w, "needed_for", it->need);
		jsonw__str(&w, "result", feat_result_names[it->result]);
		jsonw__str(&w, "detail", it->detail);
		jsonw__str(&w, "remedy", it->remedy[0] ? it->remedy : NULL);
		jsonw__bool(&w, "root_would_change_it", it->as_root);
		jsonw__end_object(&w);
	}
	jsonw__end_array(&w);
	jsonw__object(&w, "host");
	for (u32 i = 0; i < c->host.nr_facts; i++)
		jsonw__str(&w, c->host.fact[i].key, c->host.fact[i].value);
	jsonw__end_object(&w);
	jsonw__end_object(&w);
	strbuf__addc(b, '\n');
}

int cmd_check(int argc, char **argv)
{
	struct check c = {0};
	struct strbuf b;
	bool json = false;
	int err, status = EXIT_FAILED;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &json);
	strbuf__init(&b, MAX_OUTPUT);
	err = check__read(&c);
	if (!err) {
		if (json)
			print_json(&b, &c);
		else
			print_table(&b, &c);
		err = b.err;
	}
	if (err) {
		log_err("cannot check this machine: %s", strerror(-err));
	} else {
		fputs(b.s, stdout);
		status = can_measure(&c) ? EXIT_DONE : EXIT_FAILED;
	}
	strbuf__fini(&b);
	check__fini(&c);
	return status;
}
