/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "ok.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct kwhy_error error;

enum { US = 1000, IDLE_W = 100, BUSY_W = 300 };

struct build build_new(uint32_t device_count)
{
	struct build build = {0};

	OK(kwhy_recording_new(&build.recording, &error));
	for (uint32_t d = 0; d < device_count; d++) {
		struct kwhy_device device = {.index = (int32_t)d,
			.rank = KWHY_NONE,
			.sm_count = 100,
			.limit_mw = -1,
			.context_idle_mw = -1,
			.clean_idle_mw = -1};
		struct kwhy_process process = {.pid = 100 + d, .rank = KWHY_NONE};

		OK(kwhy_recording_add_device(build.recording, &device, NULL, &error));
		OK(kwhy_recording_add_process(build.recording, &process, NULL, &error));
	}
	for (uint32_t d = 0; d < device_count; d++) {
		build_thread(&build, d);
		build_stream(&build, d);
	}
	return build;
}

static void free_ledger(struct kwhy_ledger *ledger)
{
	if (!ledger)
		return;
	kwhy_arena_done(&ledger->arena);
	free(ledger);
}

void build_free(struct build *build)
{
	kwhy_findings_free(build->findings);
	free_ledger(build->ledger);
	kwhy_recording_free(build->recording);
}

uint32_t build_stream(struct build *build, uint32_t device)
{
	struct kwhy_stream stream = {.device = device,
		.process = device,
		.context = 1,
		.id = (int64_t)build->recording->stream_count};
	uint32_t index;

	OK(kwhy_recording_add_stream(build->recording, &stream, &index, &error));
	return index;
}

uint32_t build_thread(struct build *build, uint32_t device)
{
	struct kwhy_thread thread = {.process = device, .tid = (int64_t)build->recording->thread_count};
	uint32_t index;

	OK(kwhy_recording_add_thread(build->recording, &thread, &index, &error));
	return index;
}

static uint32_t name_of(struct build *build, const char *name)
{
	uint32_t id;

	OK(kwhy_names_intern(&build->recording->names, name, strlen(name), &id, &error));
	return id;
}

static void add_call(struct build *build, struct build_issue issue, uint32_t correlation)
{
	OK(kwhy_recording_add_call(build->recording, issue.call_start_us * US, issue.call_end_us * US,
		name_of(build, issue.call), issue.thread, correlation, &error));
}

void build_call(struct build *build, uint32_t thread, const char *name, int64_t start_us, int64_t end_us)
{
	add_call(build, (struct build_issue){thread, name, start_us, end_us}, KWHY_NONE);
}

void build_range(struct build *build, uint32_t thread, const char *name, int64_t start_us, int64_t end_us)
{
	struct kwhy_range range = {.start_ns = start_us * US,
		.end_ns = end_us * US,
		.name = name_of(build, name),
		.thread = thread,
		.kind = KWHY_RANGE_NVTX};

	OK(kwhy_recording_add_range(build->recording, &range, &error));
}

void build_host_range(struct build *build, enum kwhy_host_kind kind, const char *name, const char *file,
	int64_t start_us, int64_t end_us)
{
	struct kwhy_host_range range = {.start_ns = start_us * US,
		.end_ns = end_us * US,
		.name = name_of(build, name),
		.file = file ? name_of(build, file) : 0,
		.line = file ? 42 : 0,
		.kind = (uint8_t)kind};

	OK(kwhy_recording_add_host_range(build->recording, &range, &error));
}

void build_operator(
	struct build *build, const char *name, const char *shape, int64_t start_us, int64_t end_us)
{
	struct kwhy_host_range range = {.start_ns = start_us * US,
		.end_ns = end_us * US,
		.name = name_of(build, name),
		.shape = name_of(build, shape),
		.kind = KWHY_HOST_OPERATOR};

	OK(kwhy_recording_add_host_range(build->recording, &range, &error));
}

static struct kwhy_activity activity_of(
	struct build *build, enum kwhy_activity_kind kind, uint32_t stream, int64_t start_us, int64_t end_us)
{
	struct kwhy_activity activity = kwhy_activity_unknown();

	activity.kind = (uint8_t)kind;
	activity.stream = stream;
	activity.start_ns = start_us * US;
	activity.end_ns = end_us * US;
	activity.name = name_of(build, "kernel");
	return activity;
}

static void add(struct build *build, const struct kwhy_activity *activity)
{
	OK(kwhy_recording_add_activity(build->recording, activity, &error));
}

void build_kernel(struct build *build, uint32_t stream, const char *name, int64_t start_us, int64_t end_us)
{
	struct kwhy_activity activity = activity_of(build, KWHY_ACTIVITY_KERNEL, stream, start_us, end_us);

	activity.name = name_of(build, name);
	add(build, &activity);
}

void build_blocks(struct build *build, uint32_t stream, uint32_t blocks, int64_t start_us, int64_t end_us)
{
	struct kwhy_activity activity = activity_of(build, KWHY_ACTIVITY_KERNEL, stream, start_us, end_us);

	activity.blocks = blocks;
	add(build, &activity);
}

void build_collective(struct build *build, uint32_t stream, int64_t start_us, int64_t end_us)
{
	struct kwhy_activity activity = activity_of(
		build, KWHY_ACTIVITY_COLLECTIVE, stream, start_us, end_us);

	add(build, &activity);
}

void build_memset(struct build *build, uint32_t stream, int64_t start_us, int64_t end_us)
{
	struct kwhy_activity activity = activity_of(build, KWHY_ACTIVITY_MEMSET, stream, start_us, end_us);

	add(build, &activity);
}

static struct kwhy_activity copy_of(struct build *build, uint32_t stream, struct build_copied copied)
{
	struct kwhy_activity activity = activity_of(
		build, KWHY_ACTIVITY_COPY, stream, copied.start_us, copied.end_us);
	bool up = copied.kind == KWHY_COPY_H2D;

	activity.copy_kind = (uint8_t)copied.kind;
	activity.bytes = copied.bytes;
	activity.src_memory = (uint8_t)(up ? copied.host_memory : KWHY_MEMORY_DEVICE);
	activity.dst_memory = (uint8_t)(up ? KWHY_MEMORY_DEVICE : copied.host_memory);
	return activity;
}

void build_copy(struct build *build, uint32_t stream, enum kwhy_copy_kind kind, uint64_t bytes,
	int64_t start_us, int64_t end_us)
{
	struct kwhy_activity activity = copy_of(
		build, stream, (struct build_copied){kind, KWHY_MEMORY_PINNED, bytes, start_us, end_us});

	add(build, &activity);
}

static void add_issued(struct build *build, struct build_issue issue, struct kwhy_activity *activity)
{
	activity->call = ++build->correlation;
	add_call(build, issue, build->correlation);
	add(build, activity);
}

void build_issued_kernel(
	struct build *build, struct build_issue issue, uint32_t stream, int64_t start_us, int64_t end_us)
{
	struct kwhy_activity activity = activity_of(build, KWHY_ACTIVITY_KERNEL, stream, start_us, end_us);

	add_issued(build, issue, &activity);
}

void build_issued_memset(
	struct build *build, struct build_issue issue, uint32_t stream, int64_t start_us, int64_t end_us)
{
	struct kwhy_activity activity = activity_of(build, KWHY_ACTIVITY_MEMSET, stream, start_us, end_us);

	add_issued(build, issue, &activity);
}

void build_issued_copy(
	struct build *build, struct build_issue issue, uint32_t stream, struct build_copied copied)
{
	struct kwhy_activity activity = copy_of(build, stream, copied);

	add_issued(build, issue, &activity);
}

static int64_t last_end_ns(const struct kwhy_recording *recording)
{
	int64_t last_ns = 0;

	for (size_t i = 0; i < recording->activities.count; i++)
		if (recording->activities.end_ns[i] > last_ns)
			last_ns = recording->activities.end_ns[i];
	return last_ns;
}

static struct kwhy_account account_of(enum kwhy_category category, double power_w, uint32_t power_class)
{
	int64_t gross_nj = 1000000;

	return (struct kwhy_account){.category = category,
		.name = kwhy_category_name(category),
		.gross_nj = gross_nj,
		.low_nj = gross_nj * 9 / 10,
		.high_nj = gross_nj * 11 / 10,
		.mean_power_mw = (int64_t)(power_w * 1000),
		.basis = KWHY_BASIS_DATA,
		.group = KWHY_NONE,
		.power_class = power_class};
}

/*
 * Fills a device's ledger with two accounts, busy and idle, at constant powers (BUSY_W, IDLE_W), from time 0
 * to the end of the last activity.
 */
static void fill_device(struct kwhy_ledger *ledger, struct kwhy_device_ledger *device,
	const struct kwhy_recording *recording, uint32_t index)
{
	size_t rows = recording->activities.first[index + 1] - recording->activities.first[index];
	struct kwhy_power_class busy = {
		.power_w = BUSY_W, .low_w = BUSY_W, .high_w = BUSY_W, .prior_power_w = BUSY_W};
	struct kwhy_power_class idle = {
		.power_w = IDLE_W, .low_w = IDLE_W, .high_w = IDLE_W, .prior_power_w = IDLE_W};

	device->account_count = device->class_count = 2;
	device->accounts = kwhy_arena_alloc(&ledger->arena, 2, sizeof(*device->accounts));
	device->classes = kwhy_arena_alloc(&ledger->arena, 2, sizeof(*device->classes));
	device->account_of = kwhy_arena_alloc(&ledger->arena, rows + 1, sizeof(*device->account_of));
	device->accounts[0] = account_of(KWHY_CATEGORY_COMPUTE, BUSY_W, 0);
	device->accounts[1] = account_of(KWHY_CATEGORY_HOST, IDLE_W, 1);
	device->classes[0] = busy;
	device->classes[1] = idle;
	device->curve.count = 1;
	device->curve.edge_ns = kwhy_arena_alloc(&ledger->arena, 2, sizeof(*device->curve.edge_ns));
	device->curve.scale = kwhy_arena_alloc(&ledger->arena, 1, sizeof(*device->curve.scale));
	device->curve.edge_ns[1] = last_end_ns(recording);
	device->curve.scale[0] = device->curve.unmetered_scale = 1;
	device->time.kernel_count = rows;
	device->energy.known = true;
	device->energy.context_idle_w = IDLE_W;
	device->energy.clean_idle_w = NAN;
	device->energy.end_ns = device->time.last_ns = device->curve.edge_ns[1];
	device->energy.measured_nj = device->energy.attributed_nj = BUSY_W * device->curve.edge_ns[1];
}

static struct kwhy_ledger *flat_ledger(const struct kwhy_recording *recording)
{
	struct kwhy_ledger *ledger = calloc(1, sizeof(*ledger));

	assert_non_null(ledger);
	ledger->device_count = recording->device_count;
	ledger->devices = kwhy_arena_alloc(
		&ledger->arena, ledger->device_count + 1, sizeof(*ledger->devices));
	for (uint32_t d = 0; d < ledger->device_count; d++)
		fill_device(ledger, &ledger->devices[d], recording, d);
	return ledger;
}

void build_finish(struct build *build, bool with_energy)
{
	OK(kwhy_recording_finish(build->recording, &error));
	if (with_energy)
		build->ledger = flat_ledger(build->recording);
}

const struct kwhy_finding *build_detect(
	struct build *build, const char *id, const struct kwhy_detect_options *options)
{
	kwhy_findings_free(build->findings);
	build->findings = NULL;
	OK(kwhy_detect_run(
		build->recording, build->ledger, build->profile, options, &build->findings, &error));
	for (size_t i = 0; i < build->findings->count; i++)
		if (!strcmp(build->findings->items[i].id, id))
			return &build->findings->items[i];
	return NULL;
}

const struct kwhy_finding *build_find(struct build *build, const char *id, const char *threshold)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();

	options.thresholds = &threshold;
	options.threshold_count = threshold != NULL;
	if (!build->recording->finished)
		build_finish(build, false);
	return build_detect(build, id, &options);
}
