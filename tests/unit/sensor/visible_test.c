/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "sensor/visible.h"

#include <stdlib.h>
#include <string.h>

#define H200 "NVIDIA H200"

static const struct kwhy_visible_unit equal[] = {
	{.gpu = 0, .name = H200, .uuid = "GPU-11112222-aaaa"},
	{.gpu = 1, .name = H200, .uuid = "GPU-11113333-bbbb"},
	{.gpu = 2, .name = H200, .uuid = "GPU-44445555-cccc"},
};
static const struct kwhy_visible_unit mixed[] = {
	{.gpu = 0, .name = "NVIDIA T4", .uuid = "GPU-aa"},
	{.gpu = 1, .name = H200, .uuid = "GPU-bb"},
};
static const struct kwhy_visible_unit divided[] = {
	{.gpu = 0, .name = H200, .uuid = "GPU-aa"},
	{.gpu = 1, .name = H200, .uuid = "GPU-bb"},
	{.gpu = 1, .is_instance = true, .name = H200 " MIG 1g.18gb", .uuid = "MIG-cc"},
	{.gpu = 1, .is_instance = true, .name = H200 " MIG 1g.18gb", .uuid = "MIG-dd"},
};

/*
 * Returns the driver's numbers of the GPUs that `visible`, a value of CUDA_VISIBLE_DEVICES, leaves visible,
 * such as "0, 2"; "": none; "?": the list has numbers that may differ from the driver's. by_bus: CUDA numbers
 * GPUs by PCI bus. Valid until the next call.
 */
static const char *look(const struct kwhy_visible_unit *units, size_t count, const char *visible, bool by_bus)
{
	const struct kwhy_sensor_request request = {.visible = visible, .visible_by_bus = by_bus};
	static char shown[100];
	bool seen[KWHY_SENSOR_INDEX_MAX + 1] = {false};
	bool known = kwhy_visible_find(&request, units, count, seen);

	kwhy_sensor_indices_write(seen, shown, sizeof(shown));
	if (known)
		return shown;
	assert_string_equal(shown, "");
	return "?";
}

#define LOOK(units, ...) look(units, sizeof(units) / sizeof(*(units)), __VA_ARGS__)

static void numbers_show_gpus_that_are_alike_in_any_order(void **state)
{
	(void)state;
	assert_string_equal(LOOK(equal, "1", false), "1");
	assert_string_equal(LOOK(equal, "2,0", false), "0, 2");
	assert_string_equal(LOOK(equal, " 1 , 2", false), "1 to 2");
	assert_string_equal(LOOK(equal, "1,1,", true), "1");
}

static void an_empty_list_shows_nothing(void **state)
{
	(void)state;
	assert_string_equal(LOOK(equal, "", false), "");
	assert_string_equal(LOOK(equal, "NoDevFiles", false), "");
	assert_string_equal(LOOK(equal, "-1", false), "");
}

static void nothing_is_seen_behind_an_entry_that_fits_no_gpu(void **state)
{
	(void)state;
	assert_string_equal(LOOK(equal, "0,2,-1,1", false), "0, 2");
	assert_string_equal(LOOK(equal, "0,7,1", false), "0");
	assert_string_equal(LOOK(equal, "0,,1", false), "0");
	assert_string_equal(LOOK(equal, "0,1x", false), "0");
	assert_string_equal(LOOK(equal, "0,4294967297", false), "0");
	assert_string_equal(LOOK(equal, "GPU-4,GPU-nobody,0", false), "2");
}

static void uuids_may_be_cut_short_as_long_as_they_fit_one_gpu(void **state)
{
	(void)state;
	assert_string_equal(LOOK(equal, "GPU-11113333-bbbb", false), "1");
	assert_string_equal(LOOK(equal, "GPU-4444,GPU-11112", false), "0, 2");
	assert_string_equal(LOOK(equal, "GPU-1111", false), "");
	assert_string_equal(LOOK(equal, "GPU-", false), "");
}

static void an_instance_shows_the_gpu_that_it_is_part_of(void **state)
{
	(void)state;
	assert_string_equal(LOOK(divided, "MIG-dd", false), "1");
	assert_string_equal(LOOK(divided, "MIG-GPU-aa/3/0", false), "0");
	assert_string_equal(LOOK(divided, "MIG-ee", false), "");
}

static void numbers_of_gpus_that_differ_are_known_in_the_order_of_the_bus_alone(void **state)
{
	(void)state;
	assert_string_equal(LOOK(mixed, "0", false), "?");
	assert_string_equal(LOOK(mixed, "GPU-aa,1", false), "?");
	assert_string_equal(LOOK(mixed, "0", true), "0");
	assert_string_equal(LOOK(mixed, "GPU-bb", false), "1");
	assert_string_equal(LOOK(divided, "0", true), "?");
}

static void the_environment_tells_list_and_order(void **state)
{
	struct kwhy_sensor_request request = {0};

	(void)state;
	unsetenv("CUDA_VISIBLE_DEVICES");
	unsetenv("CUDA_DEVICE_ORDER");
	kwhy_sensor_request_see(&request);
	assert_null(request.visible);
	assert_false(request.visible_by_bus);
	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
	kwhy_sensor_request_see(&request);
	assert_string_equal(request.visible, "1");
	assert_true(request.visible_by_bus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_show_gpus_that_are_alike_in_any_order),
		cmocka_unit_test(an_empty_list_shows_nothing),
		cmocka_unit_test(nothing_is_seen_behind_an_entry_that_fits_no_gpu),
		cmocka_unit_test(uuids_may_be_cut_short_as_long_as_they_fit_one_gpu),
		cmocka_unit_test(an_instance_shows_the_gpu_that_it_is_part_of),
		cmocka_unit_test(numbers_of_gpus_that_differ_are_known_in_the_order_of_the_bus_alone),
		cmocka_unit_test(the_environment_tells_list_and_order),
	};
	return kwhy_test_main(tests, NULL, NULL);
}
