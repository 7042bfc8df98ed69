/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/page.h"

#include "../live/made_snapshot.h"
#include "base/sha256.h"
#include "cmocka_all.h"

#include <string.h>

static void the_page_shows_every_device_and_meter_and_asks_again(void **state)
{
	struct kwhy_text text = {0};

	(void)state;
	kwhy_page_write(made_snapshot(), "1.2.3", &text);
	assert_false(text.failed);
	assert_non_null(strstr(text.data, "http-equiv=\"refresh\""));
	assert_non_null(strstr(text.data, "<td>GPU 0 NVIDIA H200</td><td>359 W</td>"));
	assert_non_null(strstr(text.data, "<td>100 %</td><td>98 %</td><td>80.1 GB</td>"));
	assert_non_null(strstr(text.data, "<td>52 &deg;C</td>"));
	assert_non_null(strstr(text.data, "<td>rapl.package-0</td>"));
	assert_null(strstr(text.data, "nan"));
	kwhy_text_done(&text);
}

static void what_is_unknown_is_not_available(void **state)
{
	struct kwhy_text text = {0};

	(void)state;
	kwhy_page_write(made_snapshot_bare(), "1.2.3", &text);
	assert_non_null(strstr(text.data, "n/a"));
	assert_null(strstr(text.data, "nan"));
	kwhy_text_done(&text);
}

static void a_name_is_text_and_no_part_of_the_page(void **state)
{
	const struct kwhy_live_device device = {
		.name = "<script>a & b</script>", .index = 3, .mig_index = -1, .lost = true};
	const struct kwhy_live_snapshot snapshot = {.devices = &device, .device_count = 1};
	struct kwhy_text text = {0};

	(void)state;
	kwhy_page_write(&snapshot, "1.2.3", &text);
	assert_null(strstr(text.data, "<script>"));
	assert_non_null(strstr(text.data, "GPU 3 &lt;script&gt;a &amp; b&lt;/script&gt;, lost"));
	kwhy_text_done(&text);
}

static void a_gpu_that_was_divided_anew_says_so(void **state)
{
	const struct kwhy_live_device devices[] = {
		{.name = "whole", .mig_index = -1, .division = KWHY_DIVISION_OTHER},
		{.name = "part", .mig_index = 1, .lost = true}};
	const struct kwhy_live_snapshot snapshot = {.devices = devices, .device_count = 2};
	struct kwhy_text text = {0};

	(void)state;
	kwhy_page_write(&snapshot, "1.2.3", &text);
	assert_non_null(strstr(text.data, "GPU 0 whole, divided anew (MIG): restart"));
	assert_non_null(strstr(text.data, "GPU 0:1 part, gone"));
	kwhy_text_done(&text);
}

/*
 * Sets `out` to the SHA-256 of a style sheet in base64, as the page's Content-Security-Policy states it; 44
 * characters and a zero.
 */
static void state_hash(const char *style, size_t length, char out[45])
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char hash[KWHY_SHA256_BYTES + 1] = {0};
	struct kwhy_sha256 sum;

	kwhy_sha256_init(&sum);
	kwhy_sha256_add(&sum, style, length);
	kwhy_sha256_end(&sum, hash);
	for (int i = 0; i < 11; i++) {
		const unsigned word = (unsigned)hash[3 * i] << 16 | (unsigned)hash[3 * i + 1] << 8 |
			hash[3 * i + 2];

		for (int j = 0; j < 4; j++)
			out[4 * i + j] = digits[word >> (18 - 6 * j) & 63];
	}
	memcpy(out + 43, "=", 2);
}

static void the_policy_allows_the_pages_own_style_and_no_other(void **state)
{
	struct kwhy_text text = {0};
	const char *style;
	char hash[45];

	(void)state;
	kwhy_page_write(made_snapshot_bare(), "1.2.3", &text);
	style = strstr(text.data, "<style>") + strlen("<style>");
	state_hash(style, (size_t)(strstr(style, "</style>") - style), hash);
	if (!strstr(KWHY_PAGE_POLICY, hash))
		fail_msg("the style's hash is %s", hash);
	assert_null(strstr(KWHY_PAGE_POLICY, "unsafe"));
	assert_null(strstr(text.data, "style="));
	kwhy_text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_shows_every_device_and_meter_and_asks_again),
		cmocka_unit_test(what_is_unknown_is_not_available),
		cmocka_unit_test(the_policy_allows_the_pages_own_style_and_no_other),
		cmocka_unit_test(a_name_is_text_and_no_part_of_the_page),
		cmocka_unit_test(a_gpu_that_was_divided_anew_says_so),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
