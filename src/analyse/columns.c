/* SPDX-License-Identifier: Apache-2.0 */
/* Gives callers of libkwhy-analyse the columns of a recording without copying them. */
#include "analyse/analysis.h"

#include <stddef.h>
#include <string.h>

#define COUNTED(list) list, sizeof(list) / sizeof((list)[0])

/*
 * What the values of a column are: numbers, or indices of a table of names (of kernels, of kinds of
 * activities, and so on).
 */
enum meaning { NUMBERS, NAMES, KINDS, COPY_KINDS, MEMORY_KINDS, CLASSES, ORIGINS };

struct column {
	const char *name;
	int32_t type;
	enum meaning meaning;
	uint64_t unknown; /* the value that stands for unknown, if has_unknown is set */
	bool has_unknown;
	size_t place; /* offset in bytes, in struct kwhy_activities or kwhy_calls, of the pointer to the
			 values */
};

#define ACTIVITY(column) offsetof(struct kwhy_activities, column)
#define CALL(column) offsetof(struct kwhy_calls, column)

static const struct column activities[] = {
	{"start_ns", KWHY_ANALYSE_I64, NUMBERS, 0, false, ACTIVITY(start_ns)},
	{"end_ns", KWHY_ANALYSE_I64, NUMBERS, 0, false, ACTIVITY(end_ns)},
	{"kind", KWHY_ANALYSE_U8, KINDS, 0, false, ACTIVITY(kind)},
	{"name", KWHY_ANALYSE_U32, NAMES, 0, false, ACTIVITY(name)},
	{"bytes", KWHY_ANALYSE_U64, NUMBERS, KWHY_UNKNOWN_BYTES, true, ACTIVITY(bytes)},
	{"stream", KWHY_ANALYSE_U32, NUMBERS, KWHY_NONE, true, ACTIVITY(stream)},
	{"call", KWHY_ANALYSE_U32, NUMBERS, KWHY_NONE, true, ACTIVITY(call)},
	{"blocks", KWHY_ANALYSE_U32, NUMBERS, KWHY_UNKNOWN_BLOCKS, true, ACTIVITY(blocks)},
	{"threads_per_block", KWHY_ANALYSE_U16, NUMBERS, KWHY_UNKNOWN_U16, true, ACTIVITY(threads_per_block)},
	{"registers", KWHY_ANALYSE_U16, NUMBERS, KWHY_UNKNOWN_U16, true, ACTIVITY(registers)},
	{"shared_bytes", KWHY_ANALYSE_U32, NUMBERS, KWHY_NONE, true, ACTIVITY(shared_bytes)},
	{"copy_kind", KWHY_ANALYSE_U8, COPY_KINDS, 0, false, ACTIVITY(copy_kind)},
	{"source_memory", KWHY_ANALYSE_U8, MEMORY_KINDS, 0, false, ACTIVITY(src_memory)},
	{"target_memory", KWHY_ANALYSE_U8, MEMORY_KINDS, 0, false, ACTIVITY(dst_memory)},
	{"origin", KWHY_ANALYSE_U8, ORIGINS, 0, false, ACTIVITY(origin)},
};

static const struct column calls[] = {
	{"start_ns", KWHY_ANALYSE_I64, NUMBERS, 0, false, CALL(start_ns)},
	{"end_ns", KWHY_ANALYSE_I64, NUMBERS, 0, false, CALL(end_ns)},
	{"name", KWHY_ANALYSE_U32, NAMES, 0, false, CALL(name)},
	{"class", KWHY_ANALYSE_U8, CLASSES, 0, false, CALL(class)},
	{"thread", KWHY_ANALYSE_U32, NUMBERS, KWHY_NONE, true, CALL(thread)},
};

_Static_assert(sizeof(activities) / sizeof(activities[0]) <= KWHY_ANALYSIS_COLUMNS_MAX, "columns");

static const struct {
	const struct column *columns;
	size_t column_count;
} tables[KWHY_ANALYSIS_TABLES] = {
	[KWHY_ANALYSE_ACTIVITIES] = {COUNTED(activities)},
	[KWHY_ANALYSE_CALLS] = {COUNTED(calls)},
};

static const char *const origins[] = {"program", "repeat", "prober"};

_Static_assert(sizeof(origins) / sizeof(origins[0]) == KWHY_ORIGIN_COUNT, "origins");

/* Description of a column of a table (KWHY_ANALYSE_ACTIVITIES or _CALLS); NULL: there is none. */
static const struct column *find(int table, size_t column)
{
	if (table < 0 || table >= KWHY_ANALYSIS_TABLES || column >= tables[table].column_count)
		return NULL;
	return &tables[table].columns[column];
}

static size_t width_of(const struct column *column)
{
	switch (column->type) {
	case KWHY_ANALYSE_I64:
	case KWHY_ANALYSE_U64:
		return 8;
	case KWHY_ANALYSE_U32:
		return 4;
	case KWHY_ANALYSE_U16:
		return 2;
	default:
		return 1;
	}
}

static const void *values_of(const struct kwhy_analysis *analysis, int table, const struct column *column)
{
	const struct kwhy_recording *recording = analysis->recording;
	const char *all = table == KWHY_ANALYSE_ACTIVITIES ? (const char *)&recording->activities
							   : (const char *)&recording->calls;
	const void *values;

	memcpy(&values, all + column->place, sizeof(values));
	return values;
}

static size_t count_of(const struct kwhy_analysis *analysis, int table)
{
	return table == KWHY_ANALYSE_ACTIVITIES ? analysis->recording->activities.count
						: analysis->recording->calls.count;
}

/*
 * Whether the value of a row is column->unknown. Compares the lowest bytes of `unknown`, which are the first
 * ones on little-endian machines.
 */
static bool is_unknown(const struct column *column, const unsigned char *values, size_t row)
{
	const size_t width = width_of(column);

	return memcmp(values + row * width, &column->unknown, width) == 0;
}

/*
 * Finds which values of a column are known, at the first call for that column. The analysis owns the bits.
 * False: out of memory.
 */
static bool find_known(struct kwhy_analysis *analysis, int table, size_t number, const struct column *column)
{
	struct kwhy_known *known = &analysis->known[table][number];
	const unsigned char *values = values_of(analysis, table, column);
	const size_t count = count_of(analysis, table);

	if (known->is_found || !column->has_unknown)
		return true;
	for (size_t i = 0; i < count; i++)
		known->unknown_count += is_unknown(column, values, i);
	if (known->unknown_count) {
		known->bits = kwhy_arena_alloc(&analysis->arena, count / 8 + 1, 1);
		for (size_t i = 0; known->bits && i < count; i++)
			if (!is_unknown(column, values, i))
				known->bits[i / 8] |= (unsigned char)(1u << i % 8);
		if (!known->bits) {
			known->unknown_count = 0;
			return false;
		}
	}
	known->is_found = true;
	return true;
}

static size_t word_count(const struct kwhy_analysis *analysis, enum meaning meaning)
{
	switch (meaning) {
	case NAMES:
		return analysis->recording->names.count;
	case KINDS:
		return KWHY_ACTIVITY_KIND_COUNT;
	case COPY_KINDS:
		return KWHY_COPY_KIND_COUNT;
	case MEMORY_KINDS:
		return KWHY_MEMORY_KIND_COUNT;
	case CLASSES:
		return KWHY_CALL_CLASS_COUNT;
	case ORIGINS:
		return KWHY_ORIGIN_COUNT;
	default:
		return 0;
	}
}

int kwhy_analysis_column(
	struct kwhy_analysis *analysis, int table, size_t column, struct kwhy_column_info *out)
{
	const struct column *found = find(table, column);

	if (!found)
		return KWHY_ANALYSE_E_USAGE;
	if (!find_known(analysis, table, column, found))
		return KWHY_ANALYSE_E_MEMORY;
	const struct kwhy_column_info info = {.name = found->name,
		.type = found->type,
		.count = count_of(analysis, table),
		.values = values_of(analysis, table, found),
		.known = analysis->known[table][column].bits,
		.unknown_count = analysis->known[table][column].unknown_count,
		.word_count = word_count(analysis, found->meaning)};

	return kwhy_analysis_give(out, &info, sizeof(info));
}

const char *kwhy_analysis_word(const struct kwhy_analysis *analysis, int table, size_t column, size_t word)
{
	const struct column *found = find(table, column);

	if (!found || word >= word_count(analysis, found->meaning))
		return NULL;
	switch (found->meaning) {
	case NAMES:
		return kwhy_names_get(&analysis->recording->names, (uint32_t)word);
	case KINDS:
		return kwhy_activity_kind_name((enum kwhy_activity_kind)word);
	case COPY_KINDS:
		return kwhy_copy_kind_name((enum kwhy_copy_kind)word);
	case MEMORY_KINDS:
		return kwhy_memory_kind_name((enum kwhy_memory_kind)word);
	case CLASSES:
		return kwhy_call_class_name((enum kwhy_call_class)word);
	default:
		return origins[word];
	}
}
