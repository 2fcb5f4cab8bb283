// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * buildinfo.c - reads what `go version -m` prints. Which versions matter to whom is left to
 * registry.c and golayout.c.
 *
 * Format (debug/buildinfo/buildinfo.go, runtime/debug/mod.go, since Go 1.18): 16-byte aligned,
 *
 *	 0 "\xff Go buildinf:"; 14 u8 pointer size; 15 u8 flags (bit 1: strings follow inline)
 *	32 varint length, toolchain version; varint length, module text
 *
 * The module text lies between two 16-byte marks, one line each, fields separated by tabs: path,
 * mod and dep (path, version, sum), => (the same, replaces the line before), build (KEY=VALUE, either
 * quoted as a Go string when it holds blanks, quotes or line ends).
 */
#include "sym/buildinfo.h"

#include "util/array.h"
#include "util/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC	     "\xff Go buildinf:"
#define MAGIC_BYTES  14
#define HEADER_BYTES 32
#define ALIGN	     16
#define FLAG_INLINE  0x02
#define MARK_BYTES   16

#define TEXT_MAX     (16u << 20) /* kubelet's has 20 KB */
#define VERSION_MAX  256
#define LINES_MAX    100000

/* A piece of the text; not terminated. */
struct span {
	const char *s;
	size_t len;
};

static char *span_dup(struct span p)
{
	return strndup(p.s, p.len);
}

static bool span_is(struct span p, const char *word)
{
	return p.len == strlen(word) && !memcmp(p.s, word, p.len);
}

/* Takes the text up to sep (or all of it) off the front of *from. */
static struct span span_cut(struct span *from, char sep)
{
	const char *at = from->len ? memchr(from->s, sep, from->len) : NULL;
	struct span head = {from->s, at ? (size_t)(at - from->s) : from->len};
	size_t used = at ? head.len + 1 : head.len;

	from->s += used;
	from->len -= used;
	return head;
}

/* ---- the block ---- */

static const u8 *find_magic(const struct image *im, u64 off, u64 len, u64 vaddr, u64 *left)
{
	const u8 *base = image__bytes(im, off, len);
	u64 at = -vaddr & (ALIGN - 1);

	for (; base && at <= len && len - at >= HEADER_BYTES; at += ALIGN) {
		if (memcmp(base + at, MAGIC, MAGIC_BYTES))
			continue;
		*left = len - at;
		return base + at;
	}
	return NULL;
}

static const u8 *find_block(const struct image *im, u64 *left)
{
	const struct image_sect *s = image__section(im, ".go.buildinfo");
	const u8 *p = s ? find_magic(im, s->off, s->size, s->vaddr, left) : NULL;

	/* The linker puts it into writable data, early; other places only cost a look. */
	for (int write = 1; write >= 0; write--) {
		for (u32 i = 0; i < im->nr_segs && !p; i++) {
			const struct image_seg *g = &im->seg[i];

			if (!g->exec && g->write == !!write)
				p = find_magic(im, g->off, g->filesz, g->vaddr, left);
		}
	}
	return p;
}

/* Takes a varint-prefixed string off the front of *from. */
static int take_string(struct span *from, size_t max, struct span *out)
{
	u64 len = 0;
	u32 shift;

	for (shift = 0; shift < 63; shift += 7) {
		u8 b;

		if (!from->len)
			return -EBADMSG;
		b = (u8)*from->s++;
		from->len--;
		len |= (u64)(b & 0x7f) << shift;
		if (!(b & 0x80))
			break;
	}
	if (shift >= 63 || len > from->len || len > max)
		return -EBADMSG;
	*out = (struct span){from->s, len};
	from->s += len;
	from->len -= len;
	return 0;
}

/* ---- lines ---- */

/* "go1.26.8", "go1.26rc1", "go1.26.8-X:jsonv2", "go1.22.5 (Red Hat ...)" are 26 and 22. A
 * development version may have any layout: 0. */
static u32 minor_of(const char *version)
{
	const char *p = version;
	u32 minor = 0;

	if (strncmp(p, "go1.", 4) || strstr(version, "devel"))
		return 0;
	for (p += 4; *p >= '0' && *p <= '9' && minor < 1000; p++)
		minor = minor * 10 + (u32)(*p - '0');
	return *p && !strchr(".-+ rb", *p) ? 0 : minor;
}

struct builder {
	struct buildinfo *b;
	size_t cap_modules, cap_settings, nr_modules, nr_settings;
};

static int add_module(struct builder *w, struct span line)
{
	struct go_module *m;
	int err;

	err = array_grow((void **)&w->b->module, w->nr_modules, &w->cap_modules, sizeof(*m));
	if (err)
		return err;
	m = &w->b->module[w->nr_modules];
	m->path = span_dup(span_cut(&line, '\t'));
	m->version = span_dup(span_cut(&line, '\t'));
	w->nr_modules++;
	w->b->nr_modules = (u32)w->nr_modules;
	return m->path && m->version ? 0 : -ENOMEM;
}

/* The last module's code came from elsewhere; its packages keep their names. */
static int replace_module(struct builder *w, struct span line)
{
	char *version;

	if (!w->nr_modules)
		return -EBADMSG;
	span_cut(&line, '\t');
	version = span_dup(span_cut(&line, '\t'));
	if (!version)
		return -ENOMEM;
	free(w->b->module[w->nr_modules - 1].version);
	w->b->module[w->nr_modules - 1].version = version;
	return 0;
}

/* Length of the Go string literal at the front, quotes included; 0: none, or it does not end. */
static size_t quoted_len(struct span p)
{
	char quote = p.len ? *p.s : 0;

	if (quote != '"' && quote != '`')
		return 0;
	for (size_t i = 1; i < p.len; i++) {
		if (p.s[i] == '\\' && quote == '"')
			i++;
		else if (p.s[i] == quote)
			return i + 1;
	}
	return 0;
}

/* The text of a literal. Of the escapes only those are undone that stand for one printable byte:
 * settings are shown and compared, never executed. */
static char *unquote(struct span p)
{
	struct strbuf b;

	if (!quoted_len(p))
		return span_dup(p);
	strbuf__init(&b, p.len);
	for (size_t i = 1; i + 1 < p.len; i++) {
		if (p.s[0] == '"' && p.s[i] == '\\' && (p.s[i + 1] == '"' || p.s[i + 1] == '\\'))
			i++;
		strbuf__addc(&b, p.s[i]);
	}
	return strbuf__take(&b);
}

static int add_setting(struct builder *w, struct span line)
{
	struct go_setting *s;
	size_t quoted = quoted_len(line);
	struct span key = {line.s, quoted};
	int err;

	if (quoted) {
		line.s += quoted;
		line.len -= quoted;
		if (!line.len || *line.s != '=')
			return -EBADMSG;
		span_cut(&line, '=');
	} else {
		key = span_cut(&line, '=');
	}
	err = array_grow((void **)&w->b->setting, w->nr_settings, &w->cap_settings, sizeof(*s));
	if (err)
		return err;
	s = &w->b->setting[w->nr_settings];
	s->key = unquote(key);
	s->value = unquote(line);
	w->nr_settings++;
	w->b->nr_settings = (u32)w->nr_settings;
	return s->key && s->value ? 0 : -ENOMEM;
}

static int read_line(struct builder *w, struct span line)
{
	struct span word = span_cut(&line, '\t');

	if (span_is(word, "path") && !w->b->main_path) {
		w->b->main_path = span_dup(line);
		return w->b->main_path ? 0 : -ENOMEM;
	}
	if (span_is(word, "mod") || span_is(word, "dep"))
		return add_module(w, line);
	if (span_is(word, "=>"))
		return replace_module(w, line);
	if (span_is(word, "build"))
		return add_setting(w, line);
	return 0; /* of a later Go */
}

static int read_text(struct buildinfo *b, struct span text)
{
	struct builder w = {.b = b};
	u32 nr = 0;
	int err = 0;

	/* Without modules there is no text; without the marks it is none. */
	if (text.len < 2 * MARK_BYTES + 1 || text.s[text.len - MARK_BYTES - 1] != '\n')
		return 0;
	text.s += MARK_BYTES;
	text.len -= 2 * MARK_BYTES;
	while (text.len && !err) {
		if (++nr > LINES_MAX)
			return -EBADMSG;
		err = read_line(&w, span_cut(&text, '\n'));
	}
	return err;
}

int buildinfo__open(const struct image *im, struct buildinfo **out)
{
	struct span rest, version, text;
	struct buildinfo *b;
	const u8 *block;
	u64 left = 0;
	int err;

	block = find_block(im, &left);
	/* Before Go 1.18 the strings were pointed to; their function tables are not read either. */
	if (!block || !(block[15] & FLAG_INLINE))
		return -ENOENT;
	rest = (struct span){(const char *)block + HEADER_BYTES, left - HEADER_BYTES};
	err = take_string(&rest, VERSION_MAX, &version);
	if (!err)
		err = take_string(&rest, TEXT_MAX, &text);
	if (err)
		return err;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->go_version = span_dup(version);
	err = b->go_version ? read_text(b, text) : -ENOMEM;
	if (err) {
		buildinfo__close(b);
		return err;
	}
	b->go_minor = minor_of(b->go_version);
	*out = b;
	return 0;
}

void buildinfo__close(struct buildinfo *b)
{
	if (!b)
		return;
	for (u32 i = 0; i < b->nr_modules; i++) {
		free(b->module[i].path);
		free(b->module[i].version);
	}
	for (u32 i = 0; i < b->nr_settings; i++) {
		free(b->setting[i].key);
		free(b->setting[i].value);
	}
	free(b->module);
	free(b->setting);
	free(b->main_path);
	free(b->go_version);
	free(b);
}

/* ---- versions ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * The length of path if it is package or a folder above it; 0: neither. In symbols, dots of the last
 * element and some other bytes are written %xx (cmd/internal/objabi/path.go).
 */
static size_t path_holds(const char *path, const char *package)
{
	const char *p = path;

	for (; *p; p++, package++) {
		char c = *package;

		if (c == '%' && hex_digit(package[1]) >= 0 && hex_digit(package[2]) >= 0) {
			c = (char)(hex_digit(package[1]) << 4 | hex_digit(package[2]));
			package += 2;
		}
		if (c != *p)
			return 0;
	}
	return !*package || *package == '/' ? (size_t)(p - path) : 0;
}

/* Module paths that can be downloaded begin with a host name, so the library's never have a dot. */
static bool is_standard(const char *package)
{
	size_t first = strcspn(package, "/");

	return !memchr(package, '.', first) && !memchr(package, '%', first);
}

const char *buildinfo__version(const struct buildinfo *b, const char *package)
{
	const struct go_module *best = NULL;
	size_t best_len = 0;

	/* The program's own package is "main" in symbols. */
	if (!strcmp(package, "main") && b->main_path)
		package = b->main_path;
	for (u32 i = 0; i < b->nr_modules; i++) {
		size_t len = path_holds(b->module[i].path, package);

		if (len > best_len) {
			best = &b->module[i];
			best_len = len;
		}
	}
	if (best)
		return best->version[0] ? best->version : NULL;
	return is_standard(package) ? b->go_version : NULL;
}
