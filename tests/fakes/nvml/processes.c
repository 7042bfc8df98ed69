/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes of the devices: those of the scenario, and those of the file that the variable FAKE_PROCESS_FILE
 * names, which is read again at each call, so that a test can let processes come and go.
 */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fills `out` with the scenario's processes, then with those of the lines "GPU PID MIB SM_PERCENT" of the
 * file FAKE_PROCESS_FILE. Returns the number of processes in `out`.
 */
static unsigned list(const struct fake_gpu *gpu, struct fake_process out[FAKE_PROCESSES])
{
	const char *path = getenv(FAKE_PROCESS_FILE);
	FILE *file = path ? fopen(path, "r") : NULL;
	unsigned count = gpu->process_count, number, pid, percent;
	unsigned long long mib;

	memcpy(out, gpu->processes, count * sizeof(*out));
	while (file && count < FAKE_PROCESSES &&
		fscanf(file, "%u %u %llu %u", &number, &pid, &mib, &percent) == 4)
		if ((int)number == gpu->index)
			out[count++] = (struct fake_process){{pid, mib << 20, ~0U, ~0U}, percent};
	if (file)
		fclose(file);
	return count;
}

enum kwhy_nvml_result nvmlDeviceGetComputeRunningProcesses_v3(
	kwhy_nvml_handle device, unsigned *count, struct kwhy_nvml_process *out)
{
	struct fake_process listed[FAKE_PROCESSES];
	unsigned space, there;

	BEGIN(device, count);
	space = *count;
	*count = there = list(gpu, listed);
	if (space < there)
		return KWHY_NVML_INSUFFICIENT_SIZE;
	for (unsigned i = 0; i < there; i++)
		out[i] = listed[i].info;
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceGetComputeRunningProcesses_v2(
	kwhy_nvml_handle device, unsigned *count, struct kwhy_nvml_process *out)
{
	return nvmlDeviceGetComputeRunningProcesses_v3(device, count, out);
}

/*
 * Returns only those processes that used the multiprocessors since `after_unix_us`, and fails on a
 * GPU divided by MIG, as drivers of 2025 do.
 */
enum kwhy_nvml_result nvmlDeviceGetProcessUtilization(kwhy_nvml_handle device,
	struct kwhy_nvml_process_utilization *out, unsigned *count, unsigned long long after_unix_us)
{
	struct fake_process listed[FAKE_PROCESSES];
	unsigned there, used = 0, space;
	unsigned long long now_us;

	BEGIN(device, count);
	space = *count;
	now_us = fake_now_unix_us(gpu);
	if (gpu->parent || fake_is_divided(gpu))
		return KWHY_NVML_NOT_SUPPORTED;
	there = list(gpu, listed);
	*count = 0;
	for (unsigned i = 0; i < there && after_unix_us < now_us; i++) {
		if (!listed[i].sm_percent)
			continue;
		if (used++ < space)
			out[(*count)++] = (struct kwhy_nvml_process_utilization){.pid = listed[i].info.pid,
				.time_unix_us = now_us,
				.sm_percent = listed[i].sm_percent};
	}
	if (!used)
		return KWHY_NVML_NOT_FOUND;
	return used > space ? KWHY_NVML_INSUFFICIENT_SIZE : KWHY_NVML_SUCCESS;
}

bool fake_has_process_file(void)
{
	return getenv(FAKE_PROCESS_FILE) != NULL;
}

unsigned fake_processes_percent(const struct fake_gpu *gpu)
{
	struct fake_process listed[FAKE_PROCESSES];
	unsigned there = list(gpu, listed), sum = 0;

	for (unsigned i = 0; i < there; i++)
		sum += listed[i].sm_percent;
	return sum < 100 ? sum : 100;
}
