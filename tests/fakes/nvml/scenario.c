/* SPDX-License-Identifier: Apache-2.0 */
#include "fake.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512 };

struct reader {
	struct fake_scenario *scenario;
	struct fake_gpu *gpu; /* the GPU that the lines describe; NULL: no "gpu" line so far */
	const char *path;
	int line;
};

static void wrong(const struct reader *reader, const char *what)
{
	fprintf(stderr, "fake NVML: %s:%d: %s\n", reader->path, reader->line, what);
	exit(99);
}

static void set_text(char out[FAKE_TEXT], const char *text)
{
	snprintf(out, FAKE_TEXT, "%s", text);
}

static double number_of(const struct reader *reader, const char *text)
{
	char *end;
	double value;

	if (strcmp(text, "none") == 0)
		return NAN;
	value = strtod(text, &end);
	if (end == text || *end)
		wrong(reader, "not a number");
	return value;
}

static struct fake_gpu *add_gpu(struct fake_scenario *scenario, const char *name)
{
	struct fake_gpu *gpu = &scenario->gpus[scenario->gpu_count];

	gpu->index = (int)scenario->gpu_count++;
	set_text(gpu->name, name);
	snprintf(gpu->uuid, FAKE_TEXT, "GPU-6f6e6520-0000-4000-8000-%012d", gpu->index);
	gpu->pci_bus = 0x19 + 0x10 * (unsigned)gpu->index;
	gpu->numbers = (struct fake_numbers){
#define X(key, value) .key = (value),
		FAKE_NUMBERS(X)
#undef X
	};
	gpu->power = (struct fake_power){.shape = FAKE_CONSTANT, .low_w = 78.5, .high_w = 78.5};
	return gpu;
}

/*
 * Returns the next word of the line, without the quotes if it is quoted, and moves *rest behind it; NULL at
 * the end of the line or at a comment (#).
 */
static char *word(char **rest)
{
	char *start = *rest + strspn(*rest, " \t\n"), *end;

	if (!*start || *start == '#')
		return NULL;
	if (*start == '"') {
		start++;
		end = start + strcspn(start, "\"");
	} else {
		end = start + strcspn(start, " \t\n");
	}
	*rest = *end ? end + 1 : end;
	*end = '\0';
	return start;
}

static char *need(const struct reader *reader, char **rest)
{
	char *found = word(rest);

	if (!found)
		wrong(reader, "a word is missing");
	return found;
}

static double need_number(const struct reader *reader, char **rest)
{
	return number_of(reader, need(reader, rest));
}

/* The next number of the line; NAN: the line has no more. */
static double next_number(const struct reader *reader, char **rest)
{
	const char *text = word(rest);

	return text ? number_of(reader, text) : NAN;
}

static void add_point(const struct reader *reader, struct fake_power *power, double time_s, double power_w)
{
	if (!power->points)
		power->points = calloc(FAKE_POINTS, sizeof(*power->points));
	if (!power->points || power->point_count == FAKE_POINTS)
		wrong(reader, "too many points");
	if (power->point_count == 0 || power_w < power->low_w)
		power->low_w = power_w;
	power->points[power->point_count++] = (struct fake_point){time_s, power_w};
}

/* Reads points of power from lines "SECONDS,WATTS"; ignores other lines. */
static void read_csv(const struct reader *reader, struct fake_power *power, const char *path)
{
	char line[LINE_BYTES];
	double time_s, power_w;
	FILE *file = fopen(path, "r");

	if (!file)
		wrong(reader, "no such CSV file");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lf,%lf", &time_s, &power_w) == 2)
			add_point(reader, power, time_s, power_w);
	fclose(file);
}

static void read_power(struct reader *reader, char **rest)
{
	struct fake_power *power = &reader->gpu->power;
	const char *shape = need(reader, rest);

	free(power->points);
	*power = (struct fake_power){.shape = FAKE_STEPS};
	if (strcmp(shape, "constant") == 0) {
		power->shape = FAKE_CONSTANT;
		power->low_w = power->high_w = need_number(reader, rest);
	} else if (strcmp(shape, "square") == 0) {
		power->shape = FAKE_SQUARE;
		power->low_w = need_number(reader, rest);
		power->high_w = need_number(reader, rest);
		power->on_ms = need_number(reader, rest);
		power->off_ms = need_number(reader, rest);
	} else if (strcmp(shape, "steps") == 0) {
		for (char *time = word(rest); time; time = word(rest))
			add_point(reader, power, number_of(reader, time), need_number(reader, rest));
	} else if (strcmp(shape, "csv") == 0) {
		read_csv(reader, power, need(reader, rest));
	} else {
		wrong(reader, "power is constant, square, steps or csv");
	}
}

static enum kwhy_nvml_result result_of(const struct reader *reader, const char *text)
{
	static const struct {
		const char *text;
		enum kwhy_nvml_result result;
	} rows[] = {
		{"uninitialized", KWHY_NVML_UNINITIALIZED},
		{"invalid_argument", KWHY_NVML_INVALID_ARGUMENT},
		{"not_supported", KWHY_NVML_NOT_SUPPORTED},
		{"no_permission", KWHY_NVML_NO_PERMISSION},
		{"not_found", KWHY_NVML_NOT_FOUND},
		{"driver_not_loaded", KWHY_NVML_DRIVER_NOT_LOADED},
		{"timeout", KWHY_NVML_TIMEOUT},
		{"function_not_found", KWHY_NVML_FUNCTION_NOT_FOUND},
		{"gpu_is_lost", KWHY_NVML_GPU_IS_LOST},
		{"reset_required", KWHY_NVML_RESET_REQUIRED},
		{"unknown", KWHY_NVML_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].text, text) == 0)
			return rows[i].result;
	wrong(reader, "no such result");
	return KWHY_NVML_UNKNOWN;
}

static struct fake_fault *add_fault(struct reader *reader, const char *call)
{
	struct fake_scenario *scenario = reader->scenario;
	struct fake_fault *fault = &scenario->faults[scenario->fault_count];

	if (scenario->fault_count++ == FAKE_FAULTS)
		wrong(reader, "too many faults");
	set_text(fault->call, call);
	fault->nth = 1;
	fault->times = (unsigned long)-1;
	fault->until_s = NAN;
	return fault;
}

static void read_fail(struct reader *reader, char **rest)
{
	struct fake_fault *fault = add_fault(reader, need(reader, rest));

	fault->result = result_of(reader, need(reader, rest));
	for (char *key = word(rest); key; key = word(rest)) {
		double value = need_number(reader, rest);

		if (strcmp(key, "nth") == 0)
			fault->nth = (unsigned long)value;
		else if (strcmp(key, "times") == 0)
			fault->times = (unsigned long)value;
		else if (strcmp(key, "after_s") == 0)
			fault->after_s = value;
		else if (strcmp(key, "until_s") == 0)
			fault->until_s = value;
		else
			wrong(reader, "fail knows nth, times, after_s and until_s");
	}
}

static void read_delay(struct reader *reader, char **rest)
{
	struct fake_fault *fault = add_fault(reader, need(reader, rest));

	fault->delay_ms = need_number(reader, rest);
}

static void read_gpu(struct reader *reader, char **rest)
{
	if (reader->scenario->gpu_count == FAKE_GPUS)
		wrong(reader, "too many GPUs");
	reader->gpu = add_gpu(reader->scenario, need(reader, rest));
}

static void read_mig(struct reader *reader, char **rest)
{
	struct fake_gpu *gpu = reader->gpu, *instance = calloc(1, sizeof(*instance));

	if (!instance || gpu->instance_count == FAKE_INSTANCES)
		wrong(reader, "too many instances");
	*instance = (struct fake_gpu){.index = -1, .parent = gpu, .numbers = gpu->numbers};
	set_text(instance->name, need(reader, rest));
	set_text(instance->uuid, need(reader, rest));
	instance->sm_count = (unsigned)need_number(reader, rest);
	instance->numbers.memory_total_mib = need_number(reader, rest);
	instance->numbers.gpm_sm_percent = next_number(reader, rest);
	instance->numbers.gpm = !isnan(instance->numbers.gpm_sm_percent);
	instance->from_s = next_number(reader, rest);
	instance->until_s = next_number(reader, rest);
	gpu->instances[gpu->instance_count++] = instance;
	gpu->numbers.mig_mode = 1;
}

static void read_process(struct reader *reader, char **rest)
{
	struct fake_gpu *gpu = reader->gpu;
	struct fake_process *process = &gpu->processes[gpu->process_count];
	const char *percent;
	double mib;

	if (gpu->process_count++ == FAKE_PROCESSES)
		wrong(reader, "too many processes");
	process->info.pid = (unsigned)need_number(reader, rest);
	mib = need_number(reader, rest);
	process->info.used_bytes = isnan(mib) ? ~0ULL : (unsigned long long)(mib * 1048576);
	process->info.gpu_instance = process->info.compute_instance = ~0U;
	percent = word(rest);
	process->sm_percent = percent ? (unsigned)number_of(reader, percent) : 0;
}

static void read_pci(struct reader *reader, char **rest)
{
	struct fake_gpu *gpu = reader->gpu;

	if (sscanf(need(reader, rest), "%x:%x:%x", &gpu->pci_domain, &gpu->pci_bus, &gpu->pci_device) != 3)
		wrong(reader, "pci is domain:bus:device");
}

static void read_uuid(struct reader *reader, char **rest)
{
	set_text(reader->gpu->uuid, need(reader, rest));
}

static void read_driver(struct reader *reader, char **rest)
{
	set_text(reader->scenario->driver, need(reader, rest));
}

static bool read_number(struct reader *reader, const char *key, char **rest)
{
	static const struct {
		const char *key;
		size_t offset;
	} rows[] = {
#define X(name, value) {#name, offsetof(struct fake_numbers, name)},
		FAKE_NUMBERS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].key, key) == 0) {
			double *place = (double *)((char *)&reader->gpu->numbers + rows[i].offset);

			*place = need_number(reader, rest);
			return true;
		}
	return false;
}

static void read_line(struct reader *reader, char *line)
{
	static const struct {
		const char *key;
		bool of_gpu;
		void (*read)(struct reader *reader, char **rest);
	} rows[] = {
		{"driver", false, read_driver},
		{"fail", false, read_fail},
		{"delay", false, read_delay},
		{"gpu", false, read_gpu},
		{"uuid", true, read_uuid},
		{"pci", true, read_pci},
		{"power", true, read_power},
		{"mig", true, read_mig},
		{"process", true, read_process},
	};
	const char *key = word(&line);

	if (!key)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].key, key) == 0) {
			if (rows[i].of_gpu && !reader->gpu)
				wrong(reader, "a line of a GPU before any gpu");
			rows[i].read(reader, &line);
			return;
		}
	if (!reader->gpu || !read_number(reader, key, &line))
		wrong(reader, "no such key");
}

static void read_file(struct reader *reader)
{
	char line[LINE_BYTES];
	FILE *file = fopen(reader->path, "r");

	if (!file)
		wrong(reader, "cannot be read");
	while (fgets(line, sizeof(line), file)) {
		reader->line++;
		read_line(reader, line);
	}
	fclose(file);
}

/*
 * Reads the power limit and the locked clock (0: not locked) of the first GPU from the file FAKE_SETTINGS,
 * which has the line "LIMIT_W CLOCK_MHZ". Through it settings persist from one process to the next.
 */
static void fake_settings_read(struct fake_scenario *scenario)
{
	const char *path = getenv(FAKE_SETTINGS);
	FILE *file = path ? fopen(path, "r") : NULL;
	double limit_w, clock_mhz;

	scenario->has_settings = path && scenario->gpu_count;
	if (file && scenario->gpu_count && fscanf(file, "%lf %lf", &limit_w, &clock_mhz) == 2) {
		scenario->gpus[0].numbers.power_limit_w = limit_w;
		scenario->gpus[0].numbers.locked_clock_mhz = clock_mhz > 0 ? clock_mhz : NAN;
	}
	if (file)
		fclose(file);
}

void fake_settings_write(const struct fake_scenario *scenario)
{
	const struct fake_numbers *numbers = &scenario->gpus[0].numbers;
	const char *path = getenv(FAKE_SETTINGS);
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%g %g\n", numbers->power_limit_w,
		isnan(numbers->locked_clock_mhz) ? 0 : numbers->locked_clock_mhz);
	fclose(file);
}

void fake_scenario_read(struct fake_scenario *scenario, const char *path)
{
	struct reader reader = {.scenario = scenario, .path = path};

	set_text(scenario->driver, "580.159.04");
	if (path)
		read_file(&reader);
	else
		add_gpu(scenario, "NVIDIA H200");
	fake_settings_read(scenario);
	fake_clock_begin(scenario);
	for (unsigned i = 0; i < scenario->gpu_count; i++)
		fake_meters_init(scenario, &scenario->gpus[i]);
}

void fake_scenario_done(struct fake_scenario *scenario)
{
	for (unsigned i = 0; i < scenario->gpu_count; i++) {
		struct fake_gpu *gpu = &scenario->gpus[i];

		free(gpu->power.points);
		for (unsigned j = 0; j < gpu->instance_count; j++)
			free(gpu->instances[j]);
	}
	memset(scenario, 0, sizeof(*scenario));
}
