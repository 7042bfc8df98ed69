/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' own text, run on the host, gives the bits of the reference. */
#include "grid.h"

namespace device
{
#include "workload/kernels/twin.cu"
}

extern "C" {
#include "workload/twin.h"

#include "cmocka_all.h"
}

enum { STEPS = 5, BLOCKS = 3, THREADS = 64 };

using device::args;

/* A field in the host's memory. */
struct world {
	std::vector<float> fields, controls, gains, history, inbox;
	std::vector<long long> sums, run_sums;
	std::vector<unsigned long long> checks, seen, times;
	std::vector<char> outbox;
	unsigned clock[2], arrived, flag;
	args a;

	world(unsigned ranks, unsigned reduce_every)
	    : fields(7 * ranks * KWHY_TWIN_CELLS), controls(220), gains(66),
	      history(KWHY_TWIN_STEPS * KWHY_TWIN_SLOT_FLOATS), inbox(220), sums(23),
	      run_sums(23 * KWHY_TWIN_STEPS), checks(KWHY_TWIN_STEPS + 1), seen(KWHY_TWIN_STEPS),
	      times(KWHY_TWIN_STEPS + 1), outbox(16 * KWHY_TWIN_OBSERVED_MOST)
	{
		float **places[] = {&a.t, &a.u, &a.f, &a.l, &a.v, &a.w};
		unsigned cells = ranks * KWHY_TWIN_CELLS;

		a = args();
		for (unsigned i = 0; i < 6; i++)
			*places[i] = fields.data() + (i ? i + 1 : 0) * cells;
		a.controls = controls.data();
		a.gains = gains.data();
		a.sums = sums.data();
		a.checks = checks.data();
		a.history = history.data();
		a.inbox = (const char *)inbox.data();
		a.outbox = outbox.data();
		a.clock = clock;
		a.flag = &flag;
		a.run_sums = run_sums.data();
		a.seen = seen.data();
		a.times = times.data();
		a.arrived = &arrived;
		a.cells = cells;
		a.steps = STEPS;
		a.closed = 1;
		a.reduce_every = reduce_every;
	}

	void run(void (*kernel)(args, unsigned), unsigned step, unsigned blocks = BLOCKS,
		unsigned threads = THREADS)
	{
		const args given = a;

		launch(blocks, threads, [=] { kernel(given, step); });
	}

	void begin()
	{
		run(device::kwhy_twin_begin_field, 0);
		run(device::kwhy_twin_begin_rest, 0);
	}
};

static kwhy_twin_answer answer_of(unsigned ranks, unsigned reduce_every)
{
	const kwhy_twin_shape shape = {STEPS, ranks, true, reduce_every};
	kwhy_twin_answer answer;
	kwhy_error error;

	if (kwhy_twin_reference(&shape, &answer, &error))
		fail_msg("%s", error.text);
	return answer;
}

/* What agents do between two steps, told from the packed outbox of the last. */
struct crowd {
	long long seen[22] = {};
	unsigned long long books = 0;

	void send(unsigned step, float *controls)
	{
		for (unsigned a = 0; a < 22; a++)
			for (unsigned k = 0; k < device::sends(step, a); k++)
				controls[a * 10 + k] = device::payload(step, a, k, seen[a]);
	}

	void look(unsigned step, const char *outbox)
	{
		std::memset(seen, 0, sizeof(seen));
		for (unsigned q = 0; q < device::observed(step); q++) {
			const char *place = outbox + device::packed_at(q);

			seen[q % 22] += q % 8 == 0 ? *(const long long *)place
						   : device::fixed(*(const float *)place);
		}
		for (unsigned a = 0; a < 22; a++)
			books = device::mix(books ^ (unsigned long long)seen[a]);
	}
};

static void the_ten_kernels_give_the_bits_of_the_reference(void **)
{
	void (*const kernels[])(args, unsigned) = {device::kwhy_twin_gain, device::kwhy_twin_force,
		device::kwhy_twin_spread, device::kwhy_twin_diffuse, device::kwhy_twin_push,
		device::kwhy_twin_store, device::kwhy_twin_limit, device::kwhy_twin_sum,
		device::kwhy_twin_look, device::kwhy_twin_check};
	kwhy_twin_answer answer = answer_of(1, 1);
	world world(1, 1);
	crowd crowd;

	world.begin();
	for (unsigned step = 0; step < STEPS; step++) {
		crowd.send(step, world.controls.data());
		for (unsigned k = 0; k < 10; k++)
			world.run(kernels[k], step, k ? BLOCKS : 1, k ? THREADS : 128);
		crowd.look(step, world.outbox.data());
		assert_true(world.checks[step] == answer.steps[step].field);
		assert_true(crowd.books == answer.steps[step].observed);
		assert_true((unsigned)world.sums[22] == answer.steps[step].peak);
	}
	kwhy_twin_answer_done(&answer);
}

static void the_fused_kernels_give_the_bits_of_the_reference(void **)
{
	kwhy_twin_answer answer = answer_of(2, 1);
	world world(2, 1);
	crowd crowd;

	world.a.doubled = 1;
	world.begin();
	for (unsigned step = 0; step < STEPS; step++) {
		crowd.send(step, world.inbox.data());
		world.run(device::kwhy_twin_receive, device::BY_CLOCK, 1, 256);
		world.run(device::kwhy_twin_advance, device::BY_CLOCK);
		world.run(device::kwhy_twin_conclude, device::BY_CLOCK);
		assert_int_equal(world.flag, step + 1);
		crowd.look(step, world.outbox.data());
		assert_true(world.checks[step] == answer.steps[step].field);
		assert_true(crowd.books == answer.steps[step].observed);
	}
	assert_memory_equal(
		world.history.data(), answer.history, STEPS * KWHY_TWIN_SLOT_FLOATS * sizeof(float));
	kwhy_twin_answer_done(&answer);
}

static void pieces_are_scattered_to_their_agents(void **)
{
	world world(1, 1);
	crowd crowd;
	std::vector<float> expected(220);

	for (unsigned step = 0; step < 20; step++) {
		unsigned count = 0;

		crowd.send(step, expected.data());
		for (unsigned a = 0; a < 22; a++)
			for (unsigned k = 0; k < device::sends(step, a); k++)
				world.inbox[count++] = expected[a * 10 + k];
		world.run(device::kwhy_twin_scatter, step, 1, 256);
		assert_memory_equal(world.controls.data(), expected.data(), 220 * sizeof(float));
	}
}

static void check_whole_run(unsigned ranks, unsigned reduce_every)
{
	kwhy_twin_answer answer = answer_of(ranks, reduce_every);
	world world(ranks, reduce_every);

	world.a.doubled = 1;
	world.begin();
	world.run(device::kwhy_twin_run, 0, BLOCKS + 1, 256);
	for (unsigned step = 0; step < STEPS; step++) {
		assert_true(world.checks[step] == answer.steps[step].field);
		assert_true(world.seen[step] == answer.steps[step].observed);
	}
	assert_memory_equal(
		world.history.data(), answer.history, STEPS * KWHY_TWIN_SLOT_FLOATS * sizeof(float));
	kwhy_twin_answer_done(&answer);
}

static void a_run_in_one_launch_gives_the_bits_of_the_reference(void **)
{
	check_whole_run(1, 1);
	check_whole_run(2, 1);
	check_whole_run(1, 4);
}

static void fields_apart_give_the_bits_of_one_field(void **)
{
	kwhy_twin_answer answer = answer_of(2, 4);
	world worlds[2] = {world(1, 4), world(1, 4)};
	std::vector<float> rows(4 * KWHY_TWIN_WIDTH);
	std::vector<long long> gathered(2 * 23);
	crowd crowd;

	for (unsigned r = 0; r < 2; r++) {
		worlds[r].a.doubled = 1;
		worlds[r].a.first_cell = r * KWHY_TWIN_CELLS;
		worlds[r].a.parts = 2;
		worlds[r].a.gathered = gathered.data();
		worlds[r].a.above = rows.data() + 2 * r * KWHY_TWIN_WIDTH;
		worlds[r].a.below = rows.data() + (2 * r + 1) * KWHY_TWIN_WIDTH;
		worlds[r].begin();
	}
	for (unsigned step = 0; step < STEPS; step++) {
		crowd.send(step, worlds[0].inbox.data());
		worlds[1].inbox = worlds[0].inbox;
		worlds[1].a.inbox = (const char *)worlds[1].inbox.data();
		for (unsigned r = 0; r < 2; r++) {
			const float *other = device::old_t(&worlds[1 - r].a, step);

			std::memcpy(rows.data() + 2 * r * KWHY_TWIN_WIDTH,
				other + KWHY_TWIN_CELLS - KWHY_TWIN_WIDTH, KWHY_TWIN_WIDTH * sizeof(float));
			std::memcpy(rows.data() + (2 * r + 1) * KWHY_TWIN_WIDTH, other,
				KWHY_TWIN_WIDTH * sizeof(float));
		}
		for (unsigned r = 0; r < 2; r++) {
			worlds[r].run(device::kwhy_twin_receive, step, 1, 256);
			worlds[r].run(device::kwhy_twin_advance, step);
			worlds[r].run(device::kwhy_twin_tally, step);
		}
		for (unsigned r = 0; r < 2; r++)
			std::memcpy(&gathered[23 * r], worlds[r].sums.data(), 23 * sizeof(long long));
		for (unsigned r = 0; r < 2; r++)
			worlds[r].run(device::kwhy_twin_combine, step, 1, 256);
		crowd.look(step, worlds[0].outbox.data());
		assert_true(worlds[0].checks[step] + worlds[1].checks[step] == answer.steps[step].field);
		assert_true(crowd.books == answer.steps[step].observed);
	}
	kwhy_twin_answer_done(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ten_kernels_give_the_bits_of_the_reference),
		cmocka_unit_test(the_fused_kernels_give_the_bits_of_the_reference),
		cmocka_unit_test(pieces_are_scattered_to_their_agents),
		cmocka_unit_test(a_run_in_one_launch_gives_the_bits_of_the_reference),
		cmocka_unit_test(fields_apart_give_the_bits_of_one_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
