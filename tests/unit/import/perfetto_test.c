/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/import.h"
#include "ok.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Perfetto traces of the fuzzer's corpus, which are written in the form of rocprofv3 and of GPU drivers. */

#define CORPUS KWHY_SOURCE_DIR "/tests/fuzz/corpus/perfetto/"

static struct kwhy_error error;

static enum kwhy_status read_into(struct kwhy_recording *recording, const char *path, bool partial)
{
	struct kwhy_import_options options = {.partial = partial};

	return kwhy_import_trace(recording, path, &options, &error);
}

static struct kwhy_recording *read_file(const char *path)
{
	struct kwhy_recording *recording;

	OK(kwhy_recording_new(&recording, &error));
	OK(read_into(recording, path, false));
	return recording;
}

static const char *name_of(const struct kwhy_recording *recording, uint32_t name)
{
	return kwhy_names_get(&recording->names, name);
}

static bool has_note(const struct kwhy_recording *recording, const char *id)
{
	for (size_t i = 0; i < recording->note_count; i++)
		if (!strcmp(recording->notes[i].id, id))
			return true;
	return false;
}

static void a_trace_of_rocprof_has_kernels_copies_and_calls_in_unix_time(void **state)
{
	struct kwhy_recording *r = read_file(CORPUS "rocprof.pftrace");

	(void)state;
	assert_true(r->unix_clock);
	assert_int_equal(r->origin_unix_ns, INT64_C(1700000000000000000));
	assert_int_equal(r->activities.count, 2);
	assert_string_equal(name_of(r, r->activities.name[0]), "gemm");
	assert_int_equal(r->activities.start_ns[0], 2000);
	assert_int_equal(r->activities.end_ns[0], 6000);
	assert_int_equal(r->activities.blocks[0], 100);
	assert_int_equal(r->activities.threads_per_block[0], 256);
	assert_int_equal(r->activities.kind[1], KWHY_ACTIVITY_COPY);
	assert_int_equal(r->activities.copy_kind[1], KWHY_COPY_H2D);
	assert_int_equal(r->activities.bytes[1], 4096);
	assert_int_equal(r->device_count, 1);
	assert_int_equal(r->devices[0].index, 4);
	assert_int_equal(r->streams[r->activities.stream[0]].id, 3);
	assert_int_equal(r->calls.count, 1);
	assert_int_equal(r->threads[r->calls.thread[0]].tid, 42);
	assert_int_equal(r->range_count, 1);
	assert_true(has_note(r, "events-unknown"));
	assert_true(has_note(r, "slices-unpaired"));
	OK(kwhy_recording_finish(r, &error));
	assert_int_equal(r->activities.call[0], 0);
	kwhy_recording_free(r);
}

static void stages_of_a_gpu_are_kernels_on_its_queues(void **state)
{
	struct kwhy_recording *r = read_file(CORPUS "stages.pftrace");

	(void)state;
	assert_int_equal(r->activities.count, 2);
	assert_string_equal(name_of(r, r->activities.name[0]), "k<int>");
	assert_string_equal(name_of(r, r->activities.name[1]), "Compute");
	assert_int_equal(r->devices[0].index, 1);
	assert_int_equal(r->streams[0].id, 2);
	assert_int_equal(r->activities.end_ns[1] - r->activities.start_ns[1], 70);
	assert_true(has_note(r, "no-unix-clock"));
	kwhy_recording_free(r);
}

static void a_trace_without_known_slices_is_refused_with_their_kind(void **state)
{
	struct kwhy_recording *recording;

	(void)state;
	OK(kwhy_recording_new(&recording, &error));
	assert_int_equal(read_into(recording, CORPUS "unknown.pftrace", false), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "1 are of unknown kinds (chrome)"));
	kwhy_recording_free(recording);
}

static void a_trace_cut_at_any_byte_is_refused_or_read_up_to_there(void **state)
{
	char bytes[4096], path[] = P_tmpdir "/kwhy-perfetto-XXXXXX";
	FILE *whole = fopen(CORPUS "rocprof.pftrace", "rb");
	size_t size;

	(void)state;
	assert_non_null(whole);
	size = fread(bytes, 1, sizeof(bytes), whole);
	fclose(whole);
	close(mkstemp(path));
	for (size_t length = 1; length < size; length++)
		for (int partial = 0; partial < 2; partial++) {
			FILE *file = fopen(path, "wb");
			struct kwhy_recording *recording;
			enum kwhy_status status;

			assert_int_equal(fwrite(bytes, 1, length, file), length);
			fclose(file);
			OK(kwhy_recording_new(&recording, &error));
			status = read_into(recording, path, partial);
			assert_true(status == KWHY_OK || status == KWHY_E_INPUT);
			kwhy_recording_free(recording);
		}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_of_rocprof_has_kernels_copies_and_calls_in_unix_time),
		cmocka_unit_test(stages_of_a_gpu_are_kernels_on_its_queues),
		cmocka_unit_test(a_trace_without_known_slices_is_refused_with_their_kind),
		cmocka_unit_test(a_trace_cut_at_any_byte_is_refused_or_read_up_to_there),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
