/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/reader.h"
#include "import/xplane/file.h"
#include "ok.h"
#include "report/export/proto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tests the import of XLA profiles (XPlane), which are made field by field. */

static struct kwhy_error error;
static char path[64];

#define START_NS INT64_C(1700000000000000000)

static void add_entry(struct kwhy_text *out, unsigned table, uint64_t id, const char *name)
{
	size_t entry = kwhy_proto_begin(out, table), value;

	kwhy_proto_varint(out, KWHY_MAP_KEY, id);
	value = kwhy_proto_begin(out, KWHY_MAP_VALUE);
	kwhy_proto_varint(out, KWHY_XMETADATA_ID, id);
	kwhy_proto_string(out, KWHY_XMETADATA_NAME, name);
	kwhy_proto_end(out, value);
	kwhy_proto_end(out, entry);
}

static void add_number(struct kwhy_text *out, unsigned field, uint64_t key, uint64_t number)
{
	size_t value = kwhy_proto_begin(out, field);

	kwhy_proto_varint(out, KWHY_XSTAT_METADATA_ID, key);
	kwhy_proto_varint(out, KWHY_XSTAT_UINT64, number);
	kwhy_proto_end(out, value);
}

static void add_reference(struct kwhy_text *out, unsigned field, uint64_t key, uint64_t text)
{
	size_t value = kwhy_proto_begin(out, field);

	kwhy_proto_varint(out, KWHY_XSTAT_METADATA_ID, key);
	kwhy_proto_varint(out, KWHY_XSTAT_REFERENCE, text);
	kwhy_proto_end(out, value);
}

struct event {
	/* details: id of a statistic's name << 8 | id of its text; 0: none */
	uint64_t name, offset_ps, duration_ps, correlation, details;
};

static void add_line(struct kwhy_text *out, uint64_t id, const char *name, uint64_t timestamp_ns,
	const struct event *events, size_t count)
{
	size_t line = kwhy_proto_begin(out, KWHY_XPLANE_LINES);

	kwhy_proto_varint(out, KWHY_XLINE_ID, id);
	kwhy_proto_string(out, KWHY_XLINE_NAME, name);
	kwhy_proto_varint(out, KWHY_XLINE_TIMESTAMP_NS, timestamp_ns);
	for (size_t i = 0; i < count; i++) {
		size_t event = kwhy_proto_begin(out, KWHY_XLINE_EVENTS);

		kwhy_proto_varint(out, KWHY_XEVENT_METADATA_ID, events[i].name);
		kwhy_proto_varint(out, KWHY_XEVENT_OFFSET_PS, events[i].offset_ps);
		kwhy_proto_varint(out, KWHY_XEVENT_DURATION_PS, events[i].duration_ps);
		if (events[i].correlation)
			add_number(out, KWHY_XEVENT_VALUES, 1, events[i].correlation);
		if (events[i].details)
			add_reference(
				out, KWHY_XEVENT_VALUES, events[i].details >> 8, events[i].details & 255);
		kwhy_proto_end(out, event);
	}
	kwhy_proto_end(out, line);
}

static size_t begin_plane(struct kwhy_text *out, const char *name)
{
	size_t plane = kwhy_proto_begin(out, KWHY_XSPACE_PLANES);

	kwhy_proto_string(out, KWHY_XPLANE_NAME, name);
	return plane;
}

static void add_gpu(struct kwhy_text *out)
{
	static const struct event work[] = {
		{1, 500000, 60250400, 100, 2 << 8 | 10},
		{2, 100000000, 50000000, 101, 3 << 8 | 11},
	};
	static const struct event again[] = {{1, 500000, 60250400, 0, 0}};
	size_t plane = begin_plane(out, "/device:GPU:1");

	add_line(out, 13, "Stream #13(Compute,MemcpyH2D)", 1000, work, 2);
	add_line(out, 99, "XLA Ops", 1000, again, 1);
	add_entry(out, KWHY_XPLANE_EVENT_METADATA, 1, "fusion");
	add_entry(out, KWHY_XPLANE_EVENT_METADATA, 2, "MemcpyH2D");
	add_entry(out, KWHY_XPLANE_STAT_METADATA, 1, "correlation_id");
	add_entry(out, KWHY_XPLANE_STAT_METADATA, 2, "kernel_details");
	add_entry(out, KWHY_XPLANE_STAT_METADATA, 3, "memcpy_details");
	add_entry(out, KWHY_XPLANE_STAT_METADATA, 4, "core_count");
	add_entry(out, KWHY_XPLANE_STAT_METADATA, 10,
		"regs:32 static_shared:0 dynamic_shared:64 grid:108,1,1 block:128,2,1 occ_pct:100");
	add_entry(out, KWHY_XPLANE_STAT_METADATA, 11,
		"kind_src:pinned kind_dst:device size:4096 dest:0 async:1");
	add_number(out, KWHY_XPLANE_VALUES, 4, 108);
	kwhy_proto_end(out, plane);
}

static void add_host(struct kwhy_text *out)
{
	static const struct event calls[] = {{1, 0, 5000000, 100, 0}, {2, 6000000, 1000000, 0, 0}};
	size_t plane = begin_plane(out, "/host:CPU");

	add_line(out, 42, "python", 900, calls, 2);
	add_entry(out, KWHY_XPLANE_EVENT_METADATA, 1, "cuLaunchKernel");
	add_entry(out, KWHY_XPLANE_EVENT_METADATA, 2, "$train.py:7 step");
	add_entry(out, KWHY_XPLANE_STAT_METADATA, 1, "correlation_id");
	kwhy_proto_end(out, plane);
}

static void add_environment(struct kwhy_text *out)
{
	size_t plane = begin_plane(out, "Task Environment");

	add_entry(out, KWHY_XPLANE_STAT_METADATA, 1, "profile_start_time");
	add_number(out, KWHY_XPLANE_VALUES, 1, START_NS);
	kwhy_proto_end(out, plane);
}

static enum kwhy_status read_into(
	struct kwhy_recording *recording, const struct kwhy_text *text, size_t length, bool partial)
{
	struct kwhy_import_options options = {.partial = partial};
	enum kwhy_status status;
	int file;

	strcpy(path, P_tmpdir "/kwhy-xplane-XXXXXX");
	file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(write(file, text->data, length), (ssize_t)length);
	close(file);
	status = kwhy_import_trace(recording, path, &options, &error);
	unlink(path);
	return status;
}

static struct kwhy_text make_space(void)
{
	struct kwhy_text text = {0};

	add_gpu(&text);
	add_host(&text);
	add_environment(&text);
	assert_false(text.failed);
	return text;
}

static void a_space_has_activities_calls_and_the_time_of_its_start(void **state)
{
	struct kwhy_text text = make_space();
	struct kwhy_recording *r;

	(void)state;
	OK(kwhy_recording_new(&r, &error));
	OK(read_into(r, &text, text.length, false));
	assert_int_equal(r->origin_unix_ns, START_NS);
	assert_true(r->unix_clock);
	assert_int_equal(r->activities.count, 2);
	assert_int_equal(r->activities.start_ns[0], 1500);
	assert_int_equal(r->activities.end_ns[0] - r->activities.start_ns[0], 60250);
	assert_int_equal(r->activities.call[0], 100);
	assert_int_equal(r->activities.blocks[0], 108);
	assert_int_equal(r->activities.threads_per_block[0], 256);
	assert_int_equal(r->activities.shared_bytes[0], 64);
	assert_int_equal(r->activities.kind[1], KWHY_ACTIVITY_COPY);
	assert_int_equal(r->activities.bytes[1], 4096);
	assert_int_equal(r->activities.src_memory[1], KWHY_MEMORY_PINNED);
	assert_int_equal(r->devices[0].index, 1);
	assert_int_equal(r->devices[0].sm_count, 108);
	assert_int_equal(r->calls.count, 1);
	assert_int_equal(r->calls.start_ns[0], 900);
	assert_int_equal(r->host_ranges.count, 1);
	assert_int_equal(kwhy_host_range_line(&r->host_ranges, 0), 7);
	OK(kwhy_recording_finish(r, &error));
	assert_int_equal(r->activities.call[0], 0);
	kwhy_recording_free(r);
	kwhy_text_done(&text);
}

/* In profiles of ROCm, a copy is recognised by the name of the event or by its details (kernel_details). */
static void a_copy_of_rocm_is_a_copy_by_its_name_or_its_details(void **state)
{
	static const struct event work[] = {
		{1, 500000, 1000, 100, 3 << 8 | 11},
		{2, 1500000, 1000, 101, 3 << 8 | 11},
		{3, 2500000, 1000, 102, 0},
		{4, 3500000, 1000, 103, 2 << 8 | 10},
	};
	struct kwhy_text text = {0};
	size_t plane = begin_plane(&text, "/device:GPU:0");
	struct kwhy_recording *r;

	(void)state;
	add_line(&text, 8, "Stream #8(MemcpyOther)", 1000, work, 4);
	add_entry(&text, KWHY_XPLANE_EVENT_METADATA, 1, "CopyDeviceToDevice");
	add_entry(&text, KWHY_XPLANE_EVENT_METADATA, 2, "SdmaMove");
	add_entry(&text, KWHY_XPLANE_EVENT_METADATA, 3, "FillBuffer");
	add_entry(&text, KWHY_XPLANE_EVENT_METADATA, 4, "SdmaKernel");
	add_entry(&text, KWHY_XPLANE_STAT_METADATA, 1, "correlation_id");
	add_entry(&text, KWHY_XPLANE_STAT_METADATA, 2, "kernel_details");
	add_entry(&text, KWHY_XPLANE_STAT_METADATA, 3, "memcpy_details");
	add_entry(&text, KWHY_XPLANE_STAT_METADATA, 10, "regs:32 grid:108,1,1 block:128,2,1");
	add_entry(&text, KWHY_XPLANE_STAT_METADATA, 11, "kind:Unknown size:655360 dest:2 async:1");
	kwhy_proto_end(&text, plane);
	OK(kwhy_recording_new(&r, &error));
	OK(read_into(r, &text, text.length, false));
	assert_int_equal(r->activities.count, 4);
	assert_int_equal(r->activities.kind[0], KWHY_ACTIVITY_COPY);
	assert_int_equal(r->activities.copy_kind[0], KWHY_COPY_D2D);
	assert_int_equal(r->activities.bytes[0], 655360);
	assert_int_equal(r->activities.kind[1], KWHY_ACTIVITY_COPY);
	assert_int_equal(r->activities.copy_kind[1], KWHY_COPY_UNKNOWN);
	assert_int_equal(r->activities.bytes[1], 655360);
	assert_int_equal(r->activities.kind[2], KWHY_ACTIVITY_MEMSET);
	assert_int_equal(r->activities.kind[3], KWHY_ACTIVITY_KERNEL);
	kwhy_recording_free(r);
	kwhy_text_done(&text);
}

static void a_space_cut_at_any_byte_is_refused_or_read_up_to_there(void **state)
{
	struct kwhy_text text = make_space();

	(void)state;
	for (size_t length = 1; length < text.length; length++)
		for (int partial = 0; partial < 2; partial++) {
			struct kwhy_recording *r;
			enum kwhy_status status;

			OK(kwhy_recording_new(&r, &error));
			status = read_into(r, &text, length, partial);
			assert_true(status == KWHY_OK || status == KWHY_E_INPUT);
			kwhy_recording_free(r);
		}
	kwhy_text_done(&text);
}

/* Behind the damage are more bytes than are read at a time, and it is not near the end of the file. */
static void a_damaged_space_is_refused_or_read_up_to_the_damage(void **state)
{
	enum { DAMAGED_BYTES = 3 << 20 };
	struct kwhy_text text = make_space();
	struct kwhy_recording *r;

	(void)state;
	for (size_t i = 0; i < DAMAGED_BYTES; i++)
		kwhy_text_add(&text, "\x0f"); /* a key with a wire type that does not exist */
	OK(kwhy_recording_new(&r, &error));
	assert_int_equal(read_into(r, &text, text.length, false), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "is damaged at byte"));
	kwhy_recording_free(r);
	OK(kwhy_recording_new(&r, &error));
	OK(read_into(r, &text, text.length, true));
	assert_int_equal(r->activities.count, 2);
	assert_true(r->lost.truncated);
	kwhy_recording_free(r);
	kwhy_text_done(&text);
}

static void a_profile_of_another_device_is_refused_with_its_name(void **state)
{
	static const struct event work[] = {{1, 500000, 60250400, 0, 0}};
	struct kwhy_text text = {0};
	struct kwhy_recording *r;
	size_t plane = begin_plane(&text, "/device:TPU:0");

	(void)state;
	add_line(&text, 1, "XLA Ops", 1000, work, 1);
	kwhy_proto_end(&text, plane);
	OK(kwhy_recording_new(&r, &error));
	assert_int_equal(read_into(r, &text, text.length, false), KWHY_E_INPUT);
	assert_non_null(
		strstr(error.text, "1 of its 1 events is of a device of an unknown kind (/device:TPU:0)"));
	kwhy_recording_free(r);
	kwhy_text_done(&text);
}

/* The activities that add_gpu() makes, in XLA's JSON format. */
static const char json[] =
	"{\"displayTimeUnit\": \"ns\", \"traceEvents\": ["
	"{\"ph\": \"M\", \"pid\": 2, \"name\": \"process_name\", \"args\": {\"name\": \"/device:GPU:1\"}},"
	"{\"ph\": \"M\", \"pid\": 2, \"tid\": 13, \"name\": \"thread_name\", \"args\": {\"name\": "
	"\"Stream #13(Compute,MemcpyH2D)\"}},"
	"{\"ph\": \"X\", \"pid\": 2, \"tid\": 13, \"ts\": 1.5, \"dur\": 60.2504, \"name\": \"fusion\", "
	"\"args\": {\"correlation_id\": \"100\"}},"
	"{\"ph\": \"X\", \"pid\": 2, \"tid\": 13, \"ts\": 101, \"dur\": 50, \"name\": \"MemcpyH2D\", "
	"\"args\": {\"memcpy_details\": \"kind_src:pinned kind_dst:device size:4096 dest:0 async:1\"}}, {}]}";

static void both_forms_of_a_profile_have_the_same_times(void **state)
{
	struct kwhy_text space = make_space(), text = {0};
	struct kwhy_recording *of_space, *of_json;

	(void)state;
	kwhy_text_add(&text, json);
	OK(kwhy_recording_new(&of_space, &error));
	OK(kwhy_recording_new(&of_json, &error));
	OK(read_into(of_space, &space, space.length, false));
	OK(read_into(of_json, &text, text.length, false));
	assert_int_equal(of_space->activities.count, of_json->activities.count);
	for (size_t i = 0; i < of_json->activities.count; i++) {
		assert_int_equal(of_space->activities.start_ns[i], of_json->activities.start_ns[i]);
		assert_int_equal(of_space->activities.end_ns[i], of_json->activities.end_ns[i]);
		assert_int_equal(of_space->activities.bytes[i], of_json->activities.bytes[i]);
	}
	kwhy_recording_free(of_space);
	kwhy_recording_free(of_json);
	kwhy_text_done(&space);
	kwhy_text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_space_has_activities_calls_and_the_time_of_its_start),
		cmocka_unit_test(a_copy_of_rocm_is_a_copy_by_its_name_or_its_details),
		cmocka_unit_test(a_space_cut_at_any_byte_is_refused_or_read_up_to_there),
		cmocka_unit_test(a_damaged_space_is_refused_or_read_up_to_the_damage),
		cmocka_unit_test(a_profile_of_another_device_is_refused_with_its_name),
		cmocka_unit_test(both_forms_of_a_profile_have_the_same_times),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
