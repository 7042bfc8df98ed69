/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/held.h"

#include "base/quantity.h"
#include "model/host_time.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *what, *cure;
} causes[KWHY_HELD_CAUSE_COUNT] = {
	[KWHY_HELD_LOADER] = {"input",
		"let workers of the DataLoader prepare batches ahead: num_workers, pin_memory=True, "
		"prefetch_factor, persistent_workers"},
	[KWHY_HELD_READBACK] = {"read-backs",
		"read values back less often: keep them on the device, and call .item(), .tolist() and print "
		"every this many steps"},
	[KWHY_HELD_CACHE] = {"empty_cache", "drop torch.cuda.empty_cache() from the loop"},
	[KWHY_HELD_OUTPUT] = {"tokenising, logging or checkpoints",
		"move them off the loop: ahead of time, to another thread, or to every this many steps"},
	[KWHY_HELD_PARALLEL] = {"DDP or FSDP",
		"spare its work around the model: DDP(broadcast_buffers=False) where buffers need not agree "
		"at each step, gradient_as_bucket_view=True, static_graph=True"},
	[KWHY_HELD_COMPILED] = {"calls of a compiled model",
		"let CUDA graphs make its launches: torch.compile(mode=\"reduce-overhead\")"},
	[KWHY_HELD_MODEL] = {"operators of the model",
		"let a graph make their launches: torch.compile, CUDA graphs, a fused or foreach optimizer"},
	[KWHY_HELD_COMPILING] = {"compiling",
		"compile once, before the loop: one jax.jit or torch.compile around the step, with the same "
		"shapes each time, and a cache on disk (jax_compilation_cache_dir)"},
	[KWHY_HELD_SYSTEM] = {"calls of the operating system",
		"keep files and locks out of the loop: other threads read and write ahead of time"},
};

enum kwhy_status kwhy_held_init(
	struct kwhy_held *held, const struct kwhy_recording *recording, struct kwhy_error *error)
{
	*held = (struct kwhy_held){.recording = recording};
	if (recording->host_ranges.count == 0)
		return KWHY_OK;
	held->names = calloc(recording->names.count, sizeof(*held->names));
	return held->names ? KWHY_OK : kwhy_fail_memory(error, "what held the host");
}

void kwhy_held_done(struct kwhy_held *held)
{
	free(held->names);
	held->names = NULL;
}

static const char *name_of(const struct kwhy_recording *recording, uint32_t row)
{
	return kwhy_names_get(&recording->names, recording->host_ranges.name[row]);
}

static bool starts_with_any(const char *name, const char *const *starts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

void kwhy_held_add(struct kwhy_held *held, uint32_t call, int64_t start_ns, int64_t end_ns, int64_t held_ns)
{
	const struct kwhy_recording *recording = held->recording;
	struct kwhy_held_name *name;
	uint32_t row;

	if (!held->names)
		return;
	row = kwhy_host_range_over(recording, recording->calls.thread[call], start_ns, end_ns);
	held->cause_ns[row == KWHY_NONE ? KWHY_HELD_UNKNOWN : kwhy_held_cause_of(recording, row)] += held_ns;
	if (row == KWHY_NONE || recording->host_ranges.kind[row] == KWHY_HOST_STEP)
		return;
	name = &held->names[recording->host_ranges.name[row]];
	name->count++;
	name->time_ns += held_ns;
	if (held_ns > name->longest_ns) {
		name->longest_ns = held_ns;
		name->row = row;
	}
	if (name->time_ns > held->names[held->first].time_ns)
		held->first = recording->host_ranges.name[row];
}

/*
 * The innermost range around `row`, within its step, that has another name and is an operator, Python
 * function or range of the program, but not one of PyTorch's small operators (aten::, autograd::engine::);
 * KWHY_NONE: there is none.
 */
static uint32_t scope_of(const struct kwhy_recording *recording, uint32_t row)
{
	static const char *const small[] = {"aten::", "autograd::engine::"};
	const struct kwhy_host_ranges *rows = &recording->host_ranges;
	uint32_t name = rows->name[row];

	while ((row = rows->parent[row]) != KWHY_NONE && rows->kind[row] != KWHY_HOST_STEP)
		if (rows->kind[row] <= KWHY_HOST_OPERATOR && rows->name[row] != name &&
			!starts_with_any(name_of(recording, row), small, sizeof(small) / sizeof(small[0])))
			return row;
	return KWHY_NONE;
}

static uint32_t step_of(const struct kwhy_recording *recording, uint32_t row)
{
	while (row != KWHY_NONE && recording->host_ranges.kind[row] != KWHY_HOST_STEP)
		row = recording->host_ranges.parent[row];
	return row;
}

/* Appends the source position of a range, " (train.py:42)", without folders; nothing if it is unknown. */
static void add_source(struct kwhy_text *out, const struct kwhy_recording *recording, uint32_t row)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;
	uint32_t source = kwhy_host_range_source(recording, row);
	const char *path, *slash;

	if (source == KWHY_NONE)
		return;
	path = kwhy_names_get(&recording->names, kwhy_host_range_file(rows, source));
	slash = strrchr(path, '/');
	kwhy_text_addf(out, " (%s", slash ? slash + 1 : path);
	if (kwhy_host_range_line(rows, source))
		kwhy_text_addf(out, ":%u", (unsigned)kwhy_host_range_line(rows, source));
	kwhy_text_add(out, ")");
}

/* Appends the name of a range. A long name is shortened, but never inside a UTF-8 code point. */
static void add_name(struct kwhy_text *out, const char *name)
{
	enum { SHOWN_BYTES = 64 };
	size_t length = strlen(name);

	if (length <= SHOWN_BYTES) {
		kwhy_text_add(out, name);
		return;
	}
	length = SHOWN_BYTES - 3;
	while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80)
		length--;
	kwhy_text_add_bytes(out, name, length);
	kwhy_text_add(out, "...");
}

static void add_scoped(struct kwhy_text *out, const struct kwhy_recording *recording, uint32_t row)
{
	uint32_t scope = recording->host_ranges.kind[row] == KWHY_HOST_USER ? KWHY_NONE
									    : scope_of(recording, row);

	add_name(out, name_of(recording, row));
	if (scope == KWHY_NONE)
		return;
	kwhy_text_add(out, " of ");
	add_name(out, name_of(recording, scope));
}

void kwhy_held_add_range(struct kwhy_text *out, const struct kwhy_recording *recording, uint32_t row)
{
	uint32_t step = step_of(recording, row);

	add_scoped(out, recording, row);
	if (step != KWHY_NONE && step != row) {
		kwhy_text_add(out, " in ");
		add_name(out, name_of(recording, step));
	}
	add_source(out, recording, row);
}

struct kwhy_finding_place kwhy_held_place(
	struct kwhy_arena *arena, const struct kwhy_recording *recording, uint32_t row, bool with_step)
{
	const uint32_t source = kwhy_host_range_source(recording, row);
	struct kwhy_finding_place place = {.words = NULL};
	struct kwhy_text text = {0};

	if (with_step) {
		kwhy_held_add_range(&text, recording, row);
	} else {
		add_scoped(&text, recording, row);
		add_source(&text, recording, row);
	}
	if (!text.failed && text.data)
		place.words = kwhy_arena_copy(arena, text.data);
	if (source != KWHY_NONE) {
		place.file = kwhy_names_get(
			&recording->names, kwhy_host_range_file(&recording->host_ranges, source));
		place.line = kwhy_host_range_line(&recording->host_ranges, source);
	}
	kwhy_text_done(&text);
	return place;
}

const char *kwhy_held_words(
	const struct kwhy_held *held, struct kwhy_arena *arena, struct kwhy_finding_place *out_place)
{
	char time[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];
	const struct kwhy_held_name *name;

	if (!held->first)
		return NULL;
	name = &held->names[held->first];
	*out_place = kwhy_held_place(arena, held->recording, name->row, false);
	return out_place->words
		? kwhy_arena_printf(arena, "%s of it, %s, in %s", kwhy_quantity_time(time, name->time_ns),
			  kwhy_quantity_times(count, name->count), out_place->words)
		: NULL;
}

/*
 * Of the causes whose bit is not set in `reported`, the one with the most time; KWHY_HELD_CAUSE_COUNT: no
 * such cause has more than a tenth of the time of all causes.
 */
static enum kwhy_held_cause most(const struct kwhy_held *held, unsigned reported)
{
	enum kwhy_held_cause found = KWHY_HELD_CAUSE_COUNT;
	int64_t sum_ns = 0, found_ns = 0;

	for (int i = 0; i < KWHY_HELD_CAUSE_COUNT; i++) {
		sum_ns += held->cause_ns[i];
		if (!(reported >> i & 1) && held->cause_ns[i] > found_ns) {
			found = (enum kwhy_held_cause)i;
			found_ns = held->cause_ns[i];
		}
	}
	return found_ns > sum_ns / 10 ? found : KWHY_HELD_CAUSE_COUNT;
}

static void add_cure(const struct kwhy_held *held, struct kwhy_text *out, enum kwhy_held_cause cause,
	const char *otherwise)
{
	char time[KWHY_QUANTITY_BYTES];

	kwhy_text_addf(out, "%s%s (%s, %s)", out->length ? "; " : "",
		causes[cause].cure ? causes[cause].cure : otherwise,
		causes[cause].what ? causes[cause].what : "elsewhere",
		kwhy_quantity_time(time, held->cause_ns[cause]));
}

const char *kwhy_held_cure(const struct kwhy_held *held, struct kwhy_arena *arena, const char *otherwise)
{
	enum kwhy_held_cause cause = held->first
		? kwhy_held_cause_of(held->recording, held->names[held->first].row)
		: most(held, 0);
	struct kwhy_text text = {0};
	const char *cure = NULL;
	unsigned reported = 0;

	for (; cause != KWHY_HELD_CAUSE_COUNT; cause = most(held, reported)) {
		add_cure(held, &text, cause, otherwise);
		reported |= 1u << cause;
	}
	if ((reported & ~(1u << KWHY_HELD_UNKNOWN)) && !text.failed)
		cure = kwhy_arena_copy(arena, text.data);
	kwhy_text_done(&text);
	return cure;
}

const char *kwhy_held_change(const struct kwhy_held *held)
{
	static const char *const changes[KWHY_HELD_CAUSE_COUNT] = {
		[KWHY_HELD_LOADER] = "prefetch",
		[KWHY_HELD_READBACK] = "",
		[KWHY_HELD_CACHE] = "",
		[KWHY_HELD_OUTPUT] = "prefetch",
		[KWHY_HELD_PARALLEL] = "",
		[KWHY_HELD_COMPILED] = "graph",
		[KWHY_HELD_MODEL] = "graph",
		[KWHY_HELD_COMPILING] = "",
		[KWHY_HELD_SYSTEM] = "prefetch",
	};
	enum kwhy_held_cause cause = most(held, 0);

	return cause == KWHY_HELD_CAUSE_COUNT ? NULL : changes[cause];
}
