/* SPDX-License-Identifier: Apache-2.0 */
#include "base/large.h"
#include "import/import.h"
#include "model/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * bench_import_forms TRACE...: imports each trace, in any format that kwhy reads, in a process of its own,
 * and prints the processor time of all its threads, including those that decompress, and its largest memory.
 */

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static void stop(const char *why)
{
	fprintf(stderr, "bench_import_forms: %s\n", why);
	_exit(1);
}

static uint64_t import(const char *path)
{
	struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;
	struct kwhy_error error;
	uint64_t events = 0;

	kwhy_large_heap();
	if (kwhy_recording_new(&recording, &error) || kwhy_import_trace(recording, path, &options, &error))
		stop(error.text);
	for (size_t i = 0; i < recording->source_count; i++)
		events += recording->sources[i].events;
	return events;
}

static void measure(const char *path)
{
	struct stat about;
	struct rusage usage;
	int results[2], status = 1;
	uint64_t events = 0;
	pid_t child;

	if (stat(path, &about) || pipe(results) || (child = fork()) < 0)
		stop("cannot start");
	if (child == 0) {
		events = import(path);
		_exit(write(results[1], &events, sizeof(events)) != (ssize_t)sizeof(events));
	}
	if (wait4(child, &status, 0, &usage) != child || status ||
		read(results[0], &events, sizeof(events)) != (ssize_t)sizeof(events))
		stop("the import failed");
	close(results[0]);
	close(results[1]);
	printf("%6.0f MB %9" PRIu64 " events %6.2f s %6.0f MB/s %5.2f million events/s %6.1f bytes an event  "
	       "%s\n",
		(double)about.st_size / 1e6, events, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
		(double)about.st_size / 1e6 / (seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)),
		(double)events / 1e6 / (seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)),
		(double)usage.ru_maxrss * 1024 / (double)(events ? events : 1), path);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		stop("name traces");
	for (int i = 1; i < argc; i++)
		measure(argv[i]);
	return 0;
}
