// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libcbor.c - calls of libcbor, for codecs_work.c. */
#include <cbor.h>

#include "../codecs_work.h"

static struct {
	cbor_item_t *value;
	unsigned char bytes[DOC_TEXT_MAX];
	size_t len;
} my;

const char *const work_codec = "libcbor";

static cbor_item_t *make(const struct doc *d);

static cbor_item_t *make_children(const struct doc *d)
{
	cbor_item_t *o = d->type == DOC_ARRAY ? cbor_new_definite_array((size_t)d->nr_children)
					      : cbor_new_definite_map((size_t)d->nr_children);
	bool good = true;

	for (const struct doc *c = d->child; c; c = c->next) {
		cbor_item_t *v = make(c);

		if (d->type == DOC_ARRAY)
			good = good && cbor_array_push(o, cbor_move(v));
		else
			good = good && cbor_map_add(o, (struct cbor_pair){
							       cbor_move(cbor_build_string(c->key)),
							       cbor_move(v)});
	}
	if (!good)
		truth_die("libcbor has no space");
	return o;
}

static cbor_item_t *make(const struct doc *d)
{
	switch (d->type) {
	case DOC_STRING:
		return cbor_build_string(d->text);
	case DOC_INT:
		return cbor_build_uint64((uint64_t)d->number);
	case DOC_TRUE:
		return cbor_build_bool(true);
	case DOC_NULL:
		return cbor_new_null();
	case DOC_OBJECT:
	case DOC_ARRAY:
		break;
	}
	return make_children(d);
}

const void *work_init(const struct work_doc *d)
{
	my.value = make(d->doc);
	my.len = cbor_serialize(my.value, my.bytes, sizeof(my.bytes));
	return (const void *)cbor_load;
}

static void load(struct work_call *c, size_t len)
{
	struct cbor_load_result r;
	cbor_item_t *v;

	c->start_ns = truth_now();
	v = cbor_load(my.bytes, len, &r);
	c->end_ns = truth_now();
	c->size = len;
	c->failed = !v;
	if (v && cbor_map_size(v) != cbor_map_size(my.value))
		truth_die("libcbor has decoded something else");
	if (v)
		cbor_decref(&v);
}

static void load_good(struct work_call *c)
{
	load(c, my.len);
}

static void load_spoilt(struct work_call *c)
{
	load(c, my.len - my.len / 3);
}

static void serialize(struct work_call *c)
{
	static unsigned char out[DOC_TEXT_MAX];

	c->start_ns = truth_now();
	c->size = cbor_serialize(my.value, out, sizeof(out));
	c->end_ns = truth_now();
	c->failed = !c->size;
}

/* Its calls of cbor_serialize() depend on how its buffer grows. */
static void serialize_alloc(struct work_call *c)
{
	unsigned char *out = NULL;
	size_t size;

	c->start_ns = truth_now();
	c->size = cbor_serialize_alloc(my.value, &out, &size);
	c->end_ns = truth_now();
	c->failed = !c->size;
	free(out);
}

const struct work_mode work_modes[] = {
	{"serialize", "encode", {{"cbor_serialize", WORK_PER_ITEM}}, serialize, NULL},
	{"alloc", "encode", {{"cbor_serialize_alloc", WORK_ONCE}}, serialize_alloc, NULL},
	{"load", "decode", {{"cbor_load", WORK_ONCE}}, load_good, load_spoilt},
	{NULL, NULL, {{NULL, WORK_ONCE}}, NULL, NULL},
};
