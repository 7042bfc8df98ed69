/* SPDX-License-Identifier: Apache-2.0 */
#include "llm_machine.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MAX = 64, PIECES_MAX = 2048 };

static double between(struct machine *machine, double low, double high)
{
	return low + (high - low) * kwhy_random_uniform(&machine->random);
}

void machine_init(struct machine *machine, uint64_t seed)
{
	memset(machine, 0, sizeof(*machine));
	kwhy_random_init(&machine->random, seed);
	machine->idle_w = between(machine, 60, 130);
	machine->prompt_j = between(machine, 0.03, 0.2);
	machine->cached_j = between(machine, 0.001, 0.003);
	machine->output_j = between(machine, 0.1, 0.4);
	machine->step_j = between(machine, 2, 6);
	machine->batch_j = machine->step_j * between(machine, 0.3, 1);
	machine->context_j = machine->step_j * between(machine, 1e-5, 5e-5);
	machine->prompt_token_s = machine->prompt_j / between(machine, 350, 550);
	machine->step_s = between(machine, 0.010, 0.025);
	machine->step_request_s = between(machine, 0.0001, 0.0004);
	machine->phase_deviation = 0.03;
	machine->phase_factor = 1;
	machine->meter_noise = 0.02;
	machine->meter_period_ns = 1000000000;
	machine->meter_update_ns = 20000000;
}

void machine_done(struct machine *machine)
{
	kwhy_llm_run_done(&machine->run);
	free(machine->at_ns);
	free(machine->joules);
	free(machine->prefill_j);
	free(machine->decode_j);
}

/*
 * Advances the time by `seconds`, in which the server draws its idle power and, in addition, `joules` in all.
 */
static void pass(struct machine *machine, double seconds, double joules)
{
	double before = machine->count ? machine->joules[machine->count - 1] : 0;

	if (machine->count == machine->capacity) {
		machine->capacity = machine->capacity ? 2 * machine->capacity : 4096;
		machine->at_ns = realloc(machine->at_ns, machine->capacity * sizeof(*machine->at_ns));
		machine->joules = realloc(machine->joules, machine->capacity * sizeof(*machine->joules));
		assert_non_null(machine->at_ns);
		assert_non_null(machine->joules);
	}
	machine->now_ns += llround(seconds * 1e9);
	machine->at_ns[machine->count] = machine->now_ns;
	machine->joules[machine->count++] = before + machine->idle_w * seconds + joules;
}

/* Records that the client receives the next piece of an answer, up to 0.3 ms after now. */
static void add_piece(struct machine *machine, struct kwhy_llm_record *record)
{
	int64_t at_ns = machine->now_ns + llround(between(machine, 0, 3e5));

	if (!record->pieces)
		record->pieces = calloc((size_t)record->completion_tokens, sizeof(*record->pieces));
	assert_non_null(record->pieces);
	record->pieces[record->piece_count++] = (struct kwhy_llm_piece){at_ns, 4, -1};
	record->end_ns = at_ns;
}

static size_t send_request(struct machine *machine, const struct phase *phase)
{
	double prompt = floor(phase->prompt * between(machine, 0.5, 1.5)) + 1;
	double output = phase->output > 1 ? floor(phase->output * between(machine, 0.5, 1.5)) + 2 : 1;
	const struct kwhy_llm_record record = {.due_ns = machine->now_ns,
		.sent_ns = machine->now_ns,
		.prompt_tokens = (int64_t)prompt,
		.cached_tokens = (int64_t)(prompt * phase->cached_share),
		.completion_tokens = (int64_t)fmin(output, PIECES_MAX)};
	struct kwhy_error error;
	size_t at = machine->run.count;

	assert_int_equal(kwhy_llm_run_add(&machine->run, &record, &error), KWHY_OK);
	if (machine->run.count > machine->truth_capacity) {
		machine->truth_capacity = 2 * machine->run.count;
		machine->prefill_j = realloc(
			machine->prefill_j, machine->truth_capacity * sizeof(*machine->prefill_j));
		machine->decode_j = realloc(
			machine->decode_j, machine->truth_capacity * sizeof(*machine->decode_j));
	}
	machine->prefill_j[at] = machine->decode_j[at] = 0;
	return at;
}

static void prefill(struct machine *machine, size_t at)
{
	struct kwhy_llm_record *record = &machine->run.records[at];
	double fresh = (double)(record->prompt_tokens - record->cached_tokens);
	double joules = machine->phase_factor *
		(machine->batch_j + fresh * machine->prompt_j +
			(double)record->cached_tokens * machine->cached_j);

	machine->prefill_j[at] = joules;
	pass(machine, fresh * machine->prompt_token_s + 0.0005, joules);
	add_piece(machine, record);
}

static double context_of(const struct kwhy_llm_record *record)
{
	return (double)record->prompt_tokens + (double)record->piece_count;
}

static void step(struct machine *machine, const size_t *active, size_t count)
{
	double contexts = 0;

	for (size_t i = 0; i < count; i++)
		contexts += context_of(&machine->run.records[active[i]]);
	pass(machine, machine->step_s + machine->step_request_s * (double)count,
		machine->phase_factor *
			(machine->step_j + machine->output_j * (double)count +
				machine->context_j * contexts));
	for (size_t i = 0; i < count; i++) {
		struct kwhy_llm_record *record = &machine->run.records[active[i]];

		machine->decode_j[active[i]] += machine->phase_factor *
			(machine->output_j + machine->step_j / (double)count +
				machine->context_j * context_of(record));
		add_piece(machine, record);
	}
}

static size_t drop_finished(struct machine *machine, size_t *active, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct kwhy_llm_record *record = &machine->run.records[active[i]];

		if ((int64_t)record->piece_count < record->completion_tokens)
			active[kept++] = active[i];
	}
	return kept;
}

/*
 * Runs a phase of load. Requests that are unanswered at its end are answered before it returns, so they do
 * not overlap with the next phase.
 */
void machine_run(struct machine *machine, const struct phase *phase)
{
	int64_t end_ns = machine->now_ns + llround(phase->seconds * 1e9);
	size_t active[SLOTS_MAX], count = 0;

	assert_true(phase->concurrency <= SLOTS_MAX && machine->phase_count < MACHINE_PHASES_MAX);
	machine->phase_factor = 1 + machine->phase_deviation * kwhy_random_normal(&machine->random);
	if (!phase->concurrency)
		pass(machine, phase->seconds, 0);
	while (machine->now_ns < end_ns || count) {
		while (machine->now_ns < end_ns && count < phase->concurrency) {
			active[count] = send_request(machine, phase);
			prefill(machine, active[count++]);
			count = drop_finished(machine, active, count);
		}
		if (count)
			step(machine, active, count);
		count = drop_finished(machine, active, count);
	}
	machine->phase_end_ns[machine->phase_count++] = machine->now_ns;
}

static double joules_at(const struct machine *machine, int64_t at_ns)
{
	size_t low = 0, high = machine->count;
	int64_t from_ns;
	double from_j;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (machine->at_ns[middle] < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == machine->count)
		return machine->joules[low - 1];
	from_ns = low ? machine->at_ns[low - 1] : 0;
	from_j = low ? machine->joules[low - 1] : 0;
	return from_j +
		(machine->joules[low] - from_j) * (double)(at_ns - from_ns) /
		(double)(machine->at_ns[low] - from_ns);
}

void machine_read(struct machine *machine)
{
	double before = 0, total = 0;

	for (int64_t at_ns = 0; at_ns <= machine->now_ns && machine->reading_count < MACHINE_READINGS_MAX;
		at_ns += machine->meter_period_ns) {
		double now = joules_at(machine, at_ns - at_ns % machine->meter_update_ns);

		total += (now - before) *
			fmax(1 + machine->meter_noise * kwhy_random_normal(&machine->random), 0);
		before = now;
		machine->readings[machine->reading_count++] = (struct kwhy_llm_reading){
			at_ns, llround(total * 1e9)};
		at_ns += llround(between(machine, 0, 0.05) * (double)machine->meter_period_ns);
	}
}
