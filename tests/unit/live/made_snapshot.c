/* SPDX-License-Identifier: Apache-2.0 */
#include "made_snapshot.h"

#include "base/file.h"
#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 120 };

static float rising[STEPS], flat[STEPS];

static struct kwhy_live_metered metered[] = {
	{KWHY_METERED_DEVICE, "gpu 0", 1234567.875, 45678.5, 340.25, 358.5, 371, rising, STEPS},
	{KWHY_METERED_DEVICE, "gpu 1", 98765.5, 0, 690, 699.5, 702, flat, 30},
	{KWHY_METERED_DEVICE, "gpu 3", 12.5, NAN, NAN, NAN, NAN, flat, 1},
	{KWHY_METERED_HOST, "rapl.package-0", 54321.25, NAN, NAN, 85.25, NAN, flat, 10},
	{KWHY_METERED_WALL, "meter", 2500000, NAN, 1400, 1432.5, 1500, flat, 10},
};

static const struct kwhy_live_process processes[] = {
	{4242, 75161927680, "python3"},
	{4711, 556000000, "a \"quoted\\name\""},
	{4712, -1, ""},
};

#define KNOWN(gauge, number) [KWHY_GAUGE_##gauge] = {true, number}

static const struct kwhy_live_device devices[] = {
	{.name = "NVIDIA H200",
		.uuid = "GPU-0",
		.pci_address = "0000:19:00.0",
		.driver = "580.159.04",
		.mig_index = -1,
		.memory_bytes = 150754820096,
		.metered = &metered[0],
		.processes = processes,
		.process_count = 3,
		.gauges = {KNOWN(SM_CLOCK, 1980000000), KNOWN(MEMORY_CLOCK, 3201000000),
			KNOWN(TEMPERATURE, 52000), KNOWN(MEMORY_TEMPERATURE, 58000),
			KNOWN(THROTTLE_REASONS, 0), KNOWN(MEMORY_USED, 80100000000),
			KNOWN(POWER_LIMIT, 700000), KNOWN(BUSY, 1000), KNOWN(MEMORY_BUSY, 350),
			KNOWN(SM_ACTIVE, 985), KNOWN(SM_OCCUPANCY, 600), KNOWN(FP32_ACTIVE, 42),
			KNOWN(TENSOR_ACTIVE, 310), KNOWN(DRAM_ACTIVE, 455), KNOWN(PCIE_RX, 55000000000),
			KNOWN(PCIE_TX, 1500000000), KNOWN(NVLINK_RX, 200000000000),
			KNOWN(NVLINK_TX, 210000000000), KNOWN(PCIE_GENERATION, 5), KNOWN(PCIE_WIDTH, 16)}},
	{.name = "NVIDIA H200",
		.uuid = "GPU-1",
		.pci_address = "0000:3b:00.0",
		.driver = "580.159.04",
		.index = 1,
		.mig_index = -1,
		.memory_bytes = 150754820096,
		.metered = &metered[1],
		.processes = processes + 1,
		.process_count = 1,
		.gauges = {KNOWN(SM_CLOCK, 1305000000), KNOWN(TEMPERATURE, 88000),
			KNOWN(THROTTLE_REASONS, KWHY_THROTTLE_POWER_CAP | KWHY_THROTTLE_SOFTWARE_THERMAL),
			KNOWN(POWER_LIMIT, 700000), KNOWN(BUSY, 1000), KNOWN(FAN_SPEED, 450)}},
	{.name = "NVIDIA H200 MIG 1g.18gb", .uuid = "MIG-2", .index = 2, .mig_index = 1},
	{.name = "an old card with a name that is far too long to be shown",
		.index = 3,
		.mig_index = -1,
		.lost = true,
		.metered = &metered[2]},
};

static const struct kwhy_live_source sources[] = {
	{"nvml.energy_mj", NULL, &devices[0], 0.1, 0.05, 1000, 0, false},
	{"nvml.sample_mw", NULL, &devices[0], 0.02, 0.25, 50000, 3, false},
	{"hwmon.power-0_uw", "CPU Power Socket 0", NULL, NAN, NAN, 0, 0, false},
	{"nvml.energy_mj", NULL, &devices[3], 0.1, 120, 7, 1, false},
};

static const struct kwhy_sensor_absence absences[] = {
	{.backend = "nvml", .text = "a fan of GPU 0 cannot be read: this GPU does not offer it"},
	{.backend = "rapl", .text = "no CPU energy: the counters are for root alone;\nrun \"chmod\""},
	{.backend = "nvml", .text = "a fan of GPU 0 cannot be read: this GPU does not offer it"},
};

static struct kwhy_live_snapshot snapshot = {
	.since_start_s = 3723.5,
	.started_unix_s = 1795267456.5,
	.devices = devices,
	.metered = metered,
	.sources = sources,
	.absences = absences,
	.device_count = 4,
	.metered_count = 5,
	.source_count = 4,
	.absence_count = 3,
	.cost = {.process_cpu_s = 4.5,
		.sampler_j = 12.5,
		.sampler = {.running_ns = 3723500000000,
			.cpu_ns = 4100000000,
			.reads = 123456,
			.missed = 2,
			.longest_read_ns = 17000000},
		.losses = {.lost = 1, .failures = 4}},
};

const struct kwhy_live_snapshot *made_snapshot(void)
{
	for (size_t i = 0; i < STEPS; i++) {
		rising[i] = 79 + (float)i * 292 / (STEPS - 1);
		flat[i] = i == 5 ? NAN : 699.5F;
	}
	return &snapshot;
}

const struct kwhy_live_snapshot *made_snapshot_bare(void)
{
	static const struct kwhy_live_device device = {.name = "a card", .mig_index = -1};
	static const struct kwhy_live_snapshot bare = {.devices = &device,
		.device_count = 1,
		.started_unix_s = NAN,
		.cost = {.process_cpu_s = NAN, .sampler_j = NAN}};

	return &bare;
}

void assert_same_as_golden(const char *name, const char *got)
{
	const char *update = getenv("KWHY_UPDATE_GOLDEN");
	struct kwhy_text expected = {0};
	struct kwhy_error error;
	size_t line = 1, i = 0;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/golden/%s", KWHY_SOURCE_DIR, name);
	if (update && *update == '1')
		assert_int_equal(kwhy_file_write(path, got, strlen(got), &error), KWHY_OK);
	if (kwhy_file_read(path, 1 << 20, &expected, &error))
		fail_msg("%s", error.text);
	for (; expected.data[i] && expected.data[i] == got[i]; i++)
		line += expected.data[i] == '\n';
	if (expected.data[i] != got[i])
		fail_msg("%s differs in line %zu: '%.60s' became '%.60s'; KWHY_UPDATE_GOLDEN=1 accepts it",
			name, line, expected.data + i, got + i);
	kwhy_text_done(&expected);
}
