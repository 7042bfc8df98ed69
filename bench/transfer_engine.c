/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_engine.h"

#include "base/clock.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Measures the transfer engine (kwhy/transfer.h): (1) `steps`: the host time of a step of 22 small puts; (2)
 * `overlap`: how much of copying and computing overlaps when data is streamed to the device; (3) `pieces`:
 * the engine's time for many small pieces, compared with a loop of copies and with one batch of copies.
 * Usage: bench_transfer_engine [--backend cuda|hip|host] [--device N] [--quick] [--seconds S] [--csv FOLDER]
 * [--part steps|overlap|pieces]
 */

void bench_must(enum kwhy_status status, const struct kwhy_error *error)
{
	if (!status)
		return;
	fprintf(stderr, "%s\n", error->text);
	exit(1);
}

void bench_must_transfer(struct kwhy_transfer *transfer, int code)
{
	char message[KWHY_TRANSFER_MESSAGE_BYTES];

	if (!code)
		return;
	kwhy_transfer_message(transfer, message, sizeof(message));
	fprintf(stderr, "%s\n", message);
	exit(1);
}

struct kwhy_transfer *bench_open(const struct bench *bench, struct kwhy_transfer_options options)
{
	struct kwhy_transfer *transfer;
	char message[KWHY_TRANSFER_MESSAGE_BYTES];

	options.size = sizeof(options);
	options.backend = bench->backend;
	options.device = bench->device;
	if (kwhy_transfer_open(&options, &transfer, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		exit(1);
	}
	return transfer;
}

FILE *bench_csv(const struct bench *bench, const char *name, const char *header)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", bench->folder ? bench->folder : "/dev", name);
	file = fopen(bench->folder ? path : "/dev/null", "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	fprintf(file, "%s\n", header);
	return file;
}

double bench_now_us(void)
{
	return (double)kwhy_clock_mono_ns() * 1e-3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_quantile(double *values, size_t count, double share)
{
	qsort(values, count, sizeof(*values), by_value);
	return values[(size_t)(share * (double)(count - 1) + 0.5)];
}

void bench_median_bounds(double *values, size_t count, double *out_low, double *out_high)
{
	double half = 0.98 * sqrt((double)count), middle = (double)count / 2;
	long low = (long)floor(middle - half), high = (long)ceil(middle + half);

	qsort(values, count, sizeof(*values), by_value);
	*out_low = values[low < 0 ? 0 : low];
	*out_high = values[high >= (long)count ? (long)count - 1 : high];
}

static int backend_of(const char *name)
{
	for (int i = 0; i < KWHY_GPU_BACKEND_COUNT; i++)
		if (strcmp(name, kwhy_gpu_backend_name((enum kwhy_gpu_backend)i)) == 0)
			return i;
	fprintf(stderr, "no back end %s; give cuda, hip or host\n", name);
	exit(2);
}

static struct bench parse(int argc, char **argv)
{
	static const struct option options[] = {{"backend", required_argument, NULL, 'b'},
		{"device", required_argument, NULL, 'd'}, {"quick", no_argument, NULL, 'q'},
		{"seconds", required_argument, NULL, 's'}, {"csv", required_argument, NULL, 'c'},
		{"part", required_argument, NULL, 'p'}, {0}};
	struct bench bench = {.backend = KWHY_TRANSFER_HOST, .seconds = 120};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'b':
			bench.backend = backend_of(optarg);
			break;
		case 'd':
			bench.device = optarg;
			break;
		case 'q':
			bench.quick = true;
			break;
		case 's':
			bench.seconds = atof(optarg);
			break;
		case 'c':
			bench.folder = optarg;
			break;
		case 'p':
			bench.part = optarg;
			break;
		default:
			exit(2);
		}
	}
	return bench;
}

static bool has_part(const struct bench *bench, const char *name)
{
	return !bench->part || strcmp(bench->part, name) == 0;
}

int main(int argc, char **argv)
{
	struct bench bench = parse(argc, argv);
	struct kwhy_error error;

	bench_must(kwhy_gpu_open((enum kwhy_gpu_backend)bench.backend, bench.device, &bench.gpu, &error),
		&error);
	bench_must(bench.gpu->ops->enter(bench.gpu, &error), &error);
	bench_must(bench.gpu->ops->stream_new(bench.gpu, &bench.stream, &error), &error);
	printf("%s, back end %s\n", bench.gpu->facts.name, bench.gpu->ops->name);
	if (has_part(&bench, "steps"))
		bench_steps(&bench);
	if (has_part(&bench, "overlap"))
		bench_overlap(&bench);
	if (has_part(&bench, "pieces"))
		bench_pieces(&bench);
	bench.gpu->ops->stream_free(bench.gpu, bench.stream);
	bench.gpu->ops->close(bench.gpu);
	return 0;
}
