/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles the CUDA source of the kernels that move pieces of a slot for the host (fakes/cuda_text.h), and
 * runs it.
 */
#include "fakes/cuda_text.h"

typedef struct {
	unsigned x, y, z, w;
} uint4;

#include "transfer/kernels/move.cu"

#include "cmocka_all.h"

enum { PIECES = 300, PLACE = 128, THREADS = 64 };

static u64 address(const void *memory)
{
	return (u64)(uintptr_t)memory;
}

struct job {
	struct piece *end;
	u32 count, threads;
	u64 delta, done;
	u32 arrived;
	struct packet *packet;
	bool is_short;
};

static struct mark mark_of(struct job *job)
{
	return (struct mark){address(&job->done), 7, address(&job->arrived)};
}

/*
 * Checks that the kernel wrote its mark (7), which it does when all blocks have ended, and that its counter
 * of ended blocks is 0 again, as the next launch needs it.
 */
static void is_reported(struct job *job)
{
	assert_int_equal(job->done, 7);
	assert_int_equal(job->arrived, 0);
	job->done = 0;
}

static void run_move(void *context)
{
	struct job *job = context;

	kwhy_transfer_move(job->end, job->count, job->delta, job->threads, mark_of(job));
}

static void run_in_order(void *context)
{
	struct job *job = context;

	kwhy_transfer_move_in_order(job->end, job->count, job->delta, job->threads, mark_of(job));
}

static void run_packet(void *context)
{
	struct job *job = context;

	if (job->is_short) {
		struct packet_2k packet;

		memcpy(&packet, job->packet, sizeof(packet));
		kwhy_transfer_move_packet_2k(packet);
	} else {
		kwhy_transfer_move_packet(*job->packet);
	}
}

/*
 * Moves pieces of all lengths, with all alignments of source and destination. Each piece has a place of its
 * own, with a margin that must not change.
 */
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
	for (job.threads = 32; job.threads <= 4 * THREADS; job.threads *= 2)
		for (unsigned blocks = job.threads < THREADS ? 1 : job.threads / THREADS; blocks < 9;
			blocks *= 4) {
			memset(to, 0, PIECES * PLACE);
			cuda_text_launch(blocks, THREADS, run_move, &job);
			assert_memory_equal(to, expected, PIECES * PLACE);
			is_reported(&job);
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
	is_reported(&job);
}

/*
 * A packet is a kernel argument with the list of pieces and their data. On the host each thread gets its own
 * copy of it; on a GPU all threads share one.
 */
static void a_packet_brings_its_list_and_its_data(void **state)
{
	static struct packet packet;
	char to[2000] = {0}, expected[2000] = {0};
	struct job job = {.packet = &packet};
	struct piece *end = (struct piece *)((u8 *)packet.bytes + 480);

	(void)state;
	packet.head = (struct packet_head){
		.mark = mark_of(&job), .base = 1 << 20, .count = 20, .threads = 32, .end = 480};
	for (u32 i = 0; i < 1000; i++)
		((u8 *)end)[i] = (u8)(i * 7 + 1);
	for (u32 i = 0; i < 20; i++) {
		u32 bytes = i * 2, place = i * 50;

		end[-1 - (int)i] = (struct piece){
			.to = address(to + i * 90), .from = (1 << 20) + place, .bytes = bytes, .moves = 1};
		memcpy(expected + i * 90, (u8 *)end + place, bytes);
	}
	for (unsigned blocks = 1; blocks < 8; blocks += 3)
		for (u32 i = 0; i < (blocks == 1 ? 4 : 2); i++) {
			job.is_short = i % 2;
			packet.head.in_order = i / 2;
			memset(to, 0, sizeof(to));
			cuda_text_launch(blocks, THREADS, run_packet, &job);
			assert_memory_equal(to, expected, sizeof(to));
			is_reported(&job);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_every_length_and_alignment_are_moved_and_nothing_beside_them),
		cmocka_unit_test(in_order_the_later_of_two_wins),
		cmocka_unit_test(a_packet_brings_its_list_and_its_data),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
