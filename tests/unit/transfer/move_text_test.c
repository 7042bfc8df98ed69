/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' own text, run on the host. */
#include "fakes/cuda_text.h"

typedef struct {
	unsigned x, y, z, w;
} uint4;

#include "transfer/kernels/move.cu"

#include "cmocka_all.h"

enum { PIECES = 300, PLACE = 128, THREADS = 64 };

struct job {
	struct piece *end;
	u32 count, threads;
	u64 delta;
};

static void run_move(void *context)
{
	const struct job *job = context;

	kwhy_transfer_move(job->end, job->count, job->delta, job->threads);
}

static void run_in_order(void *context)
{
	const struct job *job = context;

	kwhy_transfer_move_in_order(job->end, job->count, job->delta);
}

static u64 address(const void *memory)
{
	return (u64)(uintptr_t)memory;
}

/* Of every length and alignment at both ends, each with a place of its own and a margin around it. */
static void pieces_of_every_length_and_alignment_are_moved_and_nothing_beside_them(void **state)
{
	static struct piece pieces[PIECES];
	char *from = malloc(PIECES * PLACE), *to = calloc(PIECES, PLACE), *expected = calloc(PIECES, PLACE);
	struct job job = {.end = pieces + PIECES, .count = PIECES};

	(void)state;
	assert_true(from && to && expected);
	for (size_t i = 0; i < PIECES * PLACE; i++)
		from[i] = (char)(i * 31 + i / 7);
	for (u32 i = 0; i < PIECES; i++) {
		u32 bytes = i % 70, a = i % 17, b = i / 3 % 16;

		pieces[PIECES - 1 - i] = (struct piece){.to = address(to + i * PLACE + a),
			.from = address(from + i * PLACE + b) - (i % 2 ? 4096 : 0),
			.bytes = bytes,
			.moves = i % 2};
		memcpy(expected + i * PLACE + a, from + i * PLACE + b, bytes);
	}
	job.delta = 4096;
	for (job.threads = 32; job.threads <= THREADS; job.threads *= 2)
		for (unsigned blocks = 1; blocks < 5; blocks += 3) {
			memset(to, 0, PIECES * PLACE);
			cuda_text_launch(blocks, THREADS, run_move, &job);
			assert_memory_equal(to, expected, PIECES * PLACE);
		}
	free(from);
	free(to);
	free(expected);
}

static void in_order_the_later_of_two_wins(void **state)
{
	char from[300], to[400] = {0}, expected[400] = {0};
	struct piece pieces[40];
	struct job job = {.end = pieces + 40, .count = 40, .delta = address(to)};

	(void)state;
	for (int i = 0; i < 300; i++)
		from[i] = (char)(i + 1);
	for (u32 i = 0; i < 40; i++) {
		u32 place = i * 37 % 101, bytes = i * 53 % 200;

		pieces[39 - i] = (struct piece){
			.to = place, .from = address(from + i), .bytes = bytes, .moves = 2};
		memcpy(expected + place, from + i, bytes);
	}
	cuda_text_launch(1, THREADS, run_in_order, &job);
	assert_memory_equal(to, expected, sizeof(to));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_every_length_and_alignment_are_moved_and_nothing_beside_them),
		cmocka_unit_test(in_order_the_later_of_two_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
