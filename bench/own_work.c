/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that kwhy probe does not change what a program does: compares what the program itself ran in a
 * recording by kwhy probe with a recording of the same program by kwhy record. Counts kernels, copies and
 * memsets by name, kind, direction, grid and bytes, and calls by name, except those of the probe; lists the
 * differences, and exits with status 1 if there are any. Also prints how many repeats the probe's bursts
 * should have and how many were found; the first burst of a kernel may have up to two more. Usage: own_work
 * PLAIN PROBED
 */
#include "import/import.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
	struct kwhy_recording *recording;
	char **lines; /* [count] sorted texts, one for each activity and call */
	size_t count;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

__attribute__((format(printf, 2, 3))) static void add(struct work *work, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&work->lines[work->count++], format, arguments) < 0)
		abort();
	va_end(arguments);
}

static void list(struct work *work)
{
	const struct kwhy_recording *recording = work->recording;
	const struct kwhy_activities *rows = &recording->activities;

	work->lines = calloc(rows->count + recording->calls.count + 1, sizeof(*work->lines));
	if (!work->lines)
		abort();
	for (size_t i = 0; i < rows->count; i++)
		if (rows->origin[i] == KWHY_ORIGIN_PROGRAM)
			add(work, "activity %d %d [%" PRIu32 " x %u] %" PRId64 " bytes %s", rows->kind[i],
				rows->copy_kind[i], rows->blocks[i], rows->threads_per_block[i],
				(int64_t)rows->bytes[i], kwhy_names_get(&recording->names, rows->name[i]));
	for (size_t i = 0; i < recording->calls.count; i++)
		add(work, "call %s", kwhy_names_get(&recording->names, recording->calls.name[i]));
	qsort(work->lines, work->count, sizeof(*work->lines), by_text);
}

static bool read_work(struct work *work, const char *path)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_error error;

	*work = (struct work){0};
	if (kwhy_recording_new(&work->recording, &error) ||
		kwhy_import_trace(work->recording, path, &options, &error) ||
		kwhy_recording_finish(work->recording, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return false;
	}
	list(work);
	return true;
}

static void free_work(struct work *work)
{
	for (size_t i = 0; i < work->count; i++)
		free(work->lines[i]);
	free(work->lines);
	kwhy_recording_free(work->recording);
}

static size_t run_length(const struct work *work, size_t at)
{
	size_t length = 1;

	while (at + length < work->count && !strcmp(work->lines[at], work->lines[at + length]))
		length++;
	return length;
}

/*
 * Prints each line whose number of occurrences differs between the two lists. Returns the number of such
 * lines.
 */
static size_t compare(const struct work *plain, const struct work *probed)
{
	size_t i = 0, k = 0, different = 0;

	while (i < plain->count || k < probed->count) {
		const int order = i == plain->count ? 1
			: k == probed->count	    ? -1
						    : strcmp(plain->lines[i], probed->lines[k]);
		const size_t in_plain = order <= 0 ? run_length(plain, i) : 0,
			     in_probed = order >= 0 ? run_length(probed, k) : 0;

		if (in_plain != in_probed) {
			printf("  %zu and %zu: %.200s\n", in_plain, in_probed,
				in_plain ? plain->lines[i] : probed->lines[k]);
			different++;
		}
		i += in_plain;
		k += in_probed;
	}
	return different;
}

static void tell_repeats(const struct kwhy_recording *recording)
{
	uint64_t found[KWHY_ORIGIN_COUNT] = {0}, repeats = 0;

	for (size_t i = 0; i < recording->activities.count; i++)
		found[recording->activities.origin[i]]++;
	for (size_t i = 0; i < recording->burst_count; i++)
		repeats += recording->bursts[i].repeats;
	printf("%zu bursts say %" PRIu64 " repeats; found %" PRIu64 ", and %" PRIu64 " of the prober\n",
		recording->burst_count, repeats, found[KWHY_ORIGIN_REPEAT], found[KWHY_ORIGIN_PROBER]);
}

int main(int argc, char **argv)
{
	struct work plain = {0}, probed = {0};
	size_t different;

	if (argc != 3) {
		fprintf(stderr, "usage: own_work PLAIN PROBED\n");
		return 2;
	}
	if (!read_work(&plain, argv[1]) || !read_work(&probed, argv[2]))
		return 2;
	different = compare(&plain, &probed);
	printf("own activities and calls: %zu and %zu, %zu names and sizes differ\n", plain.count,
		probed.count, different);
	tell_repeats(probed.recording);
	free_work(&plain);
	free_work(&probed);
	return different > 0;
}
