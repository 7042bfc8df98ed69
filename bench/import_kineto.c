/* SPDX-License-Identifier: Apache-2.0 */
#include "base/large.h"
#include "import/input.h"
#include "import/json_bridge.h"
#include "import/reader.h"
#include "kwhy/analyse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

/*
 * Usage: bench_import_kineto TRACE [SIZE_MB]. Measures how fast a large trace of torch.profiler is imported,
 * and how much memory that takes. The input is TRACE with its events repeated until it has SIZE_MB (default
 * 1000); times and ids of each repetition are shifted so that they do not overlap. For comparison between
 * machines it also measures reading the same file, and reading it with simdjson's first stage. Then it
 * measures the analysis for a report of the imported trace, in a process of its own, and the import of a gzip
 * file of at most 200 MB, compared with decompression by zlib.
 */

enum { CHUNK_BYTES = 1 << 20, PACKED_MB_MAX = 200 };

static struct kwhy_error error;

static double clock_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double now_s(void)
{
	return clock_s(CLOCK_MONOTONIC);
}

static void stop(const char *why)
{
	fprintf(stderr, "bench_import_kineto: %s\n", why);
	exit(1);
}

static long peak_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* Returns the whole text of a trace; the caller frees it. */
static char *load(const char *path, size_t *out_length)
{
	struct kwhy_input *input;
	size_t capacity = 64 << 20, length = 0, got = 1;
	char *text = malloc(capacity);

	if (!text || kwhy_input_open(path, &input, &error))
		stop(text ? error.text : "no memory");
	while (got > 0) {
		if (length + CHUNK_BYTES >= capacity)
			text = realloc(text, capacity *= 2);
		if (!text || kwhy_input_read(input, text + length, CHUNK_BYTES, &got, &error))
			stop(text ? error.text : "no memory");
		length += got;
	}
	kwhy_input_close(input);
	text[length] = '\0';
	*out_length = length;
	return text;
}

/*
 * The members of events that are shifted in each repetition: times (us), and ids by which events refer to
 * each other.
 */
static const struct {
	const char *key;
	bool is_time;
} shifted[] = {
	{"\"ts\": ", true}, {"\"id\": ", false}, {"\"External id\": ", false}, {"\"correlation\": ", false}};

enum { SHIFTED_COUNT = sizeof(shifted) / sizeof(shifted[0]) };

static const char *value_of(const char *quote, bool *out_is_time)
{
	for (size_t i = 0; i < SHIFTED_COUNT; i++)
		if (!strncmp(quote, shifted[i].key, strlen(shifted[i].key))) {
			*out_is_time = shifted[i].is_time;
			return quote + strlen(shifted[i].key);
		}
	return NULL;
}

/* Shift of a repetition: what is added to its times, us, and to its ids. */
struct shift {
	uint64_t time_us, id;
};

/*
 * Returns the shift from one repetition to the next: longer than the trace, and larger than its largest id.
 */
static struct shift shift_of(const char *first, const char *end)
{
	uint64_t low = UINT64_MAX, high = 0, id = 0;
	bool is_time;

	for (const char *at = first; (at = memchr(at, '"', (size_t)(end - at))); at++) {
		const char *digits = value_of(at, &is_time);
		uint64_t value = digits ? strtoull(digits, NULL, 10) : 0;

		if (!digits)
			continue;
		low = is_time && value < low ? value : low;
		high = is_time && value > high ? value : high;
		id = !is_time && value < UINT32_MAX && value > id ? value : id;
	}
	return (struct shift){high - low + 1000000, id + 1};
}

static size_t write_shifted(const char *first, const char *end, struct shift by, FILE *out)
{
	size_t written = 0;
	bool is_time;

	for (const char *at = first; at < end;) {
		const char *quote = memchr(at, '"', (size_t)(end - at));
		const char *digits = quote ? value_of(quote, &is_time) : NULL;
		const char *stop = digits ? digits : quote ? quote + 1 : end;
		char *after = NULL;

		written += fwrite(at, 1, (size_t)(stop - at), out);
		at = stop;
		if (!digits)
			continue;
		written += (size_t)fprintf(out, "%" PRIu64,
			(uint64_t)strtoull(digits, &after, 10) + (is_time ? by.time_us : by.id));
		at = after;
	}
	return written;
}

/*
 * Writes the trace with its events repeated until the events have size_bytes. Everything from the '[' after
 * "traceEvents" to the end of the event "Record Window End" is repeated.
 */
static void write_repeated(const char *text, size_t size_bytes, FILE *out)
{
	const char *head = strstr(text, "\"traceEvents\": [");
	const char *first = head ? head + strlen("\"traceEvents\": [") : NULL;
	const char *last = first ? strstr(first, "Record Window End") : NULL;
	const char *end = last ? strchr(last, '}') : NULL;
	size_t written = 0;
	struct shift by, sum = {0};

	if (!end)
		stop("the trace is not as Kineto writes it");
	by = shift_of(first, ++end);
	fwrite(text, 1, (size_t)(first - text), out);
	while (written < size_bytes) {
		if (written)
			fputc(',', out);
		written += write_shifted(first, end, sum, out);
		sum.time_us += by.time_us;
		sum.id += by.id;
	}
	fputs(end, out);
}

static void make_input(const char *trace, size_t size_bytes, int file)
{
	size_t length;
	char *text = load(trace, &length);
	FILE *out = fdopen(file, "wb");

	if (!out)
		stop("cannot write the large input");
	write_repeated(text, size_bytes, out);
	if (fclose(out))
		stop("cannot write the large input");
	free(text);
}

/*
 * Writes the large input in a child process, whose memory does not count as the import's. Returns its size,
 * bytes; out_path: template for mkstemp(), becomes its path.
 */
static uint64_t make_input_apart(const char *trace, size_t size_bytes, char *out_path)
{
	int file = mkstemp(out_path), status = 1;
	struct stat about;
	pid_t child = fork();

	if (file < 0 || child < 0)
		stop("cannot write the large input");
	if (child == 0) {
		make_input(trace, size_bytes, file);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status || fstat(file, &about))
		stop("cannot write the large input");
	close(file);
	return (uint64_t)about.st_size;
}

static double time_of_bytes(const char *path)
{
	static char chunk[CHUNK_BYTES];
	struct kwhy_input *input;
	size_t got = 1;
	double start_s = now_s();

	if (kwhy_input_open(path, &input, &error))
		stop(error.text);
	while (got > 0)
		if (kwhy_input_read(input, chunk, sizeof(chunk), &got, &error))
			stop(error.text);
	kwhy_input_close(input);
	return now_s() - start_s;
}

/* Reads the file in pieces of whole lines and runs simdjson's first stage on each; no token is parsed. */
static double time_of_index(const char *path)
{
	static char chunk[CHUNK_BYTES + 64];
	struct kwhy_json_index *index = kwhy_json_index_new();
	struct kwhy_input *input;
	size_t kept = 0, got = 1;
	double start_s = now_s();

	if (!index || kwhy_input_open(path, &input, &error))
		stop("cannot index");
	while (got > 0) {
		const uint32_t *tokens;
		size_t count, used;

		if (kwhy_input_read(input, chunk + kept, CHUNK_BYTES - kept, &got, &error))
			stop(error.text);
		for (used = kept + got; used > 0 && chunk[used - 1] != '\n';)
			used--;
		if (kwhy_json_index_make(index, chunk, used, &tokens, &count))
			stop("cannot index");
		kept = kept + got - used;
		memmove(chunk, chunk + used, kept);
	}
	kwhy_input_close(input);
	kwhy_json_index_free(index);
	return now_s() - start_s;
}

struct imported {
	double time_s, cpu_s; /* cpu_s: processor time of the parsing thread; another thread decompresses */
	uint64_t events;
	size_t activities, calls;
};

static struct imported import(const char *path)
{
	struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;
	struct imported imported;
	double start_s = now_s(), start_cpu_s = clock_s(CLOCK_THREAD_CPUTIME_ID);

	if (kwhy_recording_new(&recording, &error) ||
		kwhy_reader_kineto.read(recording, path, &options, &error))
		stop(error.text);
	imported = (struct imported){.time_s = now_s() - start_s,
		.cpu_s = clock_s(CLOCK_THREAD_CPUTIME_ID) - start_cpu_s,
		.events = recording->sources[recording->source_count - 1].events,
		.activities = recording->activities.count,
		.calls = recording->calls.count};
	kwhy_recording_free(recording);
	return imported;
}

static void analyse(const char *path)
{
	struct kwhy_analysis_options options;
	struct kwhy_analysis *analysis;
	char why[512];

	kwhy_large_heap();
	kwhy_analysis_options_init(&options, sizeof(options));
	if (kwhy_analysis_open(&path, 1, &options, &analysis, why, sizeof(why)))
		stop(why);
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

/*
 * Imports and analyses the trace as for a report, in a child process, and prints the child's processor time
 * and memory.
 */
static void report_analysis(const char *path, uint64_t events)
{
	struct rusage usage;
	int status = 1;
	pid_t child = fork();

	if (child < 0)
		stop("cannot start a process");
	if (child == 0) {
		analyse(path);
		_exit(0);
	}
	if (wait4(child, &status, 0, &usage) != child || status)
		stop("the analysis failed");
	printf("analysis           %8.2f s of processor time, %.2f of them the system's\n",
		seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), seconds_of(usage.ru_stime));
	printf("its peak memory    %8.1f MB: %.1f bytes an event\n", (double)usage.ru_maxrss / 1e3,
		(double)usage.ru_maxrss * 1024 / (double)events);
}

static void report(const char *path, uint64_t bytes)
{
	double bytes_s = time_of_bytes(path), index_s = time_of_index(path);
	long before_kb = peak_kb(), after_kb;
	struct imported imported = import(path);

	after_kb = peak_kb();
	printf("input              %8.0f MB, %" PRIu64 " events, %zu activities, %zu calls\n",
		(double)bytes / 1e6, imported.events, imported.activities, imported.calls);
	printf("import             %8.0f MB/s, %.1f million events/s\n",
		(double)bytes / imported.time_s / 1e6, (double)imported.events / imported.time_s / 1e6);
	printf("reading alone      %8.0f MB/s, import takes %.1f times as long\n",
		(double)bytes / bytes_s / 1e6, imported.time_s / bytes_s);
	printf("reading and index  %8.0f MB/s, import takes %.1f times as long\n",
		(double)bytes / index_s / 1e6, imported.time_s / index_s);
	printf("peak memory        %8.1f MB, before import %.1f MB: %.1f bytes an event\n",
		(double)after_kb / 1e3, (double)before_kb / 1e3,
		(double)after_kb * 1024 / (double)imported.events);
	report_analysis(path, imported.events);
}

static void pack(const char *path, const char *packed_path)
{
	static char chunk[CHUNK_BYTES];
	FILE *in = fopen(path, "rb");
	gzFile out = gzopen(packed_path, "wb");
	size_t got = 1;

	if (!in || !out)
		stop("cannot write the packed input");
	while (got > 0) {
		got = fread(chunk, 1, sizeof(chunk), in);
		if (got && gzwrite(out, chunk, (unsigned)got) != (int)got)
			stop("cannot write the packed input");
	}
	fclose(in);
	if (gzclose(out) != Z_OK)
		stop("cannot write the packed input");
}

static double time_of_zlib(const char *path)
{
	static char chunk[CHUNK_BYTES];
	gzFile in = gzopen(path, "rb");
	double start_s = now_s();
	int got = 1;

	if (!in)
		stop("cannot read the packed input");
	while (got > 0)
		got = gzread(in, chunk, sizeof(chunk));
	if (got < 0 || gzclose(in) != Z_OK)
		stop("cannot read the packed input");
	return now_s() - start_s;
}

static void report_packed(const char *path, uint64_t bytes)
{
	char packed_path[] = P_tmpdir "/kwhy-bench-gz-XXXXXX";
	int file = mkstemp(packed_path);
	struct imported imported;
	double zlib_s;

	if (file < 0)
		stop("cannot write the packed input");
	close(file);
	pack(path, packed_path);
	zlib_s = time_of_zlib(packed_path);
	imported = import(packed_path);
	unlink(packed_path);
	printf("import of gzip     %8.0f MB/s, zlib alone %.0f MB/s: %.2f times as long\n",
		(double)bytes / imported.time_s / 1e6, (double)bytes / zlib_s / 1e6,
		imported.time_s / zlib_s);
	printf("its parsing thread %8.0f MB/s of processor time, beside the one that unpacks\n",
		(double)bytes / imported.cpu_s / 1e6);
}

/* Writes a temporary input of size_mb, calls `report_on` to measure its import, and removes it. */
static void measure(const char *trace, size_t size_mb, void (*report_on)(const char *path, uint64_t bytes))
{
	char path[] = P_tmpdir "/kwhy-bench-XXXXXX";
	uint64_t bytes = make_input_apart(trace, size_mb * 1000000, path);

	report_on(path, bytes);
	unlink(path);
}

int main(int argc, char **argv)
{
	size_t size_mb = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;

	if (argc < 2)
		stop("name a trace; then, if you like, a size in MB");
	measure(argv[1], size_mb, report);
	measure(argv[1], size_mb < PACKED_MB_MAX ? size_mb : PACKED_MB_MAX, report_packed);
	return 0;
}
