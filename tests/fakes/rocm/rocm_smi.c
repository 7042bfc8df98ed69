/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/rocm_smi_abi.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * ROCm SMI without a GPU. The environment variable KWHY_FAKE_ROCM names its scenario, which is read at
 * every call, so that a test can change it between two readings. The scenario consists of lines with a key
 * and its value:
 *
 *     devices 2
 *     0 energy_counts 1000000
 *     0 fails rsmi_dev_temp_metric_get 4
 *     process 4711 bytes 1048576 devices 0 1
 *
 * A call whose key has no value returns "not supported". `fails` sets the result of a call, `init` that of
 * rsmi_init().
 */

#define SHOWN __attribute__((visibility("default")))

enum { LINE_BYTES = 256 };

/*
 * Returns whether a line of the scenario begins with the key and a space, and sets *out_rest to its value,
 * the text after them.
 */
static bool match(char *line, const char *key, char **out_rest)
{
	size_t length = strlen(key);

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, key, length) != 0 || line[length] != ' ')
		return false;
	*out_rest = line + length + 1;
	return true;
}

/* Finds the value of a key in the scenario. Returns false if there is none. */
static bool look_up(const char *key, char out[LINE_BYTES])
{
	const char *path = getenv("KWHY_FAKE_ROCM");
	FILE *file = path ? fopen(path, "r") : NULL;
	char line[LINE_BYTES], *rest;
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		found = match(line, key, &rest);
		if (found)
			memmove(out, rest, strlen(rest) + 1);
	}
	if (file)
		fclose(file);
	return found;
}

static int text_of(uint32_t device, const char *call, const char *key, char out[LINE_BYTES])
{
	char name[LINE_BYTES];

	snprintf(name, sizeof(name), "%u fails %s", device, call);
	if (look_up(name, out))
		return atoi(out);
	snprintf(name, sizeof(name), "%u %s", device, key);
	return look_up(name, out) ? KWHY_RSMI_SUCCESS : KWHY_RSMI_NOT_SUPPORTED;
}

static int number_of(uint32_t device, const char *call, const char *key, uint64_t *out)
{
	char text[LINE_BYTES];
	int status = text_of(device, call, key, text);

	if (status == KWHY_RSMI_SUCCESS)
		*out = strtoull(text, NULL, 0);
	return status;
}

static int percent_of(uint32_t device, const char *call, const char *key, uint32_t *out)
{
	uint64_t value = 0;
	int status = number_of(device, call, key, &value);

	if (status == KWHY_RSMI_SUCCESS)
		*out = (uint32_t)value;
	return status;
}

SHOWN int rsmi_init(uint64_t flags)
{
	char text[LINE_BYTES];

	(void)flags;
	return look_up("init", text) ? atoi(text) : KWHY_RSMI_SUCCESS;
}

SHOWN int rsmi_shut_down(void)
{
	return KWHY_RSMI_SUCCESS;
}

SHOWN int rsmi_status_string(int status, const char **text)
{
	*text = status == KWHY_RSMI_FILE_ERROR ? "a file of the driver is missing" : "failed";
	return KWHY_RSMI_SUCCESS;
}

SHOWN int rsmi_num_monitor_devices(uint32_t *count)
{
	char text[LINE_BYTES];

	*count = look_up("devices", text) ? (uint32_t)atoi(text) : 0;
	return KWHY_RSMI_SUCCESS;
}

SHOWN int rsmi_version_str_get(int component, char *text, uint32_t bytes)
{
	(void)component;
	snprintf(text, bytes, "6.8.5");
	return KWHY_RSMI_SUCCESS;
}

SHOWN int rsmi_dev_name_get(uint32_t device, char *name, size_t bytes)
{
	char text[LINE_BYTES];
	int status = text_of(device, __func__, "name", text);

	if (status == KWHY_RSMI_SUCCESS)
		snprintf(name, bytes, "%s", text);
	return status;
}

SHOWN int rsmi_dev_unique_id_get(uint32_t device, uint64_t *id)
{
	return number_of(device, __func__, "unique_id", id);
}

SHOWN int rsmi_dev_pci_id_get(uint32_t device, uint64_t *id)
{
	return number_of(device, __func__, "pci_id", id);
}

SHOWN int rsmi_dev_memory_total_get(uint32_t device, int kind, uint64_t *bytes)
{
	(void)kind;
	return number_of(device, __func__, "memory_total_bytes", bytes);
}

SHOWN int rsmi_dev_memory_usage_get(uint32_t device, int kind, uint64_t *bytes)
{
	(void)kind;
	return number_of(device, __func__, "memory_used_bytes", bytes);
}

SHOWN int rsmi_dev_power_cap_get(uint32_t device, uint32_t sensor, uint64_t *power_uw)
{
	(void)sensor;
	return number_of(device, __func__, "cap_uw", power_uw);
}

SHOWN int rsmi_dev_power_cap_default_get(uint32_t device, uint64_t *power_uw)
{
	return number_of(device, __func__, "cap_default_uw", power_uw);
}

SHOWN int rsmi_dev_energy_count_get(
	uint32_t device, uint64_t *counts, float *resolution_uj, uint64_t *time_ns)
{
	char text[LINE_BYTES];
	int status = number_of(device, __func__, "energy_counts", counts);

	*resolution_uj = text_of(device, "", "resolution_uj", text) == KWHY_RSMI_SUCCESS ? strtof(text, NULL)
											 : 15.3F;
	if (number_of(device, "", "stamp_ns", time_ns))
		*time_ns = 0;
	return status;
}

SHOWN int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t *power_uw)
{
	(void)sensor;
	return number_of(device, __func__, "average_uw", power_uw);
}

SHOWN int rsmi_dev_temp_metric_get(uint32_t device, uint32_t place, int metric, int64_t *millidegree_c)
{
	static const char *const keys[] = {
		"edge_millidegree_c", "junction_millidegree_c", "memory_millidegree_c"};
	uint64_t value = 0;
	int status = place < 3 && metric == KWHY_RSMI_TEMPERATURE_CURRENT
		? number_of(device, __func__, keys[place], &value)
		: KWHY_RSMI_INVALID_ARGUMENT;

	if (status == KWHY_RSMI_SUCCESS)
		*millidegree_c = (int64_t)value;
	return status;
}

SHOWN int rsmi_dev_busy_percent_get(uint32_t device, uint32_t *percent)
{
	return percent_of(device, __func__, "busy_percent", percent);
}

SHOWN int rsmi_dev_memory_busy_percent_get(uint32_t device, uint32_t *percent)
{
	return percent_of(device, __func__, "memory_busy_percent", percent);
}

SHOWN int rsmi_dev_fan_speed_get(uint32_t device, uint32_t sensor, int64_t *speed)
{
	(void)sensor;
	return number_of(device, __func__, "fan", (uint64_t *)speed);
}

SHOWN int rsmi_dev_fan_speed_max_get(uint32_t device, uint32_t sensor, uint64_t *speed)
{
	(void)sensor;
	return number_of(device, __func__, "fan_most", speed);
}

/*
 * Reads the scenario up to its next line about a process, such as "process 4711 bytes 12 devices 0 1", which
 * may name up to two devices. Returns false if there is none until the end of the file.
 */
static bool next_process(FILE *file, struct kwhy_rsmi_process *out, uint32_t devices[2], uint32_t *out_count)
{
	char line[LINE_BYTES];
	unsigned long long bytes;

	while (file && fgets(line, sizeof(line), file)) {
		int found = sscanf(line, "process %u bytes %llu devices %u %u", &out->pid, &bytes,
			&devices[0], &devices[1]);

		if (found < 3)
			continue;
		out->memory_bytes = bytes;
		*out_count = (uint32_t)found - 2;
		return true;
	}
	return false;
}

SHOWN int rsmi_compute_process_info_get(struct kwhy_rsmi_process *processes, uint32_t *count)
{
	FILE *file = fopen(getenv("KWHY_FAKE_ROCM"), "r");
	uint32_t space = *count, devices[2], device_count;
	struct kwhy_rsmi_process process = {0};

	*count = 0;
	for (; next_process(file, &process, devices, &device_count); ++*count)
		if (*count < space)
			processes[*count] = process;
	if (file)
		fclose(file);
	return *count > space ? KWHY_RSMI_INSUFFICIENT_SIZE : KWHY_RSMI_SUCCESS;
}

SHOWN int rsmi_compute_process_gpus_get(uint32_t pid, uint32_t *devices, uint32_t *count)
{
	FILE *file = fopen(getenv("KWHY_FAKE_ROCM"), "r");
	uint32_t found[2], found_count = 0;
	struct kwhy_rsmi_process process = {0};
	bool is_there = false;

	while (!is_there && next_process(file, &process, found, &found_count))
		is_there = process.pid == pid;
	if (file)
		fclose(file);
	if (!is_there || found_count > *count)
		return KWHY_RSMI_NOT_FOUND;
	memcpy(devices, found, found_count * sizeof(*devices));
	*count = found_count;
	return KWHY_RSMI_SUCCESS;
}

/*
 * Fills a list of two frequencies, Hz: number 1 is marked as the current one and has the value `hz`, number 0
 * is left as it is.
 */
#define FILL(layout, hz)                       \
	do {                                   \
		(layout).count = 2;            \
		(layout).current = 1;          \
		(layout).frequency_hz[1] = hz; \
	} while (0)

SHOWN int rsmi_dev_gpu_clk_freq_get(uint32_t device, int clock, union kwhy_rsmi_frequencies *frequencies)
{
	uint64_t hz = 0;
	int status = number_of(device, __func__,
		clock == KWHY_RSMI_CLOCK_MEMORY ? "memory_clock_hz" : "system_clock_hz", &hz);

	if (status != KWHY_RSMI_SUCCESS)
		return status;
#if FAKE_ROCM >= 6
	frequencies->v6.has_deep_sleep = 1;
	FILL(frequencies->v6, hz);
#else
	FILL(frequencies->v5, hz);
#endif
	return status;
}

#if FAKE_ROCM >= 6
SHOWN int rsmi_dev_current_socket_power_get(uint32_t device, uint64_t *power_uw)
{
	return number_of(device, __func__, "current_uw", power_uw);
}
#endif
