// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * codectab.c - the codecs that are known without being told. Finding them in an image is left to
 * registry.c.
 *
 * The values are written by position, counted in words: the n-th word of the integer arguments (for
 * size_in) or results (for size_out and err), and become registers when the machine is known. A Go
 * string is two words, a slice three, an interface (any, error) two, a method's receiver comes first.
 *
 * Each entry was called 100 to 175 times at three payload sizes, and calls and sizes compared with
 * the truth: Go 1.26.8 (with and without GOEXPERIMENT=jsonv2), cJSON 1.7.15 of Debian 12.
 */
#include "sym/codectab.h"

#include <elf.h>
#include <errno.h>

#define WORD(n)                                  \
	{                                        \
		.kind = HB_VALUE_REG, .reg = (n) \
	}
#define STRLEN(n)                                   \
	{                                           \
		.kind = HB_VALUE_STRLEN, .reg = (n) \
	}

#define JSON(o, sym)                                                                         \
	.codec = "encoding/json", .library = "encoding/json", .lang = HB_LANG_GO, .op = (o), \
	.symbol = "encoding/json." sym
#define JSON2(o, sym)                                                                              \
	.codec = "encoding/json/v2", .library = "encoding/json/v2", .lang = HB_LANG_GO, .op = (o), \
	.symbol = "encoding/json/v2." sym
#define CJSON(o, sym) \
	.codec = "cJSON", .library = "libcjson", .lang = HB_LANG_NATIVE, .op = (o), .symbol = sym

#define GO_ERROR(n) .err = WORD(n), .err_kind = HB_ERR_NONZERO
#define C_NULL	    .err = WORD(0), .err_kind = HB_ERR_ZERO

#define WRITER	    "contains the writer's time"
#define READER	    "contains the reader's waiting time"

static const struct codec_entry entries[] = {
	/* func Marshal(v any) ([]byte, error) */
	{JSON("encode", "Marshal"), .size_out = WORD(1), GO_ERROR(3)},
	/* func MarshalIndent(v any, prefix, indent string) ([]byte, error); calls Marshal */
	{JSON("encode", "MarshalIndent"), .size_out = WORD(1), GO_ERROR(3)},
	/* func (enc *Encoder) Encode(v any) error: the size is in no register */
	{JSON("encode", "(*Encoder).Encode"), GO_ERROR(0), .note = WRITER},
	/* func Unmarshal(data []byte, v any) error */
	{JSON("decode", "Unmarshal"), .size_in = WORD(1), GO_ERROR(0)},
	/* func (dec *Decoder) Decode(v any) error */
	{JSON("decode", "(*Decoder).Decode"), GO_ERROR(0), .note = READER},
	/* func Valid(data []byte) bool: "not valid" is an answer, not an error */
	{JSON("validate", "Valid"), .size_in = WORD(1)},
	/* func Compact(dst *bytes.Buffer, src []byte) error */
	{JSON("compact", "Compact"), .size_in = WORD(2), GO_ERROR(0)},
	/* func Indent(dst *bytes.Buffer, src []byte, prefix, indent string) error */
	{JSON("indent", "Indent"), .size_in = WORD(2), GO_ERROR(0)},

	/*
	 * GOEXPERIMENT=jsonv2 makes encoding/json a layer above encoding/json/v2, and its Marshal
	 * and Unmarshal are inlined into their callers: these four remain.
	 *
	 * func Marshal(in any, opts ...Options) (out []byte, err error)
	 */
	{JSON2("encode", "Marshal"), .size_out = WORD(1), GO_ERROR(3)},
	/* func MarshalWrite(out io.Writer, in any, opts ...Options) (err error) */
	{JSON2("encode", "MarshalWrite"), GO_ERROR(0), .note = WRITER},
	/* func Unmarshal(in []byte, out any, opts ...Options) (err error) */
	{JSON2("decode", "Unmarshal"), .size_in = WORD(1), GO_ERROR(0)},
	/* func UnmarshalRead(in io.Reader, out any, opts ...Options) (err error) */
	{JSON2("decode", "UnmarshalRead"), GO_ERROR(0), .note = READER},

	/* cJSON *cJSON_Parse(const char *value): through the two Opts functions below; the last
	 * of them is told strlen(value) + 1. */
	{CJSON("decode", "cJSON_Parse"), .size_in = {.add = -1}, C_NULL},
	/* (const char *value, const char **return_parse_end, cJSON_bool require_null_terminated) */
	{CJSON("decode", "cJSON_ParseWithOpts"), .size_in = {.add = -1}, C_NULL},
	/* (const char *value, size_t buffer_length) */
	{CJSON("decode", "cJSON_ParseWithLength"), .size_in = WORD(1), C_NULL},
	/* (const char *value, size_t buffer_length, const char **, cJSON_bool) */
	{CJSON("decode", "cJSON_ParseWithLengthOpts"), .size_in = WORD(1), C_NULL},
	/* char *cJSON_Print(const cJSON *item) */
	{CJSON("encode", "cJSON_Print"), .size_out = STRLEN(0), C_NULL},
	{CJSON("encode", "cJSON_PrintUnformatted"), .size_out = STRLEN(0), C_NULL},
	/* char *cJSON_PrintBuffered(const cJSON *item, int prebuffer, cJSON_bool fmt) */
	{CJSON("encode", "cJSON_PrintBuffered"), .size_out = STRLEN(0), C_NULL},
	/*
	 * cJSON_bool cJSON_PrintPreallocated(cJSON *item, char *buffer, int length, cJSON_bool fmt):
	 * the text is in the caller's buffer, whose register is gone at the return.
	 */
	{CJSON("encode", "cJSON_PrintPreallocated"), .err = WORD(0), .err_kind = HB_ERR_ZERO32},
};

/* ---- registers ---- */

#define WORDS_MAX 5
#define NO_REG	  0xff

/* By position: what the calling conventions say, as far as registers 0..7 are tracked. Go:
 * src/cmd/compile/abi-internal.md; C: System V psABI. */
static const u8 amd64_go[WORDS_MAX] = {0, 3, 1, 7, 6};		/* AX BX CX DI SI */
static const u8 amd64_c_args[WORDS_MAX] = {7, 6, 2, 1, NO_REG}; /* DI SI DX CX */
static const u8 amd64_c_results[WORDS_MAX] = {0, 2, NO_REG, NO_REG, NO_REG};
static const u8 arm64_all[WORDS_MAX] = {0, 1, 2, 3, 4};

static const u8 *reg_order(u16 e_machine, enum hb_lang lang, bool results)
{
	if (e_machine == EM_AARCH64)
		return arm64_all;
	if (lang == HB_LANG_GO)
		return amd64_go;
	return results ? amd64_c_results : amd64_c_args;
}

static int place(struct hb_value *v, const u8 *order)
{
	if (v->kind == HB_VALUE_NONE)
		return 0;
	if (v->reg >= WORDS_MAX || order[v->reg] == NO_REG)
		return -ENOTSUP;
	v->reg = order[v->reg];
	return 0;
}

size_t codectab_size(void)
{
	return sizeof(entries) / sizeof(entries[0]);
}

int codectab_entry(size_t i, u16 e_machine, struct codec_entry *out)
{
	struct codec_entry e = entries[i];
	const u8 *args = reg_order(e_machine, e.lang, false);
	const u8 *results = reg_order(e_machine, e.lang, true);
	int err;

	if (e_machine != EM_X86_64 && e_machine != EM_AARCH64)
		return -ENOTSUP;
	err = place(&e.size_in, args);
	if (!err)
		err = place(&e.size_out, results);
	if (!err)
		err = place(&e.err, results);
	if (!err)
		*out = e;
	return err;
}
