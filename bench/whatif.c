/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/whatif.h"
#include "ledger/ledger_new.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Measures the time of a full plan (kwhy whatif --plan) for a synthetic recording with every kind of waste
 * that a change can remove. Each step has 24 activities: pageable copies of 38 bytes, tiny kernels,
 * read-backs of single numbers, 64 KiB sent to the device and back, and collectives on a stream of their own.
 * It also has two waits after each fourth launch, an allocation and a free. In every tenth step the host
 * pauses. Powers are assumed. Usage: bench_whatif [ACTIVITIES]
 */

static struct kwhy_error error;

static void must(enum kwhy_status status)
{
	if (status == KWHY_OK)
		return;
	fprintf(stderr, "bench_whatif: %s\n", error.text);
	exit(1);
}

/* Processor time of this process, which other programs hardly change. */
static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/*
 * The recording that is being made. host_ns, device_ns: end of the last call and of the last activity so far.
 */
struct maker {
	struct kwhy_recording *recording;
	int64_t host_ns, device_ns;
	uint32_t correlation;
};

static uint32_t name_of(struct maker *maker, const char *text)
{
	uint32_t name;

	must(kwhy_names_intern(&maker->recording->names, text, strlen(text), &name, &error));
	return name;
}

static void call(struct maker *maker, const char *name, int64_t length_ns, uint32_t correlation)
{
	must(kwhy_recording_add_call(maker->recording, maker->host_ns, maker->host_ns + length_ns,
		name_of(maker, name), 0, correlation, &error));
	maker->host_ns += length_ns + 500;
}

/*
 * Adds a call of 3 us and the activity that it launches. The activity starts 6 us after the start of the
 * call, but at least 1 us after the end of the previous activity.
 */
static void issue(struct maker *maker, const char *name, struct kwhy_activity activity, int64_t length_ns)
{
	int64_t start_ns = maker->host_ns + 6000;

	if (start_ns < maker->device_ns + 1000)
		start_ns = maker->device_ns + 1000;
	activity.start_ns = start_ns;
	activity.end_ns = maker->device_ns = start_ns + length_ns;
	activity.call = ++maker->correlation;
	call(maker, name, 3000, activity.call);
	must(kwhy_recording_add_activity(maker->recording, &activity, &error));
}

static void kernel(struct maker *maker, const char *name, uint32_t stream, int64_t length_ns)
{
	struct kwhy_activity activity = kwhy_activity_unknown();

	activity.name = name_of(maker, name);
	activity.stream = stream;
	activity.blocks = 16;
	activity.threads_per_block = 256;
	activity.kind = stream ? KWHY_ACTIVITY_COLLECTIVE : KWHY_ACTIVITY_KERNEL;
	issue(maker, "cudaLaunchKernel", activity, length_ns);
}

static void copy(struct maker *maker, enum kwhy_copy_kind kind, uint64_t bytes)
{
	struct kwhy_activity activity = kwhy_activity_unknown();
	bool up = kind == KWHY_COPY_H2D;

	activity.name = name_of(maker, up ? "Memcpy HtoD" : "Memcpy DtoH");
	activity.stream = 0;
	activity.kind = KWHY_ACTIVITY_COPY;
	activity.copy_kind = (uint8_t)kind;
	activity.bytes = bytes;
	activity.src_memory = up ? KWHY_MEMORY_PAGEABLE : KWHY_MEMORY_DEVICE;
	activity.dst_memory = up ? KWHY_MEMORY_DEVICE : KWHY_MEMORY_PAGEABLE;
	issue(maker, "cudaMemcpyAsync", activity, 1500 + (int64_t)bytes / 10);
}

static void wait(struct maker *maker)
{
	int64_t until_ns = maker->device_ns + 2000;

	call(maker, "cudaStreamSynchronize", until_ns > maker->host_ns ? until_ns - maker->host_ns : 1000,
		KWHY_NONE);
}

/* Adds one step of 24 activities. */
static void step(struct maker *maker, size_t number)
{
	static const char *const names[] = {"k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"};

	maker->host_ns += number % 10 ? 5000 : 300000;
	for (int i = 0; i < 4; i++)
		copy(maker, KWHY_COPY_H2D, 38);
	call(maker, "cudaMalloc", 20000, KWHY_NONE);
	for (int i = 0; i < 12; i++) {
		kernel(maker, names[i % 8], 0, 2000 + 500 * (i % 8));
		if (i % 4 == 3) {
			wait(maker);
			wait(maker);
		}
	}
	kernel(maker, "allreduce", 1, 4000);
	for (int i = 0; i < 5; i++) {
		copy(maker, KWHY_COPY_D2H, 4);
		wait(maker);
	}
	copy(maker, KWHY_COPY_D2H, 65536);
	copy(maker, KWHY_COPY_H2D, 65536);
	call(maker, "cudaFree", 30000, KWHY_NONE);
}

static struct kwhy_recording *make(size_t activities)
{
	struct kwhy_device device = {.rank = KWHY_NONE,
		.sm_count = 132,
		.limit_mw = -1,
		.context_idle_mw = -1,
		.clean_idle_mw = -1};
	struct kwhy_process process = {.pid = 1, .rank = KWHY_NONE};
	struct maker maker = {0};

	must(kwhy_recording_new(&maker.recording, &error));
	must(kwhy_recording_add_device(maker.recording, &device, NULL, &error));
	must(kwhy_recording_add_process(maker.recording, &process, NULL, &error));
	must(kwhy_recording_add_thread(maker.recording, &(struct kwhy_thread){.tid = 1}, NULL, &error));
	for (int i = 0; i < 2; i++)
		must(kwhy_recording_add_stream(
			maker.recording, &(struct kwhy_stream){.id = i}, NULL, &error));
	for (size_t i = 0; i * 24 < activities; i++)
		step(&maker, i);
	must(kwhy_recording_finish(maker.recording, &error));
	return maker.recording;
}

int main(int argc, char **argv)
{
	size_t activities = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 1000000;
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = make(activities);
	struct kwhy_profile profile;
	struct kwhy_whatif *whatif;
	struct kwhy_ledger *ledger;
	struct kwhy_plan *plan;
	double start_s, graph_s;

	options.assumed = (struct kwhy_assumed_powers){.given = true, .all_w = 300};
	must(kwhy_ledger_new(recording, &options, &ledger, &error));
	kwhy_profile_init(&profile);
	profile.graph_launch_s.value = 1e-6;
	profile.h2d_pinned_rate_bytes_per_s.value = profile.d2h_pinned_rate_bytes_per_s.value = 55e9;
	start_s = now_s();
	must(kwhy_whatif_new(recording, ledger, &profile, &whatif, &error));
	graph_s = now_s() - start_s;
	must(kwhy_whatif_plan(whatif, 0.01, argc > 2, &plan, &error));
	printf("%zu activities, %zu calls: graph %.2f s, plan of %zu changes %.2f s, in all %.2f s\n",
		recording->activities.count, recording->calls.count, graph_s, plan->change_count,
		now_s() - start_s - graph_s, now_s() - start_s);
	for (size_t i = 0; i < plan->change_count; i++)
		printf("  %-20s %.4f s\n", plan->changes[i].id,
			(double)plan->changes[i].after.time_ns * 1e-9);
	kwhy_plan_free(plan);
	kwhy_whatif_free(whatif);
	kwhy_ledger_free(ledger);
	kwhy_recording_free(recording);
	return 0;
}
