/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "import/recorded/recorded.h"
#include "model/host_range.h"

#include <string.h>

/*
 * Largest depth of a call stack, as in the library that records them; deeper frames of a damaged file are
 * ignored.
 */
enum { DEPTH_MAX = 128 };

/* Parts of paths that show that a file belongs to a library and not to the program. */
static const char *const library_parts[] = {"/site-packages/", "/dist-packages/", "/lib/python3.",
	"/lib/python3/", "/usr/lib/", "/usr/lib64/", "/usr/local/cuda"};
static const char *const library_starts[] = {"<", "/lib/", "/lib64/"};
/* Beginnings of the file names of modules that belong to a library and not to the program. */
static const char *const library_modules[] = {
	"libcuda", "libcupti", "libcudart", "libkwhy", "libnccl", "libcublas", "libcudnn", "ld-linux"};

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool is_library(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < sizeof(library_parts) / sizeof(library_parts[0]); i++)
		if (strstr(path, library_parts[i]))
			return true;
	for (size_t i = 0; i < sizeof(library_starts) / sizeof(library_starts[0]); i++)
		if (starts_with(path, library_starts[i]))
			return true;
	for (size_t i = 0; i < sizeof(library_modules) / sizeof(library_modules[0]); i++)
		if (starts_with(slash ? slash + 1 : path, library_modules[i]))
			return true;
	return !path[0];
}

/*
 * Adds a frame of a call stack. A file has the frame of a caller before the frames that it called; if the
 * caller's frame is missing, as in a damaged file, the caller is unknown.
 */
static enum kwhy_status add_frame(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_frame *frame, struct kwhy_error *error)
{
	const uint32_t index = (uint32_t)recorded->call_frame_count;
	struct kwhy_recorded_frame row = {.offset = frame->offset,
		.caller = KWHY_NONE,
		.file = kwhy_recorded_name(recorded, writer, frame->file),
		.name = kwhy_recorded_name(recorded, writer, frame->function),
		.line = frame->line};
	enum kwhy_status status;

	row.is_library = is_library(kwhy_names_get(&recorded->recording->names, row.file));
	if (frame->caller)
		kwhy_track_map_find(
			&recorded->frames, (struct kwhy_track_key){writer, frame->caller, 0}, &row.caller);
	status = kwhy_column_reserve((void **)&recorded->call_frames, &recorded->call_frame_capacity,
		recorded->call_frame_count + 1, sizeof(*recorded->call_frames), "frames of call stacks",
		error);
	if (status)
		return status;
	recorded->call_frames[recorded->call_frame_count++] = row;
	return kwhy_track_map_put(
		&recorded->frames, (struct kwhy_track_key){writer, frame->id, 0}, index, error);
}

/*
 * For a native frame, finds the function's name and, if the module has debug information, source file and
 * line.
 */
static enum kwhy_status resolve(
	struct kwhy_recorded *recorded, struct kwhy_recorded_frame *frame, struct kwhy_error *error)
{
	struct kwhy_names *names = &recorded->recording->names;
	const char *module = kwhy_names_get(names, frame->file);
	struct kwhy_symbol symbol;
	enum kwhy_status status;

	if (!frame->offset || frame->is_resolved)
		return KWHY_OK;
	frame->is_resolved = true;
	kwhy_symbols_find(&recorded->symbols, module, frame->offset, &symbol);
	status = kwhy_names_intern(names, symbol.function, strlen(symbol.function), &frame->name, error);
	if (!status && symbol.file[0])
		status = kwhy_names_intern(names, symbol.file, strlen(symbol.file), &frame->file, error);
	frame->line = symbol.line;
	return status;
}

static enum kwhy_status add_ranges(struct kwhy_recorded *recorded, const struct kwhy_host_range *stretch,
	const uint32_t *frames, size_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = count; !status && i-- > 0;) {
		struct kwhy_recorded_frame *frame = &recorded->call_frames[frames[i]];
		struct kwhy_host_range row = *stretch;

		status = resolve(recorded, frame, error);
		row.name = frame->name;
		row.file = frame->file;
		row.line = frame->line;
		if (!status)
			status = kwhy_recording_add_host_range(recorded->recording, &row, error);
	}
	return status;
}

/*
 * Puts the frames of a call stack that belong to the program's own code into `out`, innermost first; also the
 * innermost frame of all if it is a Python frame of a library. Returns their number.
 */
static size_t choose_frames(const struct kwhy_recorded *recorded, uint32_t innermost, uint32_t out[DEPTH_MAX])
{
	size_t count = 0;

	for (uint32_t at = innermost; at != KWHY_NONE && count < DEPTH_MAX;
		at = recorded->call_frames[at].caller)
		if (!recorded->call_frames[at].is_library || (!count && !recorded->call_frames[at].offset))
			out[count++] = at;
	return count;
}

static enum kwhy_status add_sample(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_sample *sample, struct kwhy_error *error)
{
	struct kwhy_host_range stretch = {.start_ns = sample->since_mono_ns
			? kwhy_recorded_time(recorded, writer, sample->since_mono_ns)
			: KWHY_UNKNOWN_TIME,
		.end_ns = kwhy_recorded_time(recorded, writer, sample->time_mono_ns),
		.kind = KWHY_HOST_FRAME};
	const struct kwhy_track_key key = {writer, sample->frame, 0};
	uint32_t frames[DEPTH_MAX], innermost;
	enum kwhy_status status;

	if (stretch.end_ns == KWHY_UNKNOWN_TIME || stretch.start_ns > stretch.end_ns ||
		recorded->writers[writer].process == KWHY_NONE ||
		!kwhy_track_map_find(&recorded->frames, key, &innermost))
		return KWHY_OK;
	status = kwhy_recorded_thread(recorded, writer, sample->thread, &stretch.thread, error);
	return status
		? status
		: add_ranges(recorded, &stretch, frames, choose_frames(recorded, innermost, frames), error);
}

enum kwhy_status kwhy_recorded_line_add(struct kwhy_recorded *recorded, uint32_t writer, unsigned kind,
	const void *record, struct kwhy_error *error)
{
	if (kind == KWHY_WIRE_FRAME)
		return add_frame(recorded, writer, record, error);
	if (kind == KWHY_WIRE_SAMPLE)
		return add_sample(recorded, writer, record, error);
	return KWHY_OK;
}
