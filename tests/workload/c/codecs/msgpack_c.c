// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* msgpack_c.c - calls of msgpack-c, for codecs_work.c. */
#include <msgpack.h>

#include "../codecs_work.h"

static struct {
	msgpack_object value;
	msgpack_sbuffer bytes;
	char spoilt[DOC_TEXT_MAX];
} my;

const char *const work_codec = "msgpack-c";

static void *need(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		truth_die("out of memory");
	return p;
}

static void set_string(msgpack_object *o, const char *s)
{
	o->type = MSGPACK_OBJECT_STR;
	o->via.str.ptr = s;
	o->via.str.size = (uint32_t)strlen(s);
}

static void set(msgpack_object *o, const struct doc *d);

static void set_children(msgpack_object *o, const struct doc *d)
{
	uint32_t i = 0;

	if (d->type == DOC_ARRAY) {
		o->type = MSGPACK_OBJECT_ARRAY;
		o->via.array.size = (uint32_t)d->nr_children;
		o->via.array.ptr = need((size_t)d->nr_children, sizeof(msgpack_object));
	} else {
		o->type = MSGPACK_OBJECT_MAP;
		o->via.map.size = (uint32_t)d->nr_children;
		o->via.map.ptr = need((size_t)d->nr_children, sizeof(msgpack_object_kv));
	}
	for (const struct doc *c = d->child; c; c = c->next, i++) {
		if (d->type == DOC_ARRAY) {
			set(&o->via.array.ptr[i], c);
			continue;
		}
		set_string(&o->via.map.ptr[i].key, c->key);
		set(&o->via.map.ptr[i].val, c);
	}
}

static void set(msgpack_object *o, const struct doc *d)
{
	if (d->type == DOC_STRING) {
		set_string(o, d->text);
	} else if (d->type == DOC_INT) {
		o->type = MSGPACK_OBJECT_POSITIVE_INTEGER;
		o->via.u64 = (uint64_t)d->number;
	} else if (d->type == DOC_TRUE) {
		o->type = MSGPACK_OBJECT_BOOLEAN;
		o->via.boolean = true;
	} else if (d->type == DOC_NULL) {
		o->type = MSGPACK_OBJECT_NIL;
	} else {
		set_children(o, d);
	}
}

static void pack(struct work_call *c)
{
	msgpack_packer pk;
	int r;

	my.bytes.size = 0;
	msgpack_packer_init(&pk, &my.bytes, msgpack_sbuffer_write);
	c->start_ns = truth_now();
	r = msgpack_pack_object(&pk, my.value);
	c->end_ns = truth_now();
	c->failed = r < 0;
	c->size = my.bytes.size;
}

static void unpack_bytes(struct work_call *c, const char *bytes)
{
	msgpack_unpacked u;
	msgpack_unpack_return r;
	size_t at = 0;

	msgpack_unpacked_init(&u);
	c->start_ns = truth_now();
	r = msgpack_unpack_next(&u, bytes, my.bytes.size, &at);
	c->end_ns = truth_now();
	c->size = my.bytes.size;
	c->failed = r < 0;
	if (!c->failed && !msgpack_object_equal(u.data, my.value))
		truth_die("msgpack-c has decoded something else");
	msgpack_unpacked_destroy(&u);
}

static void unpack(struct work_call *c)
{
	unpack_bytes(c, my.bytes.data);
}

static void unpack_spoilt(struct work_call *c)
{
	unpack_bytes(c, my.spoilt);
}

const void *work_init(const struct work_doc *d)
{
	struct work_call c;

	set(&my.value, d->doc);
	msgpack_sbuffer_init(&my.bytes);
	pack(&c);
	memcpy(my.spoilt, my.bytes.data, my.bytes.size);
	my.spoilt[0] =
		(char)0xc1; /* never used, says the format; a part of a document is no error */
	return (const void *)msgpack_unpack_next;
}

const struct work_mode work_modes[] = {
	{"pack", "encode", {{"msgpack_pack_object", WORK_PER_ITEM}}, pack, NULL},
	{"unpack", "decode", {{"msgpack_unpack_next", WORK_ONCE}}, unpack, unpack_spoilt},
	{NULL, NULL, {{NULL, WORK_ONCE}}, NULL, NULL},
};
