/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/ledger_new.h"
#include "ok.h"
#include "report/export/export.h"
#include "unit/import/recorded_tape.h"

/*
 * Tests that a trace and its own export cannot be imported together, as all work would count twice, and that
 * exports keep ranks.
 */

enum { PATH_BYTES = 32, RANKS = 2 };

static const struct kwhy_import_options no_options;
static struct kwhy_error error;

static void make_path(char path[PATH_BYTES])
{
	int fd;

	strcpy(path, "/tmp/kwhy-copies-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
}

/*
 * Writes the recording of a rank on its own GPU: a kernel, a graph, copies in three directions (one unknown),
 * and a memset. rank: KWHY_WIRE_UNKNOWN_U32: no rank.
 */
static void record(const char *path, uint32_t rank)
{
	static const uint8_t ways[] = {KWHY_COPY_H2D, KWHY_COPY_H2H, KWHY_COPY_UNKNOWN};
	struct tape tape;

	tape_init(&tape, open(path, O_RDWR), rank == KWHY_WIRE_UNKNOWN_U32 ? 9 : rank + 1);
	say_names(&tape);
	ADD(&tape, PROCESS, process, .pid = 42, .host = HOST, .rank = rank, .world_size = RANKS);
	ADD(&tape, CLOCK, clock, .mono_ns = 1000 * MS, .offset_ns = BOOT_UNIX_NS, .width_ns = 100);
	ADD(&tape, KERNEL, kernel, .start_mono_ns = 1100 * MS, .end_mono_ns = 1103 * MS, .stream = 7,
		.device = rank == 1, .name = GEMM);
	ADD(&tape, KERNEL, kernel, .start_mono_ns = 1103 * MS, .end_mono_ns = 1104 * MS, .stream = 7,
		.device = rank == 1, .name = SAMPLE, .is_graph = 1);
	for (int i = 0; i < 3; i++)
		ADD(&tape, COPY, copy, .start_mono_ns = (1106 + i) * MS, .end_mono_ns = (1107 + i) * MS,
			.bytes = 1 << 20, .stream = 7, .device = rank == 1, .copy_kind = ways[i],
			.src_memory = KWHY_MEMORY_PINNED, .dst_memory = KWHY_MEMORY_DEVICE,
			.src_device = KWHY_WIRE_UNKNOWN_U16, .dst_device = KWHY_WIRE_UNKNOWN_U16);
	ADD(&tape, MEMSET, memset, .start_mono_ns = 1110 * MS, .end_mono_ns = 1111 * MS, .bytes = 64,
		.stream = 7, .device = rank == 1, .memory = KWHY_MEMORY_DEVICE);
	tape_done(&tape);
	close(tape.fd);
}

static void write_as(const char *form, const struct kwhy_recording *recording, const char *path)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_findings findings = {0};
	struct kwhy_report report = {.recording = recording, .findings = &findings};
	struct kwhy_ledger *ledger;

	OK(kwhy_ledger_new(recording, &options, &ledger, &error));
	report.ledger = ledger;
	OK(kwhy_exporter_find(form)->write(&report, path, false, &error));
	kwhy_ledger_free(ledger);
}

/* Imports two traces into one recording, which is freed. Returns the status of the second import. */
static enum kwhy_status read_both(const char *first, const char *second)
{
	struct kwhy_recording *recording;
	enum kwhy_status status;

	OK(kwhy_recording_new(&recording, &error));
	OK(kwhy_import_trace(recording, first, &no_options, &error));
	status = kwhy_import_trace(recording, second, &no_options, &error);
	kwhy_recording_free(recording);
	return status;
}

static void is_refused_beside_its_export(uint32_t rank, const char *form)
{
	char path[PATH_BYTES], copy[PATH_BYTES];
	struct kwhy_recording *recording;

	make_path(path);
	make_path(copy);
	record(path, rank);
	recording = import(path);
	write_as(form, recording, copy);
	kwhy_recording_free(recording);
	if (read_both(path, copy) != KWHY_E_INPUT || read_both(copy, path) != KWHY_E_INPUT)
		fail_msg("as %s it is no copy", form);
	assert_non_null(strstr(error.text, "holds the same work as"));
	unlink(path);
	unlink(copy);
}

static void a_recording_beside_its_own_export_is_refused(void **state)
{
	static const uint32_t ranks[] = {KWHY_WIRE_UNKNOWN_U32, 0, 1};

	(void)state;
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		is_refused_beside_its_export(ranks[i], "csv");
		is_refused_beside_its_export(ranks[i], "chrome");
	}
}

/*
 * Records the first `count` ranks, exports them together in the format `form`, and imports the export. The
 * caller frees the returned recording.
 */
static struct kwhy_recording *there_and_back(uint32_t count, const char *form)
{
	char paths[RANKS][PATH_BYTES], copy[PATH_BYTES];
	struct kwhy_recording *recording, *back;

	OK(kwhy_recording_new(&recording, &error));
	make_path(copy);
	for (uint32_t i = 0; i < count; i++) {
		make_path(paths[i]);
		record(paths[i], i);
		OK(kwhy_import_trace(recording, paths[i], &no_options, &error));
		unlink(paths[i]);
	}
	OK(kwhy_recording_finish(recording, &error));
	write_as(form, recording, copy);
	back = import(copy);
	kwhy_recording_free(recording);
	unlink(copy);
	return back;
}

static void devices_keep_their_ranks(void **state)
{
	static const char *const forms[] = {"csv", "chrome"};

	(void)state;
	for (size_t form = 0; form < 2; form++) {
		struct kwhy_recording *back = there_and_back(RANKS, forms[form]);

		assert_int_equal(back->device_count, RANKS);
		for (uint32_t i = 0; i < RANKS; i++) {
			assert_int_equal(back->devices[i].index, i);
			assert_int_equal(back->devices[i].rank, i);
		}
		kwhy_recording_free(back);
	}
}

static void activities_keep_their_kinds_in_csv(void **state)
{
	static const uint8_t kinds[] = {KWHY_ACTIVITY_KERNEL, KWHY_ACTIVITY_GRAPH, KWHY_ACTIVITY_COPY,
		KWHY_ACTIVITY_COPY, KWHY_ACTIVITY_COPY, KWHY_ACTIVITY_MEMSET};
	struct kwhy_recording *back = there_and_back(1, "csv");
	const struct kwhy_activities *rows = &back->activities;

	(void)state;
	assert_int_equal(rows->count, sizeof(kinds));
	for (size_t i = 0; i < sizeof(kinds); i++)
		assert_int_equal(rows->kind[i], kinds[i]);
	assert_int_equal(rows->copy_kind[2], KWHY_COPY_H2D);
	assert_int_equal(rows->copy_kind[3], KWHY_COPY_H2H);
	assert_int_equal(rows->copy_kind[4], KWHY_COPY_UNKNOWN);
	kwhy_recording_free(back);
}

static void processes_keep_their_ranks_in_chrome(void **state)
{
	(void)state;
	for (uint32_t ranks = 1; ranks <= RANKS; ranks++) {
		struct kwhy_recording *back = there_and_back(ranks, "chrome");

		assert_int_equal(back->process_count, ranks);
		for (uint32_t i = 0; i < ranks; i++) {
			assert_int_equal(back->processes[i].rank, i);
			assert_int_equal(back->processes[i].world_size, RANKS);
			assert_int_equal(back->processes[back->streams[i].process].rank,
				back->devices[back->streams[i].device].rank);
		}
		kwhy_recording_free(back);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_beside_its_own_export_is_refused),
		cmocka_unit_test(devices_keep_their_ranks),
		cmocka_unit_test(activities_keep_their_kinds_in_csv),
		cmocka_unit_test(processes_keep_their_ranks_in_chrome),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
