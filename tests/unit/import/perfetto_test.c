/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/import.h"
#include "import/perfetto/file.h"
#include "ok.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Tests the import of Perfetto traces. Those of the fuzzer's corpus have the form that rocprofv3 and drivers
 * of GPUs write; others are made here.
 */

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

/* A trace made by a test, as bytes of protocol buffers. */
struct bytes {
	unsigned char data[8192];
	size_t length;
};

static void put_varint(struct bytes *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		out->data[out->length++] = (unsigned char)(value | 0x80);
	out->data[out->length++] = (unsigned char)value;
}

static void put_number(struct bytes *out, unsigned field, uint64_t value)
{
	put_varint(out, (uint64_t)field << 3 | KWHY_PROTOBUF_VARINT);
	put_varint(out, value);
}

static void put_bytes(struct bytes *out, unsigned field, const void *data, size_t length)
{
	put_varint(out, (uint64_t)field << 3 | KWHY_PROTOBUF_BYTES);
	put_varint(out, length);
	memcpy(out->data + out->length, data, length);
	out->length += length;
}

static void put_text(struct bytes *out, unsigned field, const char *text)
{
	put_bytes(out, field, text, strlen(text));
}

static void put_message(struct bytes *out, unsigned field, const struct bytes *message)
{
	put_bytes(out, field, message->data, message->length);
}

/* Adds an annotation to an event: a text, or a number if the text is NULL. */
static void annotate(struct bytes *event, const char *key, const char *text, uint64_t number)
{
	struct bytes annotation = {.length = 0};

	put_text(&annotation, KWHY_ANNOTATION_NAME, key);
	if (text)
		put_text(&annotation, KWHY_ANNOTATION_TEXT, text);
	else
		put_number(&annotation, KWHY_ANNOTATION_UINT, number);
	put_message(event, KWHY_EVENT_ANNOTATIONS, &annotation);
}

static void begin_event(struct bytes *event, uint64_t type, const char *category, const char *name)
{
	event->length = 0;
	put_number(event, KWHY_EVENT_TYPE, type);
	if (category)
		put_text(event, KWHY_EVENT_CATEGORIES, category);
	if (name)
		put_text(event, KWHY_EVENT_NAME, name);
}

static void put_event(struct bytes *trace, uint64_t time_ns, uint64_t sequence, const struct bytes *event)
{
	struct bytes packet = {.length = 0};

	put_number(&packet, KWHY_PACKET_TIMESTAMP, time_ns);
	put_number(&packet, KWHY_PACKET_SEQUENCE, sequence);
	put_message(&packet, KWHY_PACKET_TRACK_EVENT, event);
	put_message(trace, KWHY_PERFETTO_PACKET, &packet);
}

enum { BEGIN = 1, END = 2 };

static void put_end(struct bytes *trace, uint64_t time_ns, uint64_t sequence)
{
	struct bytes event;

	begin_event(&event, END, NULL, NULL);
	put_event(trace, time_ns, sequence, &event);
}

static struct kwhy_recording *read_bytes(const struct bytes *trace)
{
	char path[] = P_tmpdir "/kwhy-perfetto-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "wb");
	struct kwhy_recording *recording;

	assert_non_null(file);
	assert_int_equal(fwrite(trace->data, 1, trace->length, file), trace->length);
	fclose(file);
	recording = read_file(path);
	unlink(path);
	return recording;
}

/*
 * An annotation has either a number or a text. A number must not be taken for a text that happens to be
 * interned under that number, nor a text such as "4096" for a number.
 */
static void a_number_is_not_a_text_and_a_text_is_not_a_number(void **state)
{
	enum { NUMBERS = 24 };
	struct bytes trace = {.length = 0}, event;
	struct kwhy_recording *r;

	(void)state;
	begin_event(&event, BEGIN, "copy", "a");
	annotate(&event, "copy_kind", "h2d", 0);
	annotate(&event, "agent", "Agent-7", 0);
	annotate(&event, "device", "12", 0);
	annotate(&event, "bytes", "4096", 0);
	put_event(&trace, 1000, 1, &event);
	put_end(&trace, 1010, 1);
	for (uint64_t number = 0; number < NUMBERS; number++) {
		begin_event(&event, BEGIN, "copy", "a");
		annotate(&event, "copy_kind", NULL, number);
		annotate(&event, "agent", NULL, number);
		annotate(&event, "bytes", NULL, number);
		put_event(&trace, 2000 + 20 * number, 1, &event);
		put_end(&trace, 2010 + 20 * number, 1);
	}
	r = read_bytes(&trace);
	assert_int_equal(r->activities.count, 1 + NUMBERS);
	assert_int_equal(r->activities.copy_kind[0], KWHY_COPY_H2D);
	assert_int_equal(r->devices[kwhy_recording_device_of(r, 0)].index, 7);
	assert_int_equal(r->activities.bytes[0], KWHY_UNKNOWN_BYTES);
	for (size_t i = 0; i < NUMBERS; i++) {
		assert_int_equal(r->activities.copy_kind[1 + i], KWHY_COPY_UNKNOWN);
		assert_int_equal(r->devices[kwhy_recording_device_of(r, 1 + i)].index, i);
		assert_int_equal(r->activities.bytes[1 + i], i);
	}
	kwhy_recording_free(r);
}

static void put_default_track(struct bytes *trace, uint64_t sequence, uint64_t track)
{
	struct bytes defaults = {.length = 0}, packet = {.length = 0}, event_defaults = {.length = 0};

	put_number(&event_defaults, KWHY_TRACK_EVENT_DEFAULTS_TRACK, track);
	put_message(&defaults, KWHY_DEFAULTS_TRACK_EVENT, &event_defaults);
	put_number(&packet, KWHY_PACKET_SEQUENCE, sequence);
	put_message(&packet, KWHY_PACKET_DEFAULTS, &defaults);
	put_message(trace, KWHY_PERFETTO_PACKET, &packet);
}

/*
 * A slice that states no track is on the track of its packet sequence. The end of a slice must therefore not
 * close a slice of another sequence, which is another thread.
 */
static void slices_without_a_track_lie_on_the_track_of_their_sequence(void **state)
{
	(void)state;
	for (int stated = 0; stated < 2; stated++) {
		struct bytes trace = {.length = 0}, event;
		struct kwhy_recording *r;

		if (stated) {
			put_default_track(&trace, 1, 77);
			put_default_track(&trace, 2, 78);
		}
		begin_event(&event, BEGIN, "kernel", "long");
		put_event(&trace, 1000, 1, &event);
		begin_event(&event, BEGIN, "kernel", "short");
		put_event(&trace, 1010, 2, &event);
		put_end(&trace, 1500, 1);
		put_end(&trace, 1600, 2);
		r = read_bytes(&trace);
		assert_int_equal(r->activities.count, 2);
		assert_string_equal(name_of(r, r->activities.name[0]), "long");
		assert_int_equal(r->activities.end_ns[0] - r->activities.start_ns[0], 500);
		assert_int_equal(r->activities.end_ns[1] - r->activities.start_ns[1], 590);
		assert_int_not_equal(r->activities.stream[0], r->activities.stream[1]);
		kwhy_recording_free(r);
	}
}

/*
 * Bytes of which only the first look like a Perfetto packet must be refused as an unknown format, not as a
 * damaged trace.
 */
static void bytes_that_are_not_packets_are_not_a_trace(void **state)
{
	static const char *const texts[] = {
		"\x0a\x05hello", "\x0a\x7fhello, this is a text", "\x0a\x02\x58\x80"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char path[] = P_tmpdir "/kwhy-perfetto-XXXXXX";
		FILE *file = fdopen(mkstemp(path), "wb");
		struct kwhy_recording *recording;

		assert_non_null(file);
		fputs(texts[i], file);
		fclose(file);
		OK(kwhy_recording_new(&recording, &error));
		assert_int_equal(read_into(recording, path, false), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "is not a trace of a known format"));
		kwhy_recording_free(recording);
		unlink(path);
	}
}

/*
 * Perfetto's tracing service adds the field trusted_uid (number 3) to packets, here to the first one. The
 * file must still be recognised as a Perfetto trace.
 */
static void a_trace_of_the_tracing_service_is_recognised(void **state)
{
	char path[] = P_tmpdir "/kwhy-perfetto-XXXXXX", bytes[8192];
	FILE *file = fopen(CORPUS "rocprof.pftrace", "rb");
	struct kwhy_recording *r;
	size_t length;

	(void)state;
	assert_non_null(file);
	length = fread(bytes, 1, sizeof(bytes), file);
	assert_true(feof(file) && bytes[1] < 126);
	fclose(file);
	file = fdopen(mkstemp(path), "wb");
	assert_non_null(file);
	bytes[1] = (char)(bytes[1] + 2);
	fwrite(bytes, 1, 2, file);
	fwrite("\x18\x00", 1, 2, file);
	fwrite(bytes + 2, 1, length - 2, file);
	assert_int_equal(fclose(file), 0);
	r = read_file(path);
	assert_int_equal(r->activities.count, 2);
	kwhy_recording_free(r);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_of_rocprof_has_kernels_copies_and_calls_in_unix_time),
		cmocka_unit_test(stages_of_a_gpu_are_kernels_on_its_queues),
		cmocka_unit_test(a_trace_without_known_slices_is_refused_with_their_kind),
		cmocka_unit_test(a_number_is_not_a_text_and_a_text_is_not_a_number),
		cmocka_unit_test(slices_without_a_track_lie_on_the_track_of_their_sequence),
		cmocka_unit_test(bytes_that_are_not_packets_are_not_a_trace),
		cmocka_unit_test(a_trace_of_the_tracing_service_is_recognised),
		cmocka_unit_test(a_trace_cut_at_any_byte_is_refused_or_read_up_to_there),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
