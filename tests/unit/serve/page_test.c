/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/page.h"

#include "../live/made_snapshot.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_shows_every_device_and_meter_and_asks_again),
		cmocka_unit_test(what_is_unknown_is_not_available),
		cmocka_unit_test(a_name_is_text_and_no_part_of_the_page),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
