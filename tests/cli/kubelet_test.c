/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live/kubelet.h"

#include "ok.h"

#include <stdio.h>
#include <string.h>

static struct kwhy_error error;

/*
 * A gRPC message: a prefix of five bytes (a flag, and the length of the content as 32 bits, big-endian) and
 * the content, which has at most 255 bytes. `length`: a string of one byte, the length.
 */
#define FRAME(length, content) "\0\0\0\0" length content
/*
 * Protocol buffer of the kubelet's answer to List: pod "p" in namespace "batch" has one container, "main",
 * with two devices, "GPU" and "MIG", of the resource nvidia.com/gpu.
 */
#define LIST                   \
	"\x0A\x2E"             \
	"\x0A\x01p\x12\x05"    \
	"batch\x1A\x22"        \
	"\x0A\x04main\x12\x1A" \
	"\x0A\x0Envidia.com/gpu\x12\x03GPU\x12\x03MIG"

static void devices_have_their_pod_and_container(void **state)
{
	static const char body[] = FRAME("\x30", LIST);
	struct kwhy_allocations read = {0};

	(void)state;
	OK(kwhy_kubelet_read(body, sizeof(body) - 1, &read, &error));
	assert_int_equal(read.count, 2);
	assert_string_equal(read.items[0].device, "GPU");
	assert_string_equal(read.items[1].device, "MIG");
	assert_string_equal(read.items[1].owner.name, "p");
	assert_string_equal(read.items[1].owner.space, "batch");
	assert_string_equal(read.items[1].owner.part, "main");
	assert_int_equal(read.items[1].owner.kind, KWHY_OWNER_KUBERNETES);
	kwhy_allocations_done(&read);
}

static void an_empty_list_is_no_error(void **state)
{
	struct kwhy_allocations read = {0};

	(void)state;
	OK(kwhy_kubelet_read("\0\0\0\0\0", 5, &read, &error));
	assert_int_equal(read.count, 0);
}

/* An answer that lacks any number of bytes at its end must be refused. */
static void answers_that_are_cut_or_no_message_are_refused(void **state)
{
	static const char body[] = FRAME("\x30", LIST);
	static const char *const wrong[] = {"\1\0\0\0\0", "hello", "\0\0\0\0\2\xFF\xFF"};
	static const size_t lengths[] = {5, 5, 7};

	(void)state;
	for (size_t length = 0; length < sizeof(body) - 1; length++) {
		char cut[sizeof(body)];
		struct kwhy_allocations read = {0};

		memcpy(cut, body, length);
		assert_int_equal(kwhy_kubelet_read(cut, length, &read, &error), KWHY_E_INPUT);
		kwhy_allocations_done(&read);
		if (length < 6)
			continue;
		cut[4] = (char)(length - 5); /* the prefix states the length that is left, so that the message
						is whole and only its content is cut */
		assert_int_equal(kwhy_kubelet_read(cut, length, &read, &error), KWHY_E_INPUT);
		kwhy_allocations_done(&read);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct kwhy_allocations read = {0};

		assert_int_equal(kwhy_kubelet_read(wrong[i], lengths[i], &read, &error), KWHY_E_INPUT);
		kwhy_allocations_done(&read);
	}
}

static bool is_of(const char *id, const struct kwhy_sensor_device *device)
{
	struct kwhy_allocation allocation = {.owner = {.kind = KWHY_OWNER_KUBERNETES}};

	snprintf(allocation.device, sizeof(allocation.device), "%s", id);
	return kwhy_allocation_is_of(&allocation, device);
}

static void ids_of_plugins_are_those_of_devices(void **state)
{
	const struct kwhy_sensor_device whole = {
		.index = 2, .mig_index = -1, .uuid = "GPU-1", .pci_address = "0000:19:00.0"};
	const struct kwhy_sensor_device instance = {.index = 2, .mig_index = 0, .uuid = "MIG-1"};

	(void)state;
	assert_true(is_of("GPU-1", &whole));
	assert_true(is_of("GPU-1::3", &whole));
	assert_true(is_of("0000:19:00.0", &whole));
	assert_true(is_of("nvidia2", &whole));
	assert_false(is_of("nvidia22", &whole));
	assert_false(is_of("GPU-11", &whole));
	assert_false(is_of("", &whole));
	assert_true(is_of("MIG-1", &instance));
	assert_false(is_of("nvidia2", &instance));
	assert_false(is_of("", &instance));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_have_their_pod_and_container),
		cmocka_unit_test(an_empty_list_is_no_error),
		cmocka_unit_test(answers_that_are_cut_or_no_message_are_refused),
		cmocka_unit_test(ids_of_plugins_are_those_of_devices),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
