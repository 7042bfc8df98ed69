/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Measures the processor time that each step of the ledger's computation takes (time accounting, accounts,
 * sums, energy) on a synthetic recording. The recording has a launch every 60 us on two threads, and kernels
 * and copies on four streams, some of them concurrent. It has 500 kernel names, a synchronisation and a range
 * per hundred launches, and a range "step" per thousand. Power samples come every 20 ms, updates of the
 * energy counter every 100 ms. Usage: bench_ledger_time [ACTIVITIES]; the default of ten million covers ten
 * minutes.
 */

enum { STREAMS = 4, THREADS = 2, NAMES = 500, SYNC_EVERY = 100, STEP_EVERY = 1000 };
enum { LAUNCH_NS = 60000, SAMPLE_NS = 20020000, SAMPLES_A_TICK = 5, IDLE_MW = 120000 };

static struct kwhy_error error;

static void must(enum kwhy_status status)
{
	if (status == KWHY_OK)
		return;
	fprintf(stderr, "bench_ledger_time: %s\n", error.text);
	exit(1);
}

/* Processor time of this process, which other programs hardly change. */
static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint32_t name_of(struct kwhy_recording *recording, const char *text)
{
	uint32_t name;

	must(kwhy_names_intern(&recording->names, text, strlen(text), &name, &error));
	return name;
}

static void add_tables(struct kwhy_recording *recording)
{
	struct kwhy_device device = {.rank = KWHY_NONE,
		.sm_count = 132,
		.threads_per_sm = 2048,
		.limit_mw = 700000,
		.context_idle_mw = IDLE_MW,
		.clean_idle_mw = -1};
	struct kwhy_process process = {.pid = 1, .rank = KWHY_NONE};

	must(kwhy_recording_add_device(recording, &device, NULL, &error));
	must(kwhy_recording_add_process(recording, &process, NULL, &error));
	for (int i = 0; i < THREADS; i++)
		must(kwhy_recording_add_thread(recording, &(struct kwhy_thread){.tid = i}, NULL, &error));
	for (int i = 0; i < STREAMS; i++)
		must(kwhy_recording_add_stream(recording, &(struct kwhy_stream){.id = i}, NULL, &error));
}

static void add_ranges(struct kwhy_recording *recording, size_t launch, int64_t now_ns)
{
	struct kwhy_range range = {
		.start_ns = now_ns,
		.end_ns = now_ns + (int64_t)SYNC_EVERY * LAUNCH_NS,
		.name = name_of(recording, "layer"),
		.thread = (uint32_t)(launch / 1000 % THREADS),
		.kind = KWHY_RANGE_NVTX,
	};

	must(kwhy_recording_add_range(recording, &range, &error));
	if (launch % STEP_EVERY)
		return;
	range.kind = KWHY_RANGE_STEP;
	range.end_ns = now_ns + (int64_t)STEP_EVERY * LAUNCH_NS;
	must(kwhy_recording_add_range(recording, &range, &error));
}

static void add_work(struct kwhy_recording *recording, size_t count)
{
	uint32_t launch = name_of(recording, "cudaLaunchKernel");
	uint32_t synchronize = name_of(recording, "cudaStreamSynchronize");
	uint32_t names[NAMES];
	uint64_t random = 88172645463325252u;
	int64_t now_ns = 0;

	for (int i = 0; i < NAMES; i++) {
		char text[32];

		snprintf(text, sizeof(text), "kernel_%d", i);
		names[i] = name_of(recording, text);
	}
	for (size_t i = 0; i < count; i++) {
		struct kwhy_activity activity = kwhy_activity_unknown();
		bool copy = i % 10 == 9;

		random ^= random << 13, random ^= random >> 7, random ^= random << 17;
		now_ns += LAUNCH_NS / 2 + (int64_t)(random % LAUNCH_NS);
		activity.start_ns = now_ns + 5000;
		activity.end_ns = activity.start_ns + LAUNCH_NS / 4 + (int64_t)(random >> 20) % LAUNCH_NS;
		activity.name = copy ? 0 : names[(random >> 40) % NAMES];
		activity.stream = (uint32_t)(random >> 50) % STREAMS;
		activity.kind = copy ? KWHY_ACTIVITY_COPY : KWHY_ACTIVITY_KERNEL;
		activity.bytes = copy ? random % 1000000 : KWHY_UNKNOWN_BYTES;
		activity.blocks = (uint32_t)(random >> 30) % 2000;
		activity.threads_per_block = 256;
		activity.call = (uint32_t)i;
		must(kwhy_recording_add_activity(recording, &activity, &error));
		must(kwhy_recording_add_call(recording, now_ns, now_ns + 1500, launch,
			(uint32_t)(i / 1000 % THREADS), (uint32_t)i, &error));
		if (i % SYNC_EVERY == 0)
			add_ranges(recording, i, now_ns);
		if (i % SYNC_EVERY == 0)
			must(kwhy_recording_add_call(
				recording, now_ns + 1600, now_ns + 2000, synchronize, 0, KWHY_NONE, &error));
	}
}

/* The power during each sample: idle, or 0 to 400 W above it, depending on the kernel's name. */
static int64_t *mean_powers(const struct kwhy_activities *rows, size_t count)
{
	int64_t *power_mw = calloc(count, sizeof(*power_mw));

	for (size_t i = 0; power_mw && i < count; i++)
		power_mw[i] = IDLE_MW;
	for (size_t i = 0; power_mw && i < rows->count; i++)
		power_mw[rows->start_ns[i] / SAMPLE_NS] += (rows->end_ns[i] - rows->start_ns[i]) *
			(rows->name[i] % 9 * 50000) / SAMPLE_NS;
	return power_mw;
}

static void add_meters(struct kwhy_recording *recording)
{
	const struct kwhy_activities *rows = &recording->activities;
	size_t count = (size_t)(rows->end_ns[rows->count - 1] / SAMPLE_NS) + 2;
	int64_t *power_mw = mean_powers(rows, count), energy_mj = 0;

	if (!power_mw)
		exit(1);
	for (size_t i = 0; i < count; i++) {
		int64_t at_ns = (int64_t)(i + 1) * SAMPLE_NS;

		energy_mj += power_mw[i] * (SAMPLE_NS / 1000) / 1000000;
		must(kwhy_recording_add_reading(
			recording, KWHY_METER_NVML_SAMPLE, 0, 0, at_ns, power_mw[i], &error));
		if (i % SAMPLES_A_TICK == 0)
			must(kwhy_recording_add_reading(
				recording, KWHY_METER_NVML_ENERGY, 0, 0, at_ns, energy_mj, &error));
	}
	free(power_mw);
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_device_ledger device_ledger = {0};
	struct kwhy_ledger ledger = {.devices = &device_ledger, .device_count = 1};
	struct kwhy_recording *recording;
	struct kwhy_covered covered;
	double start_s, time_s, accounts_s, sums_s, energy_s;

	must(kwhy_recording_new(&recording, &error));
	add_tables(recording);
	add_work(recording, count);
	add_meters(recording);
	must(kwhy_recording_finish(recording, &error));
	start_s = now_s();
	must(kwhy_covered_init(&covered, recording, 0, &error));
	must(kwhy_ledger_coverage(&ledger, recording, 0, &covered, &error));
	must(kwhy_ledger_time(&ledger, recording, 0, &covered, &error));
	kwhy_covered_done(&covered);
	time_s = now_s();
	must(kwhy_ledger_accounts(&ledger, recording, 0, &error));
	accounts_s = now_s();
	must(kwhy_ledger_sums(&ledger, recording, &options, &error));
	sums_s = now_s();
	must(kwhy_ledger_energy(&ledger, recording, 0, &options, &error));
	energy_s = now_s();
	printf("%zu activities, %zu calls, %zu ranges, %" PRIu64
	       " gaps, %zu accounts, %zu steps: time %.2f s, "
	       "accounts %.2f s, sums %.2f s, energy %.2f s\n",
		recording->activities.count, recording->calls.count, recording->range_count,
		device_ledger.time.idle_gaps, device_ledger.account_count, ledger.step_count,
		time_s - start_s, accounts_s - time_s, sums_s - accounts_s, energy_s - sums_s);
	kwhy_arena_done(&ledger.arena);
	kwhy_recording_free(recording);
	return 0;
}
