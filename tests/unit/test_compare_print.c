// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_compare_print.c - what the table, the JSON document and the page say of a comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

#include <cjson/cJSON.h>

#include "tests/unit/compare_pair.h"

static char *print(const struct compare *c, enum compare_format format, u32 width)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(compare__print(c, format, width, f), 0);
	fclose(f);
	return text;
}

static void test_rows_of_both_come_first_and_the_dearest_of_them(void **state)
{
	struct pair p;

	pair__init(&p, 4, 30, 1000);
	free(p.r[1]->func[3].name);
	p.r[1]->func[3].name = strdup("elsewhere.org/fast.Marshal");
	m_dist__fini(&p.r[1]->row[2].dist[HB_DIST_LEAF]);
	p.r[1]->row[2].dist[HB_DIST_LEAF] = (struct m_dist){1000,	1ULL << 40, 1,
							    1ULL << 40, NULL,	    0};
	pair__build(&p, &pair_plain);
	assert_string_equal(p.c.row[0].key.name, "example.com/codec.Marshal002");
	/* The two that one side has: which is the dearer is a matter of their draws. */
	for (u32 i = 3; i < 5; i++)
		assert_true(!strcmp(p.c.row[i].key.name, "example.com/codec.Marshal003") ||
			    !strcmp(p.c.row[i].key.name, "elsewhere.org/fast.Marshal"));
	assert_int_equal(p.c.nr_common, 3);
	pair__fini(&p);
}

static void test_json_has_what_the_table_has(void **state)
{
	const cJSON *row, *metric, *side;
	struct pair p;
	cJSON *doc;
	char *text;

	pair__init(&p, 1, 30, 5000);
	pair__build(&p, &pair_plain);
	text = print(&p.c, COMPARE_JSON, 0);
	doc = cJSON_Parse(text);
	assert_non_null(doc);
	row = cJSON_GetArrayItem(cJSON_GetObjectItem(doc, "rows"), 0);
	metric = cJSON_GetArrayItem(cJSON_GetObjectItem(row, "metrics"), 1);
	assert_string_equal(cJSON_GetObjectItem(metric, "metric")->valuestring, "p50");
	side = cJSON_GetArrayItem(cJSON_GetObjectItem(metric, "sides"), 1);
	near(cJSON_GetObjectItem(side, "ratio")->valuedouble, cell(&p, "p50")->ratio, 1e-6);
	assert_string_equal(cJSON_GetObjectItem(side, "verdict")->valuestring,
			    "no difference shown");
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(doc, "fail_over")));
	cJSON_Delete(doc);
	free(text);
	pair__fini(&p);
}

static void test_html_escapes_names_and_needs_nothing_else(void **state)
{
	struct pair p;
	char *text;

	pair__init(&p, 1, 30, 5000);
	for (u32 k = 0; k < 2; k++) {
		free(p.r[k]->func[0].name);
		p.r[k]->func[0].name = strdup("<script>alert('\"&\x1b\xff\")</script>");
	}
	pair__build(&p, &pair_plain);
	text = print(&p.c, COMPARE_HTML, 0);
	assert_null(strstr(text, "<script"));
	assert_non_null(strstr(text, "&lt;script&gt;alert(&#39;&quot;&amp;\\x1b\\xff&quot;)"));
	assert_null(strstr(text, "http"));
	assert_null(strstr(text, "nan"));
	assert_non_null(strstr(text, "</html>\n"));
	free(text);
	pair__fini(&p);
}

static void test_no_line_of_the_table_is_wider_than_the_terminal(void **state)
{
	struct pair p;
	char *text, *save = NULL;

	pair__init(&p, 3, 30, 5000);
	p.r[1]->row[0].size_class = 12;
	pair__build(&p, &pair_plain);
	for (u32 width = 80; width <= 200; width += 40) {
		text = print(&p.c, COMPARE_TABLE, width);
		for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
			if (strlen(l) > width)
				fail_msg("%u columns: %s", width, l);
		free(text);
	}
	pair__fini(&p);
}

/* Two processes of the same calls, one after the other, beside each other, or at times not known. */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_of_both_come_first_and_the_dearest_of_them),
		cmocka_unit_test(test_json_has_what_the_table_has),
		cmocka_unit_test(test_html_escapes_names_and_needs_nothing_else),
		cmocka_unit_test(test_no_line_of_the_table_is_wider_than_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
