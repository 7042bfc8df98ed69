/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "sensor/channel.h"

#include <pthread.h>

static struct kwhy_arena arena;
static struct kwhy_channel channel;

static int setup(void **state)
{
	struct kwhy_error error;

	(void)state;
	return kwhy_channel_init(&channel, &arena, 8, &error);
}

static int teardown(void **state)
{
	(void)state;
	kwhy_arena_done(&arena);
	return 0;
}

static void push(int64_t from, int64_t to)
{
	for (int64_t i = from; i < to; i++)
		kwhy_channel_push(&channel, (struct kwhy_reading){i, i * 10});
}

static void readings_come_in_the_order_they_were_pushed(void **state)
{
	struct kwhy_channel_cursor cursor = {0};
	struct kwhy_reading out[4];

	(void)state;
	assert_int_equal(kwhy_channel_read(&channel, &cursor, out, 4), 0);
	assert_false(kwhy_channel_last(&channel, out));
	push(0, 5);
	assert_int_equal(kwhy_channel_read(&channel, &cursor, out, 4), 4);
	assert_int_equal(out[3].time_mono_ns, 3);
	assert_int_equal(out[3].value, 30);
	assert_int_equal(kwhy_channel_read(&channel, &cursor, out, 4), 1);
	assert_int_equal(out[0].value, 40);
	assert_int_equal(cursor.lost, 0);
	assert_true(kwhy_channel_last(&channel, out));
	assert_int_equal(out[0].value, 40);
}

static void what_was_overwritten_is_counted_as_lost(void **state)
{
	struct kwhy_channel_cursor cursor = {0}, late = {0};
	struct kwhy_reading out[16];

	(void)state;
	push(0, 3);
	assert_int_equal(kwhy_channel_read(&channel, &cursor, out, 16), 3);
	push(3, 20);
	assert_int_equal(kwhy_channel_read(&channel, &cursor, out, 16), 7);
	assert_int_equal(cursor.lost, 10);
	assert_int_equal(out[0].value, 130);
	assert_int_equal(kwhy_channel_read(&channel, &late, out, 16), 7);
	assert_int_equal(late.lost, 13);
}

enum { MANY = 200000 };

static void *write_many(void *argument)
{
	(void)argument;
	push(0, MANY);
	return NULL;
}

static void a_reader_beside_the_writer_sees_only_whole_readings_in_order(void **state)
{
	struct kwhy_channel_cursor cursor = {0};
	struct kwhy_reading out[3];
	int64_t next = 0;
	pthread_t writer;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, write_many, NULL), 0);
	while (cursor.taken < MANY) {
		size_t count = kwhy_channel_read(&channel, &cursor, out, 3);

		for (size_t i = 0; i < count; i++) {
			assert_true(out[i].time_mono_ns >= next);
			assert_int_equal(out[i].value, out[i].time_mono_ns * 10);
			next = out[i].time_mono_ns + 1;
		}
		if (count > 0 && kwhy_channel_last(&channel, out))
			assert_int_equal(out[0].value, out[0].time_mono_ns * 10);
	}
	pthread_join(writer, NULL);
	assert_int_equal(next, MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(readings_come_in_the_order_they_were_pushed, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_overwritten_is_counted_as_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_reader_beside_the_writer_sees_only_whole_readings_in_order, setup, teardown),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
