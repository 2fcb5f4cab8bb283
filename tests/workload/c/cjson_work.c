// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cjson_work.c - calls of libcjson. What is set up before the run goes through functions of cJSON
 * that no profiler of codecs probes, so that every probed call is one that is counted here.
 */
#include <cjson/cJSON.h>
#include "../lib/truth.h"

#define TEXT_MAX 16384

static struct {
	cJSON *tree;
	char text[TEXT_MAX]; /* as cJSON_PrintUnformatted() writes the tree */
	size_t len;
	char broken[TEXT_MAX];
	uint64_t sum;
	struct truth_func *parse, *parse_opts, *parse_len, *parse_len_opts, *print, *unformatted;
} work;

/* ---- documents ------------------------------------------------------------------------------ */

static cJSON *new_heartbeat(void)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "node", "node-0017.rack-04");
	cJSON_AddStringToObject(o, "token", "f3a91c0e77d2440bb6c58a1e9d034b7c21d0e95a8");
	cJSON_AddNumberToObject(o, "seq", 9000217);
	cJSON_AddNumberToObject(o, "time", 1700000123);
	cJSON_AddTrueToObject(o, "alive");
	return o;
}

static cJSON *new_order(void)
{
	cJSON *o = cJSON_CreateObject(), *lines, *line, *tags;
	char text[64];

	cJSON_AddNumberToObject(o, "id", 770021);
	cJSON_AddStringToObject(o, "customer", "customer-0042");
	cJSON_AddStringToObject(o, "currency", "EUR");
	lines = cJSON_AddArrayToObject(o, "lines");
	for (int i = 0; i < 10; i++) {
		line = cJSON_CreateObject();
		snprintf(text, sizeof(text), "SKU-%05d", i * 7919);
		cJSON_AddStringToObject(line, "sku", text);
		snprintf(text, sizeof(text), "article number %d of the list", i + 100);
		cJSON_AddStringToObject(line, "title", text);
		cJSON_AddNumberToObject(line, "quantity", i + 1);
		cJSON_AddNumberToObject(line, "cents", 1999 + i * 350);
		tags = cJSON_AddArrayToObject(line, "tags");
		cJSON_AddItemToArray(tags, cJSON_CreateString("new"));
		cJSON_AddItemToArray(tags, cJSON_CreateString("stock"));
		cJSON_AddItemToArray(lines, line);
	}
	return o;
}

static cJSON *new_device(int levels, int *id)
{
	cJSON *o = cJSON_CreateObject(), *list;
	char text[32];
	int self = ++*id;

	snprintf(text, sizeof(text), "device-%04d", self);
	cJSON_AddNumberToObject(o, "id", self);
	cJSON_AddStringToObject(o, "name", text);
	cJSON_AddStringToObject(o, "kind", "sensor-hub");
	list = cJSON_AddArrayToObject(o, "readings");
	for (int i = 0; i < 5; i++)
		cJSON_AddItemToArray(list, cJSON_CreateNumber(self * 100 + i));
	list = cJSON_AddArrayToObject(o, "children");
	for (int i = 0; levels && i < 4; i++)
		cJSON_AddItemToArray(list, new_device(levels - 1, id));
	return o;
}

static cJSON *new_doc(const char *size)
{
	int id = 0;
	cJSON *o;

	if (!strcmp(size, "heartbeat"))
		return new_heartbeat();
	if (!strcmp(size, "order"))
		return new_order();
	if (!strcmp(size, "device"))
		return new_device(3, &id);
	o = cJSON_CreateObject();
	cJSON_AddNumberToObject(o, "a", 12345);
	return o;
}

static char *write_item(char *at, const char *end, const cJSON *item);

static char *put(char *at, const char *end, const char *s)
{
	size_t len = strlen(s);

	if (len >= (size_t)(end - at))
		truth_die("the document has more than %d bytes", TEXT_MAX);
	memcpy(at, s, len + 1);
	return at + len;
}

static char *write_children(char *at, const char *end, const cJSON *item)
{
	bool object = cJSON_IsObject(item);

	at = put(at, end, object ? "{" : "[");
	for (const cJSON *c = item->child; c; c = c->next) {
		if (object) {
			at = put(at, end, "\"");
			at = put(at, end, c->string);
			at = put(at, end, "\":");
		}
		at = write_item(at, end, c);
		if (c->next)
			at = put(at, end, ",");
	}
	return put(at, end, object ? "}" : "]");
}

/* A writer of our own for these documents: no escapes, whole numbers. */
static char *write_item(char *at, const char *end, const cJSON *item)
{
	char number[16];

	if (cJSON_IsString(item)) {
		at = put(at, end, "\"");
		at = put(at, end, item->valuestring);
		return put(at, end, "\"");
	}
	if (cJSON_IsNumber(item)) {
		snprintf(number, sizeof(number), "%d", item->valueint);
		return put(at, end, number);
	}
	if (cJSON_IsBool(item))
		return put(at, end, cJSON_IsTrue(item) ? "true" : "false");
	return write_children(at, end, item);
}

/* The values, not valueint: only the parser sets that of a true. */
static uint64_t sum_item(const cJSON *item)
{
	uint64_t sum = (uint64_t)item->type;

	if (cJSON_IsNumber(item))
		sum += (uint64_t)item->valueint;
	if (item->valuestring)
		sum += strlen(item->valuestring);
	for (const cJSON *c = item->child; c; c = c->next)
		sum = sum * 31 + sum_item(c);
	return sum;
}

static void work_init(struct truth *t)
{
	work.tree = new_doc(t->opt.size);
	work.len = (size_t)(write_item(work.text, work.text + TEXT_MAX, work.tree) - work.text);
	memcpy(work.broken, work.text, work.len);
	work.broken[work.len - 1] = 0;
	work.sum = sum_item(work.tree);
}

/* ---- calls ---------------------------------------------------------------------------------- */

static uint64_t check_parsed(cJSON *item)
{
	uint64_t sum = sum_item(item);

	if (sum != work.sum)
		truth_die("the parsed document is not the one that was written");
	cJSON_Delete(item);
	return sum;
}

/* cJSON_Parse() calls ParseWithOpts(), and that ParseWithLengthOpts(): 1.7.15, cJSON.c. */
static cJSON *parse(const char *text, size_t len)
{
	uint64_t t0, t1;
	cJSON *item;

	truth_enter(work.parse);
	truth_enter(work.parse_opts);
	truth_enter(work.parse_len_opts);
	t0 = truth_now();
	item = cJSON_Parse(text);
	t1 = truth_now();
	truth_return(work.parse, t1 - t0, len, !item);
	return item;
}

static uint64_t step_parse(struct truth *t, int i)
{
	cJSON *item = parse(work.text, work.len);

	if (!item)
		truth_die("cJSON_Parse failed");
	return check_parsed(item);
}

static uint64_t step_parse_len(struct truth *t, int i)
{
	uint64_t t0, t1;
	cJSON *item;

	truth_enter(work.parse_len);
	truth_enter(work.parse_len_opts);
	t0 = truth_now();
	item = cJSON_ParseWithLength(work.text, work.len);
	t1 = truth_now();
	truth_return(work.parse_len, t1 - t0, work.len, !item);
	if (!item)
		truth_die("cJSON_ParseWithLength failed");
	return check_parsed(item);
}

/* Every third document is cut off. */
static uint64_t step_parse_err(struct truth *t, int i)
{
	if (i % 3 != 2)
		return step_parse(t, i);
	if (parse(work.broken, work.len - 1))
		truth_die("a broken document was parsed");
	return 1;
}

static uint64_t printed(struct truth_func *f, char *text, uint64_t ns)
{
	size_t len = text ? strlen(text) : 0;
	uint64_t sum;

	if (!text)
		truth_die("%s failed", f->name);
	truth_return(f, ns, len, false);
	sum = truth_hash(text, len);
	cJSON_free(text);
	return sum;
}

static uint64_t step_print(struct truth *t, int i)
{
	uint64_t t0, t1;
	char *text;

	truth_enter(work.print);
	t0 = truth_now();
	text = cJSON_Print(work.tree);
	t1 = truth_now();
	return printed(work.print, text, t1 - t0);
}

static uint64_t step_unformatted(struct truth *t, int i)
{
	uint64_t t0, t1;
	char *text;

	truth_enter(work.unformatted);
	t0 = truth_now();
	text = cJSON_PrintUnformatted(work.tree);
	t1 = truth_now();
	if (text && strcmp(text, work.text))
		truth_die("cJSON wrote %s", text);
	return printed(work.unformatted, text, t1 - t0);
}

static uint64_t step_all(struct truth *t, int i)
{
	return step_parse(t, i) + step_parse_len(t, i) + step_print(t, i) + step_unformatted(t, i);
}

static const struct {
	const char *name;
	truth_step step;
	bool parse, parse_len, print, unformatted;
	int threads;
} modes[] = {
	{"parse", step_parse, .parse = true},
	{"parselen", step_parse_len, .parse_len = true},
	{"parseerr", step_parse_err, .parse = true},
	{"print", step_print, .print = true},
	{"printunformatted", step_unformatted, .unformatted = true},
	{"threads", step_all, true, true, true, true, .threads = 4},
};

#define NR_MODES (sizeof(modes) / sizeof(modes[0]))

static void add_funcs(struct truth *t, size_t mode)
{
	if (modes[mode].parse) {
		work.parse = truth_func_new(t, "cJSON", "decode", "cJSON_Parse");
		work.parse_opts = truth_func_new(t, "cJSON", "decode", "cJSON_ParseWithOpts");
	}
	if (modes[mode].parse_len)
		work.parse_len = truth_func_new(t, "cJSON", "decode", "cJSON_ParseWithLength");
	if (modes[mode].parse || modes[mode].parse_len)
		work.parse_len_opts = truth_func_new(t, "cJSON", "decode",
						     "cJSON_ParseWithLengthOpts");
	if (modes[mode].print)
		work.print = truth_func_new(t, "cJSON", "encode", "cJSON_Print");
	if (modes[mode].unformatted)
		work.unformatted = truth_func_new(t, "cJSON", "encode", "cJSON_PrintUnformatted");
}

int main(int argc, char **argv)
{
	static const char *names[NR_MODES + 1];
	static struct truth t;

	for (size_t i = 0; i < NR_MODES; i++)
		names[i] = modes[i].name;
	truth_init(&t, argc, argv, names);
	work_init(&t);
	for (size_t i = 0; i < NR_MODES; i++) {
		if (strcmp(modes[i].name, t.opt.mode))
			continue;
		add_funcs(&t, i);
		truth_start(&t);
		truth_run(&t, t.opt.g ? t.opt.g : modes[i].threads, modes[i].step);
	}
	truth_finish(&t);
	cJSON_Delete(work.tree);
	return 0;
}
