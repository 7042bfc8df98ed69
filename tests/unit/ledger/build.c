/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/build.h"

#include <string.h>

struct kwhy_error error;

uint32_t build_device(struct kwhy_recording *recording, int32_t index)
{
	struct kwhy_device device = {
		.index = index,
		.rank = KWHY_NONE,
		.limit_mw = -1,
		.context_idle_mw = -1,
		.clean_idle_mw = -1,
	};
	uint32_t number;

	OK(kwhy_recording_add_device(recording, &device, &number, &error));
	return number;
}

uint32_t build_machine(struct kwhy_recording *recording, const char *name)
{
	struct kwhy_machine machine = {.width_ns = -1};
	uint32_t number;

	OK(kwhy_names_intern(&recording->names, name, strlen(name), &machine.host, &error));
	OK(kwhy_recording_add_machine(recording, &machine, &number, &error));
	return number;
}

uint32_t build_process(struct kwhy_recording *recording, int64_t pid)
{
	struct kwhy_process process = {.pid = pid, .rank = KWHY_NONE};
	uint32_t number;

	OK(kwhy_recording_add_process(recording, &process, &number, &error));
	return number;
}

uint32_t build_thread(struct kwhy_recording *recording, uint32_t process, int64_t tid)
{
	struct kwhy_thread thread = {.process = process, .tid = tid};
	uint32_t number;

	OK(kwhy_recording_add_thread(recording, &thread, &number, &error));
	return number;
}

uint32_t build_stream(struct kwhy_recording *recording, uint32_t device, uint32_t process, int64_t id)
{
	struct kwhy_stream stream = {.device = device, .process = process, .context = -1, .id = id};
	uint32_t number;

	OK(kwhy_recording_add_stream(recording, &stream, &number, &error));
	return number;
}

struct kwhy_recording *build_one(void)
{
	struct kwhy_recording *recording;

	OK(kwhy_recording_new(&recording, &error));
	build_device(recording, 0);
	build_process(recording, 100);
	build_thread(recording, 0, 1);
	build_stream(recording, 0, 0, 7);
	return recording;
}

uint32_t build_name(struct kwhy_recording *recording, const char *name)
{
	uint32_t number;

	OK(kwhy_names_intern(&recording->names, name, strlen(name), &number, &error));
	return number;
}

struct kwhy_activity build_activity(
	struct kwhy_recording *recording, uint32_t stream, int64_t start_ns, int64_t end_ns, const char *name)
{
	struct kwhy_activity activity = kwhy_activity_unknown();

	activity.start_ns = start_ns;
	activity.end_ns = end_ns;
	activity.stream = stream;
	activity.name = build_name(recording, name);
	return activity;
}

void build_add(struct kwhy_recording *recording, struct kwhy_activity activity)
{
	OK(kwhy_recording_add_activity(recording, &activity, &error));
}

void build_kernel(
	struct kwhy_recording *recording, uint32_t stream, int64_t start_ns, int64_t end_ns, const char *name)
{
	build_add(recording, build_activity(recording, stream, start_ns, end_ns, name));
}

void build_launched(struct kwhy_recording *recording, uint32_t stream, int64_t start_ns, int64_t end_ns,
	uint32_t correlation)
{
	struct kwhy_activity activity = build_activity(recording, stream, start_ns, end_ns, "kernel");

	activity.call = correlation;
	build_add(recording, activity);
}

void build_kind(struct kwhy_recording *recording, uint32_t stream, int64_t start_ns, int64_t end_ns,
	enum kwhy_activity_kind kind)
{
	struct kwhy_activity activity = build_activity(recording, stream, start_ns, end_ns, "");

	activity.kind = (uint8_t)kind;
	build_add(recording, activity);
}

void build_h2d(struct kwhy_recording *recording, uint32_t stream, int64_t start_ns, int64_t end_ns,
	uint64_t bytes, const char *name)
{
	struct kwhy_activity activity = build_activity(recording, stream, start_ns, end_ns, name);

	activity.kind = KWHY_ACTIVITY_COPY;
	activity.copy_kind = KWHY_COPY_H2D;
	activity.src_memory = KWHY_MEMORY_PAGEABLE;
	activity.dst_memory = KWHY_MEMORY_DEVICE;
	activity.bytes = bytes;
	build_add(recording, activity);
}

void build_call(struct kwhy_recording *recording, uint32_t thread, int64_t start_ns, int64_t end_ns,
	const char *name, uint32_t correlation)
{
	OK(kwhy_recording_add_call(
		recording, start_ns, end_ns, build_name(recording, name), thread, correlation, &error));
}

void build_range(struct kwhy_recording *recording, uint32_t thread, int64_t start_ns, int64_t end_ns,
	const char *name, enum kwhy_range_kind kind)
{
	struct kwhy_range range = {
		.start_ns = start_ns,
		.end_ns = end_ns,
		.name = build_name(recording, name),
		.thread = thread,
		.kind = kind,
	};

	OK(kwhy_recording_add_range(recording, &range, &error));
}

struct kwhy_ledger *build_ledger_with(
	struct kwhy_recording *recording, const struct kwhy_ledger_options *options)
{
	struct kwhy_ledger *ledger;

	OK(kwhy_recording_finish(recording, &error));
	OK(kwhy_ledger_new(recording, options, &ledger, &error));
	return ledger;
}

struct kwhy_ledger *build_ledger(struct kwhy_recording *recording)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();

	return build_ledger_with(recording, &options);
}

void build_free(struct kwhy_recording *recording, struct kwhy_ledger *ledger)
{
	kwhy_ledger_free(ledger);
	kwhy_recording_free(recording);
}

const struct kwhy_account *build_account(const struct kwhy_ledger *ledger, uint32_t device, const char *name)
{
	const struct kwhy_device_ledger *device_ledger = &ledger->devices[device];

	for (size_t i = 0; i < device_ledger->account_count; i++)
		if (!strcmp(device_ledger->accounts[i].name, name))
			return &device_ledger->accounts[i];
	return NULL;
}

const char *build_note(const struct kwhy_ledger *ledger, const char *id)
{
	for (size_t i = 0; i < ledger->note_count; i++)
		if (strcmp(ledger->notes[i].id, id) == 0)
			return ledger->notes[i].text;
	return NULL;
}
