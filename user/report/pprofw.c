// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pprofw.c - see pprofw.h. */
#include "report/pprofw.h"

#include <stdlib.h>
#include <string.h>

#include "capture/gz.h"
#include "model/model.h"
#include "model/text.h"

enum { /* field numbers */
       PROFILE_SAMPLE_TYPE = 1,
       PROFILE_SAMPLE = 2,
       PROFILE_LOCATION = 4,
       PROFILE_FUNCTION = 5,
       PROFILE_STRING = 6,
       PROFILE_TIME_NS = 9,
       PROFILE_DURATION_NS = 10,
       PROFILE_PERIOD_TYPE = 11,
       PROFILE_PERIOD = 12,
       PROFILE_COMMENT = 13,
       PROFILE_DEFAULT_TYPE = 14,
       VALUE_TYPE = 1,
       VALUE_UNIT = 2,
       SAMPLE_LOCATION = 1,
       SAMPLE_VALUE = 2,
       SAMPLE_LABEL = 3,
       LABEL_KEY = 1,
       LABEL_STR = 2,
       LABEL_NUM = 3,
       LABEL_UNIT = 4,
       LOCATION_ID = 1,
       LOCATION_LINE = 4,
       LINE_FUNCTION = 1,
       FUNCTION_ID = 1,
       FUNCTION_NAME = 2,
       FUNCTION_SYSTEM_NAME = 3,
       FUNCTION_FILE = 4,
};

/* ---- protobuf: a key is the field number << 3 | wire type, 0 varint or 2 bytes ---- */

static void put_varint(struct strbuf *b, u64 v)
{
	for (; v >= 0x80; v >>= 7)
		strbuf__addc(b, (char)(v | 0x80));
	strbuf__addc(b, (char)v);
}

static void put_u64(struct strbuf *b, u32 field, u64 v)
{
	put_varint(b, field << 3);
	put_varint(b, v);
}

static void put_bytes(struct strbuf *b, u32 field, const char *bytes, size_t len)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, len);
	strbuf__add(b, bytes, len);
}

/* A finished message as a field of the one around it. Its own errors go along. */
static void put_message(struct strbuf *b, u32 field, struct strbuf *msg)
{
	if (msg->err && !b->err)
		b->err = msg->err;
	put_bytes(b, field, msg->s, msg->len);
	strbuf__reset(msg);
}

/* Values are int64. */
static u64 value(u64 n)
{
	return n > INT64_MAX ? INT64_MAX : n;
}

/* ---- the profile ---- */

void pprofw__init(struct pprofw *p, size_t max)
{
	strbuf__init(&p->out, max);
	strbuf__init(&p->msg, max);
	strbuf__init(&p->sub, max);
	strbuf__init(&p->packed, max);
	p->nr_strings = 0;
	pprofw__string(p, "");
}

void pprofw__fini(struct pprofw *p)
{
	strbuf__fini(&p->out);
	strbuf__fini(&p->msg);
	strbuf__fini(&p->sub);
	strbuf__fini(&p->packed);
}

int pprofw__pack(struct pprofw *p, struct strbuf *out)
{
	char *packed;
	size_t len;
	int err = p->out.err;

	if (!err)
		err = gz_pack(p->out.s, p->out.len, &packed, &len);
	if (err)
		return err;
	strbuf__add(out, packed, len);
	free(packed);
	return 0;
}

u64 pprofw__string(struct pprofw *p, const char *s)
{
	put_bytes(&p->out, PROFILE_STRING, s, strlen(s));
	return p->nr_strings++;
}

static void put_type(struct pprofw *p, u32 field, u64 type, u64 unit)
{
	put_u64(&p->msg, VALUE_TYPE, type);
	put_u64(&p->msg, VALUE_UNIT, unit);
	put_message(&p->out, field, &p->msg);
}

void pprofw__sample_type(struct pprofw *p, u64 type, u64 unit)
{
	put_type(p, PROFILE_SAMPLE_TYPE, type, unit);
}

void pprofw__default_type(struct pprofw *p, u64 type)
{
	put_u64(&p->out, PROFILE_DEFAULT_TYPE, type);
}

void pprofw__period(struct pprofw *p, u64 type, u64 unit, u64 period)
{
	put_type(p, PROFILE_PERIOD_TYPE, type, unit);
	put_u64(&p->out, PROFILE_PERIOD, value(period));
}

void pprofw__time(struct pprofw *p, u64 begin_wall_ns, u64 duration_ns)
{
	if (begin_wall_ns != M_NONE)
		put_u64(&p->out, PROFILE_TIME_NS, value(begin_wall_ns));
	if (duration_ns != M_NONE)
		put_u64(&p->out, PROFILE_DURATION_NS, value(duration_ns));
}

void pprofw__comment(struct pprofw *p, u64 text)
{
	put_u64(&p->out, PROFILE_COMMENT, text);
}

/* Location and function of a frame have its index + 1 for an id: 0 is not allowed. */
void pprofw__frame(struct pprofw *p, u32 i, const char *name, const char *file)
{
	u64 name_str = pprofw__string(p, name), file_str = 0;
	struct strbuf path;

	if (file) {
		strbuf__init(&path, p->out.max);
		text_add_escaped(&path, file);
		file_str = pprofw__string(p, path.s ? path.s : "");
		strbuf__fini(&path);
	}
	put_u64(&p->msg, FUNCTION_ID, (u64)i + 1);
	put_u64(&p->msg, FUNCTION_NAME, name_str);
	put_u64(&p->msg, FUNCTION_SYSTEM_NAME, name_str);
	put_u64(&p->msg, FUNCTION_FILE, file_str);
	put_message(&p->out, PROFILE_FUNCTION, &p->msg);

	put_u64(&p->sub, LINE_FUNCTION, (u64)i + 1);
	put_u64(&p->msg, LOCATION_ID, (u64)i + 1);
	put_message(&p->msg, LOCATION_LINE, &p->sub);
	put_message(&p->out, PROFILE_LOCATION, &p->msg);
}

/* ---- a sample ---- */

void pprofw__stack_frame(struct pprofw *p, u32 i)
{
	put_varint(&p->packed, (u64)i + 1);
}

void pprofw__values(struct pprofw *p, const u64 *v, u32 nr)
{
	put_message(&p->msg, SAMPLE_LOCATION, &p->packed);
	for (u32 i = 0; i < nr; i++)
		put_varint(&p->packed, value(v[i]));
	put_message(&p->msg, SAMPLE_VALUE, &p->packed);
}

void pprofw__label(struct pprofw *p, u64 key, u64 str)
{
	put_u64(&p->sub, LABEL_KEY, key);
	put_u64(&p->sub, LABEL_STR, str);
	put_message(&p->msg, SAMPLE_LABEL, &p->sub);
}

void pprofw__label_num(struct pprofw *p, u64 key, u64 num, u64 unit)
{
	put_u64(&p->sub, LABEL_KEY, key);
	put_u64(&p->sub, LABEL_NUM, num);
	put_u64(&p->sub, LABEL_UNIT, unit);
	put_message(&p->msg, SAMPLE_LABEL, &p->sub);
}

void pprofw__end_sample(struct pprofw *p)
{
	put_message(&p->out, PROFILE_SAMPLE, &p->msg);
}
