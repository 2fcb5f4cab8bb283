// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * native.c - a codec in C, called by a Go program: through the PLT of the executable, or by pointer.
 */
#include <stdbool.h>
#include <cjson/cJSON.h>

int parse_native(const char *text, int by_pointer);

static cJSON *(*volatile pointer)(const char *text) = cJSON_Parse;

int parse_native(const char *text, int by_pointer)
{
	cJSON *item = by_pointer ? pointer(text) : cJSON_Parse(text);
	bool parsed = item;

	cJSON_Delete(item);
	return parsed;
}
