/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_REPORT_EXPORTED_H
#define KWHY_TESTS_REPORT_EXPORTED_H

#include "cmocka_all.h"
#include "import/import.h"
#include "ledger/ledger_new.h"
#include "ok.h"
#include "report/export/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * For tests of exports: a run of two ranks, each on a device of its own, whose numbers are equal: GPU 0,
 * process 1, thread 77. make() puts them on machines of the given names, or on unknown machines. Device d
 * runs a kernel of 1 ms from d ms on.
 */

enum { COUNT = 2, PID = 1, TID = 77, CORRELATION = 5 };

static const int64_t ms_ns = 1000000;
static struct kwhy_error error;

static inline uint32_t intern(struct kwhy_recording *recording, const char *text)
{
	uint32_t name;

	OK(kwhy_names_intern(&recording->names, text, strlen(text), &name, &error));
	return name;
}

static inline void add_tracks(struct kwhy_recording *recording, uint32_t rank, uint32_t machine, int64_t pid)
{
	const struct kwhy_device device = {.rank = rank,
		.machine = machine,
		.name = "H200",
		.limit_mw = -1,
		.context_idle_mw = -1,
		.clean_idle_mw = -1};
	const struct kwhy_process process = {.pid = pid, .rank = rank, .machine = machine};
	struct kwhy_thread thread = {.tid = TID};
	struct kwhy_stream stream = {.context = -1, .id = 7};

	OK(kwhy_recording_add_device(recording, &device, &stream.device, &error));
	OK(kwhy_recording_add_process(recording, &process, &thread.process, &error));
	stream.process = thread.process;
	OK(kwhy_recording_add_thread(recording, &thread, NULL, &error));
	OK(kwhy_recording_add_stream(recording, &stream, NULL, &error));
}

static inline void add_row_at(
	struct kwhy_recording *recording, uint32_t track, int64_t start_ns, uint32_t correlation)
{
	struct kwhy_activity activity = kwhy_activity_unknown();

	activity.start_ns = start_ns;
	activity.end_ns = start_ns + ms_ns;
	activity.name = intern(recording, "gemm");
	activity.stream = track;
	activity.call = correlation;
	OK(kwhy_recording_add_activity(recording, &activity, &error));
	OK(kwhy_recording_add_call(recording, start_ns, start_ns + ms_ns,
		intern(recording, "cudaLaunchKernel"), track, correlation, &error));
}

static inline void add_rows(struct kwhy_recording *recording, uint32_t track)
{
	const struct kwhy_range range = {.start_ns = 0,
		.end_ns = COUNT * ms_ns,
		.name = intern(recording, "step 1"),
		.thread = track,
		.kind = KWHY_RANGE_STEP};

	add_row_at(recording, track, track * ms_ns, CORRELATION);
	OK(kwhy_recording_add_range(recording, &range, &error));
}

static inline void add_meters(struct kwhy_recording *recording, uint32_t machine)
{
	const struct kwhy_power_source board = {
		.meter = KWHY_METER_HWMON_POWER, .device = KWHY_NONE, .machine = machine};

	for (int64_t i = 0; i < 3; i++)
		OK(kwhy_recording_add_power(recording, &board, i * ms_ns, 1000 + machine, &error));
}

static inline struct kwhy_recording *make(size_t machine_count, const char *const names[])
{
	struct kwhy_recording *recording;

	OK(kwhy_recording_new(&recording, &error));
	recording->unix_clock = true;
	recording->origin_unix_ns = INT64_C(1795262400000000000);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct kwhy_machine row = {.width_ns = -1};
		uint32_t machine = KWHY_NONE;

		if (i < machine_count) {
			row.host = intern(recording, names[i]);
			OK(kwhy_recording_add_machine(recording, &row, &machine, &error));
			add_meters(recording, machine);
		}
		add_tracks(
			recording, i, machine_count == 1 ? 0 : machine, PID + (machine_count == 1 ? i : 0));
		add_rows(recording, i);
	}
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

/*
 * Exports the recording in the format `form` to a new file. Sets `path` to its path; the caller removes the
 * file.
 */
static inline void write_as(const char *form, const struct kwhy_recording *recording, char path[32])
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_findings findings = {0};
	struct kwhy_report report = {.recording = recording, .findings = &findings};
	struct kwhy_ledger *ledger;
	int fd;

	strcpy(path, "/tmp/kwhy-export-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	OK(kwhy_ledger_new(recording, &options, &ledger, &error));
	report.ledger = ledger;
	OK(kwhy_exporter_find(form)->write(&report, path, false, &error));
	kwhy_ledger_free(ledger);
}

static inline struct kwhy_text contents(const char *form, const struct kwhy_recording *recording)
{
	struct kwhy_text text = {0};
	char path[32], piece[4096];
	size_t length;
	FILE *file;

	write_as(form, recording, path);
	file = fopen(path, "rb");
	assert_non_null(file);
	while ((length = fread(piece, 1, sizeof(piece), file)) > 0)
		kwhy_text_add_bytes(&text, piece, length);
	fclose(file);
	unlink(path);
	return text;
}

static inline size_t count_of(const struct kwhy_text *text, const char *wanted)
{
	size_t count = 0, length = strlen(wanted);

	for (size_t i = 0; i + length <= text->length; i++)
		count += !memcmp(text->data + i, wanted, length);
	return count;
}

static inline void expect(struct kwhy_text text, size_t count, const char *const wanted[])
{
	for (size_t i = 0; i < count; i++)
		if (count_of(&text, wanted[i]) != 1)
			fail_msg("%zu times: %s", count_of(&text, wanted[i]), wanted[i]);
	kwhy_text_done(&text);
}

#define EXPECT(form, recording, ...)                                                         \
	do {                                                                                 \
		const char *const wanted[] = {__VA_ARGS__};                                  \
		expect(contents(form, recording), sizeof(wanted) / sizeof(*wanted), wanted); \
	} while (0)

static inline struct kwhy_recording *read_back(const char *form, const struct kwhy_recording *recording)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_recording *back;
	char path[32];

	write_as(form, recording, path);
	OK(kwhy_recording_new(&back, &error));
	OK(kwhy_import_trace(back, path, &options, &error));
	OK(kwhy_recording_finish(back, &error));
	unlink(path);
	return back;
}

static const char *const nodes[] = {"node-a", "node \"b\""};

#endif
