/* SPDX-License-Identifier: Apache-2.0 */
#include "record/section_reading.h"

#include "base/file.h"
#include "base/text.h"
#include "recording/block_reader.h"
#include "recording/block_writer.h"
#include "recording/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OFFSETS_FILE "offsets"

enum { SHARE_BYTES = 1 << 16 };

void kwhy_section_reading_done(struct kwhy_section_reading *reading)
{
	for (size_t i = 0; i < reading->writer_count; i++) {
		kwhy_map_done(&reading->writers[i].later);
		kwhy_map_done(&reading->writers[i].name_of);
		kwhy_map_done(&reading->writers[i].devices);
	}
	kwhy_map_done(&reading->writer_of);
	kwhy_map_done(&reading->devices);
	kwhy_arena_done(&reading->arena);
	*reading = (struct kwhy_section_reading){0};
}

static enum kwhy_status find_writer(struct kwhy_section_reading *reading, uint64_t id,
	struct kwhy_section_writer **out, struct kwhy_error *error)
{
	struct kwhy_section_writer *writers;
	uint32_t number;
	enum kwhy_status status = kwhy_map_number(&reading->writer_of, id, &number, error);

	if (!status && number == reading->writer_count) {
		writers = kwhy_arena_grow(
			&reading->arena, reading->writers, reading->writer_count, sizeof(*writers));
		if (!writers)
			return kwhy_fail_memory(error, "the processes of a recording");
		reading->writers = writers;
		writers[reading->writer_count++] = (struct kwhy_section_writer){.id = id};
	}
	if (!status)
		*out = &reading->writers[number];
	return status;
}

const struct kwhy_section_name *kwhy_section_name(const struct kwhy_section_writer *writer, uint32_t id)
{
	const struct kwhy_map_slot *slot = id ? kwhy_map_find(&writer->name_of, id) : NULL;

	return slot ? &writer->names[slot->value] : NULL;
}

static enum kwhy_status take_names(struct kwhy_section_reading *reading, struct kwhy_section_writer *writer,
	const struct kwhy_block *block, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	const char *bytes;
	size_t at = 0, length;
	uint32_t id;

	while (!status && kwhy_block_name(block, &at, &id, &bytes, &length)) {
		struct kwhy_section_name *names = kwhy_arena_grow(
			&reading->arena, writer->names, writer->name_count, sizeof(*names));
		char *copy = kwhy_arena_alloc(&reading->arena, length + 1, 1);
		struct kwhy_map_slot *slot;

		if (!names || !copy)
			return kwhy_fail_memory(error, "names of a recording");
		writer->names = names;
		memcpy(copy, bytes, length);
		names[writer->name_count] = (struct kwhy_section_name){id, (uint32_t)length, copy};
		status = kwhy_map_add(&writer->name_of, id, (uint32_t)writer->name_count, &slot, error);
		if (!status)
			slot->value = (uint32_t)writer->name_count++;
	}
	return status;
}

/* Sets start, end and correlation of a record that has them. */
static void take_times(struct kwhy_section_item *item)
{
#define TIMES(type)                                                                              \
	do {                                                                                     \
		item->start_ns = ((const struct kwhy_wire_##type *)item->record)->start_mono_ns; \
		item->end_ns = ((const struct kwhy_wire_##type *)item->record)->end_mono_ns;     \
	} while (0)
#define CORRELATED(type)                                                                          \
	do {                                                                                      \
		TIMES(type);                                                                      \
		item->correlation = ((const struct kwhy_wire_##type *)item->record)->correlation; \
		return;                                                                           \
	} while (0)
	switch (item->kind) {
	case KWHY_WIRE_KERNEL:
		CORRELATED(kernel);
	case KWHY_WIRE_COPY:
		CORRELATED(copy);
	case KWHY_WIRE_MEMSET:
		CORRELATED(memset);
	case KWHY_WIRE_CALL:
		CORRELATED(call);
	case KWHY_WIRE_RANGE:
		TIMES(range);
		return;
	case KWHY_WIRE_OVERHEAD:
		TIMES(overhead);
		return;
	case KWHY_WIRE_COVERAGE:
		TIMES(coverage);
		return;
	case KWHY_WIRE_BURST:
		TIMES(burst);
		return;
	case KWHY_WIRE_READING:
		item->start_ns = item->end_ns = ((const struct kwhy_wire_reading *)item->record)
							->time_mono_ns;
		return;
	case KWHY_WIRE_MEMORY:
		item->start_ns = item->end_ns = ((const struct kwhy_wire_memory *)item->record)->time_mono_ns;
		return;
	case KWHY_WIRE_SAMPLE:
		item->start_ns = item->end_ns = ((const struct kwhy_wire_sample *)item->record)->time_mono_ns;
		return;
	default:
		return;
	}
#undef CORRELATED
#undef TIMES
}

struct kwhy_section_item *kwhy_section_add(struct kwhy_section_reading *reading,
	struct kwhy_section_writer *writer, unsigned kind, const void *record)
{
	const size_t bytes = kwhy_wire_record_bytes(kind);
	struct kwhy_section_item *items = kwhy_arena_grow(
		&reading->arena, writer->items, writer->item_count, sizeof(*items));
	void *copy = kwhy_arena_alloc(&reading->arena, bytes, 1);

	if (!items || !copy)
		return NULL;
	memcpy(copy, record, bytes);
	writer->items = items;
	items[writer->item_count] = (struct kwhy_section_item){.record = copy, .kind = (uint8_t)kind};
	take_times(&items[writer->item_count]);
	return &items[writer->item_count++];
}

/*
 * Whether no section needs this kind. Costs are sums since the start, which the last record states. A record
 * of the end would make a section look like a whole run.
 */
static bool is_left_out(
	const struct kwhy_section_reading *reading, const struct kwhy_section_writer *writer, unsigned kind)
{
	return kind >= KWHY_WIRE_KIND_COUNT || kind == KWHY_WIRE_COST || kind == KWHY_WIRE_END ||
		(kind == KWHY_WIRE_CLOCK && writer->has_old_clock && !reading->is_rest);
}

static enum kwhy_status take_block(
	struct kwhy_section_reading *reading, const struct kwhy_block *block, struct kwhy_error *error)
{
	const size_t known_bytes = kwhy_wire_record_bytes(block->kind);
	struct kwhy_section_writer *writer;
	uint64_t scratch[8]; /* records are at most 64 bytes long */
	enum kwhy_status status = find_writer(reading, block->writer, &writer, error);

	if (status || is_left_out(reading, writer, block->kind))
		return status;
	if (block->kind == KWHY_WIRE_NAME)
		return take_names(reading, writer, block, error);
	for (size_t i = 0; i < block->record_count; i++)
		if (!kwhy_section_add(
			    reading, writer, block->kind, kwhy_block_record(block, i, scratch, known_bytes)))
			return kwhy_fail_memory(error, "records of a recording");
	if (block->kind == KWHY_WIRE_CLOCK && reading->is_rest)
		writer->has_old_clock = true;
	return KWHY_OK;
}

/* Reads the blocks from *offset on, and sets *offset to the end of the last whole one. */
static enum kwhy_status read_file(
	struct kwhy_section_reading *reading, const char *path, uint64_t *offset, struct kwhy_error *error)
{
	struct kwhy_block_reader reader;
	struct kwhy_block block;
	enum kwhy_status status = kwhy_block_reader_open_at(&reader, path, *offset, error);
	int item = 0;

	if (status)
		return status;
	reading->read_bytes += reader.length;
	while (!status && (item = kwhy_block_reader_next(&reader, &block, error)) == 0) {
		if (block.damage && block.is_cut)
			break;
		status = block.damage
			? kwhy_fail(error, KWHY_E_INPUT, "%s is damaged at byte %" PRIu64 ": %s", path,
				  block.offset, block.damage)
			: take_block(reading, &block, error);
		*offset = block.offset + block.bytes;
	}
	kwhy_block_reader_close(&reader);
	return item < 0 ? error->status : status;
}

static enum kwhy_status find_file(struct kwhy_section_reading *reading, const char *name,
	struct kwhy_section_file **out, struct kwhy_error *error)
{
	struct kwhy_section_file *files;

	for (size_t i = 0; i < reading->file_count; i++)
		if (!strcmp(reading->files[i].name, name)) {
			*out = &reading->files[i];
			return KWHY_OK;
		}
	files = kwhy_arena_grow(&reading->arena, reading->files, reading->file_count, sizeof(*files));
	name = kwhy_arena_copy(&reading->arena, name);
	if (!files || !name)
		return kwhy_fail_memory(error, "files of a recording");
	reading->files = files;
	*out = &files[reading->file_count++];
	**out = (struct kwhy_section_file){name, 0};
	return KWHY_OK;
}

/* Reads the lines of the file of offsets: "OFFSET NAME". */
static enum kwhy_status read_offsets(
	struct kwhy_section_reading *reading, const char *rest, struct kwhy_error *error)
{
	char *path = kwhy_arena_printf(&reading->arena, "%s/" OFFSETS_FILE, rest), line[PATH_MAX + 32];
	FILE *file = path ? fopen(path, "re") : NULL;
	enum kwhy_status status = KWHY_OK;

	if (!file)
		return kwhy_fail(
			error, KWHY_E_IO, "cannot read '%.300s': %s", path ? path : rest, strerror(errno));
	while (!status && fgets(line, sizeof(line), file)) {
		struct kwhy_section_file *row;
		char *name;
		const unsigned long long offset = strtoull(line, &name, 10);

		name[strcspn(name, "\n")] = '\0';
		status = *name == ' '
			? find_file(reading, name + 1, &row, error)
			: kwhy_fail(error, KWHY_E_INPUT, "'%.300s' has no line OFFSET NAME", path);
		if (!status)
			row->offset = offset;
	}
	fclose(file);
	return status;
}

static enum kwhy_status read_rest(
	struct kwhy_section_reading *reading, const char *rest, struct kwhy_error *error)
{
	struct kwhy_bundle bundle;
	enum kwhy_status status = read_offsets(reading, rest, error);

	if (status || !kwhy_bundle_is_folder(rest))
		return status;
	reading->is_rest = true;
	status = kwhy_bundle_open(&bundle, rest, error);
	if (status)
		return status;
	for (size_t i = 0; !status && i < bundle.count; i++) {
		uint64_t offset = 0;

		status = read_file(reading, bundle.paths[i], &offset, error);
	}
	reading->is_rest = false;
	kwhy_bundle_done(&bundle);
	return status;
}

enum kwhy_status kwhy_section_read(struct kwhy_section_reading *reading, const char *recording,
	const char *rest, struct kwhy_error *error)
{
	struct kwhy_bundle bundle;
	enum kwhy_status status = rest ? read_rest(reading, rest, error) : KWHY_OK;

	if (!status)
		status = kwhy_bundle_open(&bundle, recording, error);
	if (status)
		return status;
	for (size_t i = 0; !status && i < bundle.count; i++) {
		const char *slash = strrchr(bundle.paths[i], '/');
		struct kwhy_section_file *file;

		status = find_file(reading, slash ? slash + 1 : bundle.paths[i], &file, error);
		if (!status)
			status = read_file(reading, bundle.paths[i], &file->offset, error);
	}
	kwhy_bundle_done(&bundle);
	return status;
}

static void write_records(
	const struct kwhy_section_writer *from, unsigned where, struct kwhy_block_writer *out)
{
	for (size_t i = 0; i < from->name_count; i++)
		kwhy_block_writer_add_name(
			out, from->names[i].id, from->names[i].bytes, from->names[i].length);
	for (size_t i = 0; i < from->item_count; i++) {
		const struct kwhy_section_item *item = &from->items[i];
		void *record = item->where & where ? kwhy_block_writer_add(out, item->kind) : NULL;

		if (record)
			memcpy(record, item->record, kwhy_wire_record_bytes(item->kind));
	}
	kwhy_block_writer_flush(out);
}

static enum kwhy_status write_file(const struct kwhy_section_writer *from, const char *path, unsigned where,
	void *memory, struct kwhy_error *error)
{
	struct kwhy_block_writer writer;
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0)
		return kwhy_fail(error, KWHY_E_IO, "cannot write '%.300s': %s", path, strerror(errno));
	kwhy_block_writer_init(&writer, fd, from->id, memory, SHARE_BYTES);
	write_records(from, where, &writer);
	kwhy_block_writer_close(&writer);
	return writer.failure
		? kwhy_fail(error, KWHY_E_IO, "cannot write '%.300s': %s", path, strerror(writer.failure))
		: KWHY_OK;
}

enum kwhy_status kwhy_section_write(const struct kwhy_section_reading *reading, const char *folder,
	unsigned where, struct kwhy_error *error)
{
	void *memory = malloc(KWHY_BLOCK_WRITER_BYTES(SHARE_BYTES));
	struct kwhy_arena arena = {0};
	enum kwhy_status status = memory ? KWHY_OK : kwhy_fail_memory(error, "a section of a recording");

	for (size_t i = 0; !status && i < reading->writer_count; i++) {
		const char *path = kwhy_arena_printf(
			&arena, "%s/%016" PRIx64 KWHY_BUNDLE_SUFFIX, folder, reading->writers[i].id);

		status = path ? write_file(&reading->writers[i], path, where, memory, error)
			      : kwhy_fail_memory(error, "a section of a recording");
	}
	kwhy_arena_done(&arena);
	free(memory);
	return status;
}

enum kwhy_status kwhy_section_write_offsets(
	const struct kwhy_section_reading *reading, const char *folder, struct kwhy_error *error)
{
	struct kwhy_text lines = {0}, path = {0};
	enum kwhy_status status;

	for (size_t i = 0; i < reading->file_count; i++)
		kwhy_text_addf(&lines, "%" PRIu64 " %s\n", reading->files[i].offset, reading->files[i].name);
	kwhy_text_addf(&path, "%s/" OFFSETS_FILE, folder);
	status = kwhy_text_check(&lines, error);
	if (!status)
		status = kwhy_text_check(&path, error);
	if (!status)
		status = kwhy_file_write(path.data, lines.data ? lines.data : "", lines.length, error);
	kwhy_text_done(&lines);
	kwhy_text_done(&path);
	return status;
}
