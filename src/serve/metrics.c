/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/metrics.h"

#include "serve/owner_metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Number of a device in the label `device`: "0" for GPU 0, "0:1" for MIG instance 1 of GPU 0; "" if there is
 * no device.
 */
struct device_number {
	char text[32];
};

static struct device_number number_of(const struct kwhy_live_device *device)
{
	struct device_number number = {""};

	if (!device)
		return number;
	if (device->mig_index < 0)
		snprintf(number.text, sizeof(number.text), "%" PRId32, device->index);
	else
		snprintf(number.text, sizeof(number.text), "%" PRId32 ":%" PRId32, device->index,
			device->mig_index);
	return number;
}

/* Adds one sample with the labels device, uuid and name and, unless its name is NULL, the label `extra`. */
static void add_device(struct kwhy_exposition *to, const struct kwhy_family *family,
	const struct kwhy_live_device *device, struct kwhy_label extra, double value)
{
	struct device_number number = number_of(device);
	const struct kwhy_label labels[KWHY_LABELS_MAX] = {
		{"device", number.text}, {"uuid", device->uuid}, {"name", device->name}, extra, {NULL, NULL}};

	kwhy_exposition_add(to, family, labels, value);
}

static const struct kwhy_label no_label = {NULL, NULL};

static void add_alone(struct kwhy_exposition *to, const struct kwhy_family *family, double value)
{
	kwhy_exposition_add(to, family, &no_label, value);
}

typedef double metered_value(const struct kwhy_live_metered *metered);

static double energy_j(const struct kwhy_live_metered *metered)
{
	return metered->energy_j;
}

static double idle_j(const struct kwhy_live_metered *metered)
{
	return metered->idle_j;
}

static double mean_w(const struct kwhy_live_metered *metered)
{
	return metered->mean_w;
}

static double low_w(const struct kwhy_live_metered *metered)
{
	return metered->low_w;
}

static double high_w(const struct kwhy_live_metered *metered)
{
	return metered->high_w;
}

static void write_device_energies(struct kwhy_exposition *to, const struct kwhy_live_snapshot *snapshot)
{
	static const struct {
		struct kwhy_family family;
		metered_value *value;
	} rows[] = {
		{{"kwhy_device_energy_joules", KWHY_FAMILY_COUNTER, "joules",
			 "Energy that the device used since this process began to read its meter."},
			energy_j},
		{{"kwhy_device_idle_energy_joules", KWHY_FAMILY_COUNTER, "joules",
			 "The part of kwhy_device_energy_joules_total while the driver reported that nothing "
			 "ran."},
			idle_j},
		{{"kwhy_device_power_watts", KWHY_FAMILY_GAUGE, "watts", "Mean power over the last second."},
			mean_w},
		{{"kwhy_device_power_min_watts", KWHY_FAMILY_GAUGE, "watts",
			 "Lowest power reading of the last second."},
			low_w},
		{{"kwhy_device_power_max_watts", KWHY_FAMILY_GAUGE, "watts",
			 "Highest power reading of the last second."},
			high_w},
	};

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
		for (size_t d = 0; d < snapshot->device_count; d++)
			if (snapshot->devices[d].metered)
				add_device(to, &rows[r].family, &snapshot->devices[d], no_label,
					rows[r].value(snapshot->devices[d].metered));
}

static void write_metered(struct kwhy_exposition *to, const struct kwhy_live_snapshot *snapshot)
{
	static const struct {
		struct kwhy_family family;
		enum kwhy_metered_kind kind;
		const char *label;
		metered_value *value;
	} rows[] = {
		{{"kwhy_host_energy_joules", KWHY_FAMILY_COUNTER, "joules",
			 "Energy of a CPU or board domain since this process began to read its meter."},
			KWHY_METERED_HOST, "domain", energy_j},
		{{"kwhy_host_power_watts", KWHY_FAMILY_GAUGE, "watts",
			 "Mean power of a CPU or board domain over the last second."},
			KWHY_METERED_HOST, "domain", mean_w},
		{{"kwhy_wall_energy_joules", KWHY_FAMILY_COUNTER, "joules",
			 "Energy that a wall meter saw since this process began to read it."},
			KWHY_METERED_WALL, "meter", energy_j},
		{{"kwhy_wall_power_watts", KWHY_FAMILY_GAUGE, "watts",
			 "Mean power at a wall meter over the last second."},
			KWHY_METERED_WALL, "meter", mean_w},
	};

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
		for (size_t m = 0; m < snapshot->metered_count; m++) {
			const struct kwhy_live_metered *metered = &snapshot->metered[m];
			const struct kwhy_label labels[KWHY_LABELS_MAX] = {
				{rows[r].label, metered->name}, {NULL, NULL}};

			if (metered->kind == rows[r].kind)
				kwhy_exposition_add(to, &rows[r].family, labels, rows[r].value(metered));
		}
}

#define GAUGE(gauge, scale, name, unit, help)                              \
	{                                                                  \
		KWHY_GAUGE_##gauge, scale,                                 \
		{                                                          \
			"kwhy_device_" name, KWHY_FAMILY_GAUGE, unit, help \
		}                                                          \
	}

static const struct {
	enum kwhy_gauge gauge;
	double scale;
	struct kwhy_family family;
} gauge_rows[] = {
	GAUGE(POWER_LIMIT, 1e-3, "power_limit_watts", "watts", "Power limit that is enforced."),
	GAUGE(BUSY, 1e-3, "busy_ratio", "ratio",
		"Share of time in which anything ran at all, by the driver (its utilization.gpu)."),
	GAUGE(MEMORY_BUSY, 1e-3, "memory_busy_ratio", "ratio",
		"Share of time in which device memory was read or written, by the driver."),
	GAUGE(SM_ACTIVE, 1e-3, "sm_active_ratio", "ratio", "Share of multiprocessor cycles with work."),
	GAUGE(SM_OCCUPANCY, 1e-3, "sm_occupancy_ratio", "ratio",
		"Warps on the multiprocessors, of those that fit."),
	GAUGE(FP32_ACTIVE, 1e-3, "fp32_active_ratio", "ratio",
		"Share of cycles of the FP32 units with work."),
	GAUGE(TENSOR_ACTIVE, 1e-3, "tensor_active_ratio", "ratio",
		"Share of cycles of the tensor units with work."),
	GAUGE(DRAM_ACTIVE, 1e-3, "dram_active_ratio", "ratio", "Share of the memory bandwidth in use."),
	GAUGE(SM_CLOCK, 1, "sm_clock_hertz", "hertz", "Clock of the multiprocessors."),
	GAUGE(MEMORY_CLOCK, 1, "memory_clock_hertz", "hertz", "Clock of the device memory."),
	GAUGE(TEMPERATURE, 1e-3, "temperature_celsius", "celsius", "Temperature of the chip."),
	GAUGE(MEMORY_TEMPERATURE, 1e-3, "memory_temperature_celsius", "celsius",
		"Temperature of the device memory."),
	GAUGE(FAN_SPEED, 1e-3, "fan_speed_ratio", "ratio", "Fan speed, of its most."),
	GAUGE(MEMORY_USED, 1, "memory_used_bytes", "bytes", "Device memory in use."),
	GAUGE(PCIE_RX, 1, "pcie_receive_bytes_per_second", "bytes_per_second",
		"Traffic to the device over PCIe."),
	GAUGE(PCIE_TX, 1, "pcie_transmit_bytes_per_second", "bytes_per_second",
		"Traffic from the device over PCIe."),
	GAUGE(NVLINK_RX, 1, "nvlink_receive_bytes_per_second", "bytes_per_second",
		"Traffic to the device over NVLink."),
	GAUGE(NVLINK_TX, 1, "nvlink_transmit_bytes_per_second", "bytes_per_second",
		"Traffic from the device over NVLink."),
	GAUGE(PCIE_GENERATION, 1, "pcie_generation", "",
		"Generation of the PCIe link now; links slow down while idle."),
	GAUGE(PCIE_WIDTH, 1, "pcie_lanes", "", "Lanes of the PCIe link now."),
};

static void write_gauges(struct kwhy_exposition *to, const struct kwhy_live_snapshot *snapshot)
{
	for (size_t r = 0; r < sizeof(gauge_rows) / sizeof(gauge_rows[0]); r++)
		for (size_t d = 0; d < snapshot->device_count; d++) {
			const struct kwhy_live_device *device = &snapshot->devices[d];
			const struct kwhy_live_value *value = &device->gauges[gauge_rows[r].gauge];

			if (value->known)
				add_device(to, &gauge_rows[r].family, device, no_label,
					(double)value->value * gauge_rows[r].scale);
		}
}

static void write_throttling(struct kwhy_exposition *to, const struct kwhy_live_snapshot *snapshot)
{
	static const struct kwhy_family family = {"kwhy_device_throttled", KWHY_FAMILY_GAUGE, "",
		"1 while the clocks are held down for this reason; idle is no loss."};

	for (size_t d = 0; d < snapshot->device_count; d++) {
		const struct kwhy_live_device *device = &snapshot->devices[d];
		const struct kwhy_live_value *reasons = &device->gauges[KWHY_GAUGE_THROTTLE_REASONS];

		for (unsigned bit = 0; reasons->known && bit < KWHY_THROTTLE_COUNT; bit++)
			add_device(to, &family, device,
				(struct kwhy_label){"reason", kwhy_throttle_name(bit)},
				(double)(reasons->value >> bit & 1));
	}
}

static void write_devices(struct kwhy_exposition *to, const struct kwhy_live_snapshot *snapshot)
{
	static const struct kwhy_family
		info = {"kwhy_device", KWHY_FAMILY_INFO, "",
			"What a device is: its PCI address and the driver's version."},
		lost = {"kwhy_device_lost", KWHY_FAMILY_GAUGE, "", "1 once the device answers no more."},
		size = {"kwhy_device_memory_size_bytes", KWHY_FAMILY_GAUGE, "bytes", "Device memory."};

	for (size_t d = 0; d < snapshot->device_count; d++) {
		const struct kwhy_live_device *device = &snapshot->devices[d];
		struct device_number number = number_of(device);
		const struct kwhy_label labels[KWHY_LABELS_MAX] = {{"device", number.text},
			{"uuid", device->uuid}, {"name", device->name}, {"pci_address", device->pci_address},
			{"driver", device->driver}, {NULL, NULL}};

		kwhy_exposition_add(to, &info, labels, 1);
	}
	for (size_t d = 0; d < snapshot->device_count; d++)
		add_device(to, &lost, &snapshot->devices[d], no_label, snapshot->devices[d].lost);
	for (size_t d = 0; d < snapshot->device_count; d++)
		if (snapshot->devices[d].memory_bytes)
			add_device(to, &size, &snapshot->devices[d], no_label,
				(double)snapshot->devices[d].memory_bytes);
}

static void write_processes(struct kwhy_exposition *to, const struct kwhy_live_snapshot *snapshot)
{
	static const struct kwhy_family family = {"kwhy_device_process_memory_bytes", KWHY_FAMILY_GAUGE,
		"bytes", "Device memory that a process holds."};

	for (size_t d = 0; d < snapshot->device_count; d++)
		for (size_t p = 0; p < snapshot->devices[d].process_count; p++) {
			const struct kwhy_live_process *process = &snapshot->devices[d].processes[p];
			struct device_number number = number_of(&snapshot->devices[d]);
			char pid[24];
			const struct kwhy_label labels[KWHY_LABELS_MAX] = {{"device", number.text},
				{"uuid", snapshot->devices[d].uuid}, {"pid", pid},
				{"command", *process->command ? process->command : NULL}, {NULL, NULL}};

			snprintf(pid, sizeof(pid), "%" PRId64, process->pid);
			if (process->memory_bytes >= 0)
				kwhy_exposition_add(to, &family, labels, (double)process->memory_bytes);
		}
}

typedef double source_value(const struct kwhy_live_source *source);

static double period_s(const struct kwhy_live_source *source)
{
	return source->period_s;
}

static double age_s(const struct kwhy_live_source *source)
{
	return isnan(source->age_s) ? NAN : fmax(source->age_s, 0);
}

static double readings(const struct kwhy_live_source *source)
{
	return (double)source->readings;
}

static double failures(const struct kwhy_live_source *source)
{
	return (double)source->failures;
}

static void write_sources(struct kwhy_exposition *to, const struct kwhy_live_snapshot *snapshot)
{
	static const struct {
		struct kwhy_family family;
		source_value *value;
	} rows[] = {
		{{"kwhy_source_update_period_seconds", KWHY_FAMILY_GAUGE, "seconds",
			 "How often the source has a new value, as far as known."},
			period_s},
		{{"kwhy_source_age_seconds", KWHY_FAMILY_GAUGE, "seconds", "Age of the newest reading."},
			age_s},
		{{"kwhy_source_readings", KWHY_FAMILY_COUNTER, "", "Readings taken."}, readings},
		{{"kwhy_source_failures", KWHY_FAMILY_COUNTER, "", "Readings that the source refused."},
			failures},
	};

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
		for (size_t s = 0; s < snapshot->source_count; s++) {
			const struct kwhy_live_source *source = &snapshot->sources[s];
			struct device_number number = number_of(source->device);
			const struct kwhy_label labels[KWHY_LABELS_MAX] = {{"source", source->name},
				{"device", source->device ? number.text : NULL}, {"label", source->label},
				{NULL, NULL}};
			kwhy_exposition_add(to, &rows[r].family, labels, rows[r].value(source));
		}
}

/*
 * Whether an earlier entry of the list of absences has the same source and reason, as that of another device
 * may. It is then left out, because two samples with the same labels are not allowed.
 */
static bool is_repeated(const struct kwhy_live_snapshot *snapshot, size_t at)
{
	const struct kwhy_sensor_absence *absence = &snapshot->absences[at];

	for (size_t i = 0; i < at; i++)
		if (strcmp(snapshot->absences[i].backend, absence->backend) == 0 &&
			strcmp(snapshot->absences[i].text, absence->text) == 0)
			return true;
	return false;
}

/*
 * Adds a sample 0 with a reason if the MIG instances of a GPU are no longer those that were found at the
 * start of kwhy.
 */
static void add_division(
	struct kwhy_exposition *to, const struct kwhy_family *family, const struct kwhy_live_device *device)
{
	char reason[128];
	const struct kwhy_label labels[KWHY_LABELS_MAX] = {
		{"source", "nvml"}, {"reason", reason}, {NULL, NULL}};

	snprintf(reason, sizeof(reason),
		"GPU %" PRId32 " was divided anew (MIG); restart kwhy to see its instances", device->index);
	if (device->division == KWHY_DIVISION_OTHER)
		kwhy_exposition_add(to, family, labels, 0);
}

static void write_availability(struct kwhy_exposition *to, const struct kwhy_live_snapshot *snapshot)
{
	static const struct kwhy_family family = {"kwhy_source_available", KWHY_FAMILY_GAUGE, "",
		"1 for what is read; 0 for what cannot be, with the reason."};

	for (size_t s = 0; s < snapshot->source_count; s++) {
		const struct kwhy_live_source *source = &snapshot->sources[s];
		struct device_number number = number_of(source->device);
		const struct kwhy_label labels[KWHY_LABELS_MAX] = {{"source", source->name},
			{"device", source->device ? number.text : NULL}, {"label", source->label},
			{NULL, NULL}};
		kwhy_exposition_add(
			to, &family, labels, !source->refused && !(source->device && source->device->lost));
	}
	for (size_t d = 0; d < snapshot->device_count; d++)
		add_division(to, &family, &snapshot->devices[d]);
	for (size_t a = 0; a < snapshot->absence_count; a++) {
		const struct kwhy_label labels[KWHY_LABELS_MAX] = {{"source", snapshot->absences[a].backend},
			{"reason", snapshot->absences[a].text}, {NULL, NULL}};

		if (!is_repeated(snapshot, a))
			kwhy_exposition_add(to, &family, labels, 0);
	}
}

static void write_cost(struct kwhy_exposition *to, const struct kwhy_live_snapshot *snapshot)
{
	const struct kwhy_live_cost *cost = &snapshot->cost;
	const struct {
		struct kwhy_family family;
		double value;
	} rows[] = {
		{{"kwhy_readings_lost", KWHY_FAMILY_COUNTER, "",
			 "Readings that were overwritten before they were taken."},
			(double)(cost->losses.lost + cost->losses.forgotten)},
		{{"kwhy_sampler_cpu_seconds", KWHY_FAMILY_COUNTER, "seconds",
			 "CPU time of reading the meters, the driver's part included."},
			(double)cost->sampler.cpu_ns * 1e-9},
		{{"kwhy_sampler_energy_joules", KWHY_FAMILY_COUNTER, "joules",
			 "Energy of reading the meters, modelled: the CPU packages' times its part of all "
			 "busy CPU time."},
			cost->sampler_j},
		{{"kwhy_sampler_reads", KWHY_FAMILY_COUNTER, "", "Reads of meters and gauges."},
			(double)cost->sampler.reads},
		{{"kwhy_sampler_missed_deadlines", KWHY_FAMILY_COUNTER, "",
			 "Reads left out because the thread was late."},
			(double)cost->sampler.missed},
		{{"kwhy_sampler_longest_read_seconds", KWHY_FAMILY_GAUGE, "seconds",
			 "The longest time that one read took."},
			(double)cost->sampler.longest_read_ns * 1e-9},
		{{"process_cpu_seconds", KWHY_FAMILY_COUNTER, "seconds", "CPU time of this process."},
			cost->process_cpu_s},
		{{"process_start_time_seconds", KWHY_FAMILY_GAUGE, "seconds",
			 "When counting began, in Unix time."},
			snapshot->started_unix_s},
	};

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
		add_alone(to, &rows[r].family, rows[r].value);
}

void kwhy_metrics_write(const struct kwhy_live_snapshot *snapshot, const struct kwhy_keeper_state *owners,
	enum kwhy_exposition_form form, const char *version, struct kwhy_text *out)
{
	static const struct kwhy_family build = {"kwhy_build", KWHY_FAMILY_INFO, "", "Which kwhy this is."};
	struct kwhy_exposition to = {.out = out, .form = form};
	const struct kwhy_label labels[KWHY_LABELS_MAX] = {{"version", version}, {NULL, NULL}};

	kwhy_exposition_add(&to, &build, labels, 1);
	write_devices(&to, snapshot);
	write_device_energies(&to, snapshot);
	write_gauges(&to, snapshot);
	write_throttling(&to, snapshot);
	write_processes(&to, snapshot);
	write_metered(&to, snapshot);
	write_availability(&to, snapshot);
	write_sources(&to, snapshot);
	write_cost(&to, snapshot);
	if (owners)
		kwhy_owner_metrics_write(owners, &to);
	kwhy_exposition_end(&to);
}
