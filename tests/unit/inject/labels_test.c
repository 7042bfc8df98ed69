/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "inject/labels.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SHARE_BYTES = 1 << 20 };

struct desk {
	int fd;
	unsigned char *memory;
	struct kwhy_block_writer writer;
	struct kwhy_inject_labels *labels;
};

static int setup(void **state)
{
	struct desk *desk = calloc(1, sizeof(*desk));

	desk->fd = open("/dev/null", O_WRONLY);
	desk->memory = malloc(KWHY_BLOCK_WRITER_BYTES(SHARE_BYTES));
	desk->labels = calloc(1, sizeof(*desk->labels));
	kwhy_block_writer_init(&desk->writer, desk->fd, 1, desk->memory, SHARE_BYTES);
	kwhy_inject_labels_init(desk->labels, &desk->writer);
	*state = desk;
	return 0;
}

static int teardown(void **state)
{
	struct desk *desk = *state;

	close(desk->fd);
	free(desk->memory);
	free(desk->labels);
	free(desk);
	return 0;
}

static void a_name_has_one_number_and_is_said_once(void **state)
{
	struct desk *desk = *state;
	char copy[] = "kernel";
	const uint32_t number = kwhy_inject_label(desk->labels, "kernel");

	assert_int_not_equal(number, 0);
	assert_int_equal(kwhy_inject_label(desk->labels, copy), number);
	assert_int_equal(kwhy_inject_label_at(desk->labels, copy), number);
	assert_int_not_equal(kwhy_inject_label(desk->labels, "other"), number);
	assert_int_equal(desk->writer.counts[KWHY_WIRE_NAME], 2);
}

static void a_name_whose_memory_is_gone_is_none(void **state)
{
	struct desk *desk = *state;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *last = pages + page - sizeof("kernel");

	assert_true(pages != MAP_FAILED);
	munmap(pages + page, page);
	strcpy(last, "kernel"); /* the terminator is the last accessible byte */
	errno = 7;
	assert_int_equal(kwhy_inject_label_at(desk->labels, last), kwhy_inject_label(desk->labels, "kernel"));
	kwhy_inject_labels_begin(desk->labels);
	munmap(pages, page);
	assert_int_equal(kwhy_inject_label_at(desk->labels, last), 0);
	assert_int_equal(errno, 7);
}

static void a_name_longer_than_a_page_is_whole(void **state)
{
	struct desk *desk = *state;
	char name[9000];

	memset(name, 'k', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(kwhy_inject_label_at(desk->labels, name), kwhy_inject_label(desk->labels, name));
}

static void no_name_is_number_0(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(kwhy_inject_label(desk->labels, NULL), 0);
	assert_int_equal(kwhy_inject_label(desk->labels, ""), 0);
	assert_int_equal(kwhy_inject_label_at(desk->labels, NULL), 0);
	assert_int_equal(desk->writer.counts[KWHY_WIRE_NAME], 0);
}

static void an_address_with_a_new_name_is_noticed_in_the_next_buffer(void **state)
{
	struct desk *desk = *state;
	char place[] = "first one";
	uint32_t first, second;

	kwhy_inject_labels_begin(desk->labels);
	first = kwhy_inject_label_at(desk->labels, place);
	strcpy(place, "second");
	kwhy_inject_labels_begin(desk->labels);
	second = kwhy_inject_label_at(desk->labels, place);
	assert_int_not_equal(first, second);
	assert_int_equal(kwhy_inject_label(desk->labels, "second"), second);
	assert_int_equal(kwhy_inject_label(desk->labels, "first one"), first);
}

static void more_names_than_fit_are_said_again_under_new_numbers(void **state)
{
	struct desk *desk = *state;
	uint32_t first = kwhy_inject_label(desk->labels, "name 0"), last = first;
	char name[32];

	for (int i = 1; i < 2 * KWHY_INJECT_LABELS; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		assert_int_equal(kwhy_inject_label(desk->labels, name), ++last);
	}
	assert_int_equal(kwhy_inject_label(desk->labels, name), last);
	assert_int_not_equal(kwhy_inject_label(desk->labels, "name 0"), first);
	assert_int_equal(desk->writer.lost_records, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_name_has_one_number_and_is_said_once),
		CASE(a_name_whose_memory_is_gone_is_none),
		CASE(a_name_longer_than_a_page_is_whole),
		CASE(no_name_is_number_0),
		CASE(an_address_with_a_new_name_is_noticed_in_the_next_buffer),
		CASE(more_names_than_fit_are_said_again_under_new_numbers),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
