/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/ledger.h"
#include "report/json/writer.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static void containers_nest_and_values_keep_their_types(void **state)
{
	struct kwhy_text out = {0};
	struct kwhy_json json;

	(void)state;
	kwhy_json_init(&json, &out);
	kwhy_json_object(&json, NULL);
	kwhy_json_int(&json, "least", INT64_MIN + 1);
	kwhy_json_array(&json, "rows");
	kwhy_json_row(&json, NULL);
	kwhy_json_count(&json, "count", 7);
	kwhy_json_list(&json, "list");
	kwhy_json_index(&json, NULL, 3);
	kwhy_json_array_end(&json);
	kwhy_json_bool(&json, "yes", true);
	kwhy_json_object_end(&json);
	kwhy_json_array_end(&json);
	kwhy_json_array(&json, "empty");
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
	assert_string_equal(out.data,
		"{\n\t\"least\": -9223372036854775807,\n\t\"rows\": [\n"
		"\t\t{\"count\": 7, \"list\": [3], \"yes\": true}\n\t],\n\t\"empty\": []\n}\n");
	kwhy_text_done(&out);
}

static void what_is_unknown_is_null(void **state)
{
	struct kwhy_text out = {0};
	struct kwhy_json json;

	(void)state;
	kwhy_json_init(&json, &out);
	kwhy_json_list(&json, NULL);
	kwhy_json_known(&json, NULL, KWHY_UNKNOWN_NJ);
	kwhy_json_index(&json, NULL, KWHY_NONE);
	kwhy_json_bytes(&json, NULL, KWHY_UNKNOWN_BYTES);
	kwhy_json_real(&json, NULL, NAN);
	kwhy_json_real(&json, NULL, INFINITY);
	kwhy_json_string(&json, NULL, NULL);
	kwhy_json_array_end(&json);
	assert_string_equal(out.data, "[null, null, null, null, null, null]\n");
	kwhy_text_done(&out);
}

static void any_bytes_become_a_string_that_parses(void **state)
{
	static const char *const cases[] = {"quote \" backslash \\ slash /", "tab\tnewline\nnul",
		"\x01\x1F\x7F", "\xFF\xC0\x80 broken", "\xE2\x80\xA8 line separator", "\xF0\x9F\x98\x80", ""};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_text out = {0};
		struct kwhy_json json;
		json_error_t where;
		json_t *root;

		kwhy_json_init(&json, &out);
		kwhy_json_object(&json, NULL);
		kwhy_json_string(&json, "s", cases[i]);
		kwhy_json_object_end(&json);
		root = json_loads(out.data, 0, &where);

		assert_non_null(root);
		if (kwhy_text_is_clean(cases[i], strlen(cases[i])))
			assert_string_equal(json_string_value(json_object_get(root, "s")), cases[i]);
		json_decref(root);
		kwhy_text_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(containers_nest_and_values_keep_their_types),
		cmocka_unit_test(what_is_unknown_is_null),
		cmocka_unit_test(any_bytes_become_a_string_that_parses),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
