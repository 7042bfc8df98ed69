/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/host_time.h"
#include "model/host_wait.h"
#include "model/learnt.h"
#include "model/pairs.h"
#include "model/probing.h"
#include "model/profile.h"
#include "model/recording.h"
#include "unit/failing_memory.h"

#include <string.h>

/* Tests that each allocation that fails is reported as KWHY_E_MEMORY, and that nothing is lost silently. */

static struct kwhy_error error;

/*
 * Results of the steps below: a recording with records of every kind, and measured transfers of one and of
 * several GPUs.
 */
struct made {
	struct kwhy_recording *recording;
	struct kwhy_transfers *transfers;
	struct kwhy_pairs *pairs;
	uint32_t name;
};

typedef enum kwhy_status step(struct made *made);

/* A text longer than an arena's block, so that the arena allocates it by itself. */
static char long_text[40000];

static enum kwhy_status begin(struct made *made)
{
	return kwhy_recording_new(&made->recording, &error);
}

static enum kwhy_status add_owners(struct made *made)
{
	const struct kwhy_source source = {.path = "t.json", .version = "1", .producer = "a program"};
	const struct kwhy_device device = {.rank = KWHY_NONE, .machine = KWHY_NONE, .name = "NVIDIA H200"};
	struct kwhy_machine machine = {.width_ns = -1};
	const struct kwhy_process process = {
		.pid = 1, .rank = KWHY_NONE, .machine = KWHY_NONE, .host = "host"};
	const struct kwhy_thread thread = {.tid = 1};
	const struct kwhy_stream stream = {.context = 1};
	uint32_t index;
	struct kwhy_recording *recording = made->recording;
	enum kwhy_status status = kwhy_recording_add_source(recording, &source, NULL, &error);

	if (!status)
		status = kwhy_names_intern(&recording->names, "cudaLaunchKernel", 16, &made->name, &error);
	machine.host = made->name;
	if (!status)
		status = kwhy_recording_add_device(recording, &device, NULL, &error);
	if (!status)
		status = kwhy_recording_add_machine(recording, &machine, &index, &error);
	if (!status)
		status = kwhy_recording_add_process(recording, &process, NULL, &error);
	if (!status)
		status = kwhy_recording_add_thread(recording, &thread, NULL, &error);
	if (!status)
		status = kwhy_recording_add_stream(recording, &stream, NULL, &error);
	return status;
}

/*
 * Adds activities in reverse order of time, so that they must be sorted, and their calls. The last call has
 * no activity.
 */
static enum kwhy_status add_work(struct made *made)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 5; !status && i-- > 0;) {
		struct kwhy_activity row = kwhy_activity_unknown();

		row.start_ns = 100 + 100 * i;
		row.end_ns = row.start_ns + 50;
		row.stream = 0;
		row.name = made->name;
		row.call = i == 3 ? KWHY_NONE : i;
		if (i < 4)
			status = kwhy_recording_add_activity(made->recording, &row, &error);
		if (!status)
			status = kwhy_recording_add_call(
				made->recording, 90 + 100 * i, 95 + 100 * i, made->name, 0, i, &error);
	}
	return status;
}

static enum kwhy_status add_ranges(struct made *made)
{
	const struct kwhy_range range = {.start_ns = 0, .end_ns = 450, .name = made->name};
	const struct kwhy_host_range host = {
		.start_ns = 10, .end_ns = 300, .name = made->name, .file = made->name, .line = 1};
	const struct kwhy_collective collective = {.activity = 1};
	const struct kwhy_memory_point memory = {.time_ns = 5};
	enum kwhy_status status = kwhy_recording_add_range(made->recording, &range, &error);

	if (!status)
		status = kwhy_recording_add_host_range(made->recording, &host, &error);
	if (!status)
		status = kwhy_recording_add_collective(made->recording, &collective, &error);
	return status ? status : kwhy_recording_add_memory(made->recording, &memory, &error);
}

/*
 * Adds readings of a counter that stands still from reading 8 on, and of powers, one of which is impossible.
 */
static enum kwhy_status add_readings(struct made *made)
{
	const struct kwhy_power_file file = {.path = "p.csv"};
	enum kwhy_status status = kwhy_recording_add_power_file(made->recording, &file, &error);

	for (int64_t i = 20; !status && i-- > 0;) {
		status = kwhy_recording_add_reading(made->recording, KWHY_METER_NVML_ENERGY, 0, 0,
			i * 100000000, i < 8 ? i * 20000 : 160000, &error);
		if (!status)
			status = kwhy_recording_add_reading(made->recording, KWHY_METER_NVML_SAMPLE, 0, 0,
				i * 100000000, i == 3 ? 0 : 200000 + i, &error);
	}
	return status ? status
		      : kwhy_recording_add_gauge(made->recording, KWHY_GAUGE_DRAM_ACTIVE, 0, 0, 5, &error);
}

static enum kwhy_status add_rest(struct made *made)
{
	const struct kwhy_coverage coverage = {.device = 0, .end_ns = 900};
	const struct kwhy_cost cost = {.kind = KWHY_COST_THREAD, .spent_ns = 1};
	const struct kwhy_overhead overhead = {.end_ns = 2, .name = made->name};
	const struct kwhy_unprobed unprobed = {.launches = 1, .name = made->name, .reason = "why"};
	struct kwhy_recording *recording = made->recording;
	enum kwhy_status status = kwhy_recording_add_coverage(recording, &coverage, &error);

	if (!status)
		status = kwhy_recording_add_cost(recording, &cost, &error);
	if (!status)
		status = kwhy_recording_add_overhead(recording, &overhead, &error);
	if (!status)
		status = kwhy_recording_add_unprobed(recording, &unprobed, &error);
	if (!status)
		status = kwhy_recording_add_work(recording, "tokens", 5, &error);
	if (!status)
		status = kwhy_recording_set_work(recording, "steps", 5, &error);
	return status
		? status
		: kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "a-note", &error, "%s", "its words");
}

static enum kwhy_status finish(struct made *made)
{
	enum kwhy_status status = kwhy_recording_finish(made->recording, &error);

	if (status)
		return status;
	assert_int_equal(made->recording->activities.count, 4);
	assert_int_equal(made->recording->activities.start_ns[0], 100);
	assert_int_equal(made->recording->collectives[0].activity, 2);
	assert_int_equal(made->recording->host_ranges.count, 2);
	assert_int_equal(made->recording->note_count, 4);
	return KWHY_OK;
}

static enum kwhy_status divide_gap(struct made *made)
{
	const struct kwhy_host_span gap = {350, 400};
	struct kwhy_host_wait wait = {.device = 0};
	int64_t parts_ns[KWHY_HOST_STATE_COUNT] = {0};
	enum kwhy_status status = kwhy_host_wait_init(&wait, made->recording, 0, &error);

	if (!status)
		status = kwhy_host_wait_divide(&wait, &gap, 3, parts_ns, &error);
	if (!status)
		assert_int_equal(parts_ns[KWHY_HOST_LAUNCH], 5);
	kwhy_host_wait_done(&wait);
	return status;
}

static enum kwhy_status probe(struct made *made)
{
	struct kwhy_probing probing;
	enum kwhy_status status = kwhy_probing_init(&probing, &error);

	if (status)
		return status;
	status = kwhy_probing_add(&probing, made->recording, false, &error);
	if (!status)
		assert_int_equal(probing.count, 1);
	kwhy_probing_done(&probing);
	return status;
}

static enum kwhy_status learn(struct made *made)
{
	struct kwhy_account account = {.name = long_text,
		.category = KWHY_CATEGORY_COMPUTE,
		.count = 3,
		.time_ns = 10,
		.gross_nj = 1000,
		.mean_power_mw = 100000,
		.basis = KWHY_BASIS_DATA};
	struct kwhy_power_class class = {.spread = 0.1};
	uint32_t account_of[4] = {0};
	struct kwhy_device_ledger device = {.accounts = &account,
		.account_count = 1,
		.account_of = account_of,
		.classes = &class,
		.class_count = 1,
		.energy = {.known = true, .context_idle_w = 30}};
	const struct kwhy_ledger ledger = {.devices = &device, .device_count = 1};
	struct kwhy_learnt_powers *powers;
	enum kwhy_status status = kwhy_learnt_powers_collect(
		made->recording, &ledger, "a.kwhy", &powers, &error);

	if (status)
		return status;
	assert_int_equal(powers->count, 1);
	assert_string_equal(powers->items[0].name, long_text);
	kwhy_learnt_powers_free(powers);
	return KWHY_OK;
}

static enum kwhy_status add_transfers(struct made *made)
{
	const struct kwhy_transfer_energy energy = {.bytes = 1};
	enum kwhy_status status;

	made->transfers = kwhy_transfers_new();
	if (!made->transfers)
		return KWHY_E_MEMORY;
	status = kwhy_transfers_add_energy(made->transfers, &energy, &error);
	if (!status)
		status = kwhy_transfers_add_absence(made->transfers, long_text, long_text, &error);
	if (!status)
		assert_string_equal(made->transfers->absences[0].reason, long_text);
	return status;
}

static enum kwhy_status add_pairs(struct made *made)
{
	const struct kwhy_pair_reading reading = {.gpu = 0};
	const struct kwhy_pair_energy energy = {.bytes = 1};
	const struct kwhy_pair_pinning pinning = {.bytes = 1};
	enum kwhy_status status;

	made->pairs = kwhy_pairs_new();
	if (!made->pairs)
		return KWHY_E_MEMORY;
	status = kwhy_pairs_add_absence(made->pairs, long_text, long_text, &error);
	if (!status)
		status = kwhy_pairs_add_note(made->pairs, long_text, &error);
	if (!status)
		status = kwhy_pairs_add_nccl_setting(made->pairs, "A=1", &error);
	if (!status)
		status = kwhy_pairs_add_reading(made->pairs, &reading, &error);
	if (!status)
		status = kwhy_pairs_add_energy(made->pairs, &energy, &error);
	if (!status)
		status = kwhy_pairs_add_pinning(made->pairs, &pinning, &error);
	if (!status)
		assert_string_equal(made->pairs->absences[0].reason, long_text);
	return status;
}

static enum kwhy_status make(long failure)
{
	static step *const steps[] = {begin, add_owners, add_work, add_ranges, add_readings, add_rest, finish,
		divide_gap, probe, learn, add_transfers, add_pairs};
	struct made made = {.recording = NULL};
	enum kwhy_status status = KWHY_OK;

	failed = false;
	left_until_failure = failure;
	for (size_t i = 0; !status && i < sizeof(steps) / sizeof(steps[0]); i++)
		status = steps[i](&made);
	left_until_failure = -1;
	kwhy_recording_free(made.recording);
	kwhy_transfers_free(made.transfers);
	kwhy_pairs_free(made.pairs);
	return status;
}

static void whichever_allocation_fails_it_is_said(void **state)
{
	long failures = 0;

	(void)state;
	memset(long_text, 'a', sizeof(long_text) - 1);
	assert_int_equal(make(-1), KWHY_OK);
	for (failed = true; failed; failures++) {
		enum kwhy_status status = make(failures);

		if (status != (failed ? KWHY_E_MEMORY : KWHY_OK))
			fail_msg("after %ld allocations status %d", failures, (int)status);
	}
	assert_true(failures > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(whichever_allocation_fails_it_is_said)};

	return kwhy_test_main(tests, NULL, NULL);
}
