/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doc.h - the documents of docs.go for C and C++: a tree without a library, and its JSON text, so that
 * what is set up calls no codec. The data is that of Go, byte by byte of its JSON.
 */
#ifndef DOC_H
#define DOC_H

#include "truth.h"

#define DOC_TEXT_MAX 16384

enum doc_type { DOC_OBJECT, DOC_ARRAY, DOC_STRING, DOC_INT, DOC_TRUE, DOC_NULL };

struct doc {
	enum doc_type type;
	char key[16];
	char text[48];
	int64_t number;
	int nr_children;
	struct doc *child, *last, *next;
};

static inline struct doc *doc_new(struct doc *in, const char *key, enum doc_type type)
{
	struct doc *d = (struct doc *)calloc(1, sizeof(*d));

	if (!d)
		truth_die("out of memory");
	d->type = type;
	snprintf(d->key, sizeof(d->key), "%s", key ? key : "");
	if (!in)
		return d;
	if (in->last)
		in->last->next = d;
	else
		in->child = d;
	in->last = d;
	in->nr_children++;
	return d;
}

__attribute__((format(printf, 3, 4))) static inline void doc_string(struct doc *in, const char *key,
								    const char *fmt, ...)
{
	struct doc *d = doc_new(in, key, DOC_STRING);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d->text, sizeof(d->text), fmt, ap);
	va_end(ap);
}

static inline void doc_int(struct doc *in, const char *key, int64_t v)
{
	doc_new(in, key, DOC_INT)->number = v;
}

static inline struct doc *doc_heartbeat(void)
{
	struct doc *d = doc_new(NULL, NULL, DOC_OBJECT);

	doc_string(d, "node", "node-0017.rack-04");
	doc_string(d, "token", "f3a91c0e77d2440bb6c58a1e9d034b7c21d0e95a8");
	doc_int(d, "seq", 9000217);
	doc_int(d, "time", 1700000000123);
	doc_new(d, "alive", DOC_TRUE);
	return d;
}

static inline struct doc *doc_order(void)
{
	struct doc *d = doc_new(NULL, NULL, DOC_OBJECT), *lines, *line, *tags;

	doc_int(d, "id", 770021);
	doc_string(d, "customer", "customer-0042");
	doc_string(d, "currency", "EUR");
	lines = doc_new(d, "lines", DOC_ARRAY);
	for (int i = 0; i < 10; i++) {
		line = doc_new(lines, NULL, DOC_OBJECT);
		doc_string(line, "sku", "SKU-%05d", i * 7919);
		doc_string(line, "title", "article number %d of the list", i + 100);
		doc_int(line, "quantity", i + 1);
		doc_int(line, "cents", 1999 + i * 350);
		tags = doc_new(line, "tags", DOC_ARRAY);
		doc_string(tags, NULL, "new");
		doc_string(tags, NULL, "stock");
	}
	return d;
}

/* Four levels: the depth of the recursion is fixed. */
static inline void doc_device(struct doc *d, int levels, int *id)
{
	int self = ++*id;
	struct doc *list;

	doc_int(d, "id", self);
	doc_string(d, "name", "device-%04d", self);
	doc_string(d, "kind", "sensor-hub");
	list = doc_new(d, "readings", DOC_ARRAY);
	for (int i = 0; i < 5; i++)
		doc_int(list, NULL, self * 100 + i);
	list = doc_new(d, "children", levels ? DOC_ARRAY : DOC_NULL);
	for (int i = 0; levels && i < 4; i++)
		doc_device(doc_new(list, NULL, DOC_OBJECT), levels - 1, id);
}

static inline struct doc *doc_of_size(const char *size)
{
	struct doc *d;
	int id = 0;

	if (!strcmp(size, "heartbeat"))
		return doc_heartbeat();
	if (!strcmp(size, "order"))
		return doc_order();
	d = doc_new(NULL, NULL, DOC_OBJECT);
	if (!strcmp(size, "device"))
		doc_device(d, 3, &id);
	else
		doc_int(d, "a", 12345);
	return d;
}

/* Values, and the keys of objects if they count. */
static inline int doc_items(const struct doc *d, bool keys)
{
	int n = 1;

	for (const struct doc *c = d->child; c; c = c->next)
		n += doc_items(c, keys) + (keys && d->type == DOC_OBJECT);
	return n;
}

static inline int doc_objects(const struct doc *d)
{
	int n = d->type == DOC_OBJECT;

	for (const struct doc *c = d->child; c; c = c->next)
		n += doc_objects(c);
	return n;
}

static inline size_t doc_put(char *to, size_t at, const char *s)
{
	size_t len = strlen(s);

	if (at + len >= DOC_TEXT_MAX)
		truth_die("the document has more than %d bytes", DOC_TEXT_MAX);
	memcpy(to + at, s, len + 1);
	return at + len;
}

/* The JSON text of these documents: no escapes, whole numbers. Returns the end. */
static inline size_t doc_json(const struct doc *d, char *to, size_t at)
{
	static const char *const open[] = {"{", "["}, *const close[] = {"}", "]"};
	char number[24];

	switch (d->type) {
	case DOC_STRING:
		at = doc_put(to, at, "\"");
		at = doc_put(to, at, d->text);
		return doc_put(to, at, "\"");
	case DOC_INT:
		snprintf(number, sizeof(number), "%lld", (long long)d->number);
		return doc_put(to, at, number);
	case DOC_TRUE:
		return doc_put(to, at, "true");
	case DOC_NULL:
		return doc_put(to, at, "null");
	case DOC_OBJECT:
	case DOC_ARRAY:
		break;
	}
	at = doc_put(to, at, open[d->type]);
	for (const struct doc *c = d->child; c; c = c->next) {
		if (d->type == DOC_OBJECT) {
			at = doc_put(to, at, "\"");
			at = doc_put(to, at, c->key);
			at = doc_put(to, at, "\":");
		}
		at = doc_json(c, to, at);
		at = doc_put(to, at, c->next ? "," : "");
	}
	return doc_put(to, at, close[d->type]);
}

static inline const struct doc *doc_find(const struct doc *in, const char *key)
{
	const struct doc *c = in->child;

	while (c && strcmp(c->key, key))
		c = c->next;
	if (!c)
		truth_die("the document has no %s", key);
	return c;
}

#endif
