/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/attribute.h"
#include "sensor/host/perf_power.h"
#include "sensor/sensor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The counters of RAPL (running average power limit) of Intel's and AMD's CPUs, from Linux's powercap tree.
 * The zone intel-rapl:P is a package, and intel-rapl:P:S is a part of it. Of the parts only the memory is
 * read, because the energy of the memory is not included in that of the package. Two kinds of zones are not
 * read: "psys", which includes the packages, and intel-rapl-mmio, which shows the packages' counters a second
 * time.
 */

enum { ZONES_MAX = 64, PARTS_MAX = 16, DOMAINS_MAX = 2 * ZONES_MAX, TRIES = 3 };

#define ROOT "/sys/class/powercap"
#define PERF_ROOT "/sys/bus/event_source/devices/power"
/*
 * largest range of a counter that is accepted, in uJ; a counter with a larger one counts as one that does not
 * wrap. Real ranges are near 2^38, and sums over many wraps must fit 64 bits.
 */
#define WRAP_MAX_UJ (INT64_C(1) << 48)
#define PERIOD_NS INT64_C(100000000)
#define TOOK_MAX_NS INT64_C(2000000)
#define UPDATE_NS                                                                                          \
	INT64_C(1000000) /* time between updates: about 1 ms, by Intel's manual and Linux's amd_energy.rst \
			  */

struct domain {
	int fd;		 /* descriptor of the attribute energy_uj, or of a perf event */
	double scale_uj; /* microjoules per count, for a perf event; 0: `fd` is an attribute */
	uint32_t source;
};

struct rapl {
	struct kwhy_sensors *sensors;
	const struct kwhy_sensor_request *request;
	const char *root, *perf_root;
	int64_t period_ns;
	struct domain domains[DOMAINS_MAX];
	size_t count;
	uint32_t packages; /* number of top-level zones (packages or dies) found so far, including those that
			      cannot be read */
	int refusal;	   /* errno of the first counter that could not be read; 0: all could be read */
	char refused[KWHY_ATTRIBUTE_BYTES]; /* path of the zone of the counter in `refusal` */
};

static void rapl_close(void *state)
{
	struct rapl *rapl = state;

	for (size_t i = 0; i < rapl->count; i++)
		close(rapl->domains[i].fd);
	free(rapl);
}

static bool read_domain(const struct domain *domain, int64_t *out_uj)
{
	return domain->scale_uj > 0 ? kwhy_perf_power_read(domain->fd, domain->scale_uj, out_uj)
				    : kwhy_attribute_read(domain->fd, out_uj);
}

/*
 * Reads a counter, and gives the reading the time in the middle of the read. A read usually takes
 * microseconds. One that took more than TOOK_MAX_NS was interrupted, so its time is uncertain; the counter is
 * then read again, and the third read is kept however long it took.
 */
static bool read_dated(const struct rapl *rapl, const struct domain *domain, struct kwhy_reading *out)
{
	int64_t begin_ns, took_ns = INT64_MAX;
	bool good = true;

	for (int i = 0; good && i < TRIES && took_ns > TOOK_MAX_NS; i++) {
		begin_ns = kwhy_sensors_now_ns(rapl->sensors);
		good = read_domain(domain, &out->value) && out->value >= 0;
		took_ns = kwhy_sensors_now_ns(rapl->sensors) - begin_ns;
		out->time_mono_ns = begin_ns + took_ns / 2;
	}
	return good;
}

static int64_t rapl_read(void *state, uint32_t argument, int64_t now_mono_ns)
{
	struct rapl *rapl = state;

	(void)argument;
	(void)now_mono_ns;
	for (size_t i = 0; i < rapl->count; i++) {
		struct kwhy_source_channel *source = &rapl->sensors->sources[rapl->domains[i].source];
		struct kwhy_reading reading;

		if (read_dated(rapl, &rapl->domains[i], &reading))
			kwhy_channel_push(&source->channel, reading);
		else
			atomic_fetch_add_explicit(&source->failures, 1, memory_order_relaxed);
	}
	return 0;
}

/*
 * Stores the path and the errno of the first counter that cannot be read, which tell_absence() reports. Later
 * ones are not reported.
 */
static void refuse(struct rapl *rapl, const char *folder, int failure)
{
	if (rapl->refusal)
		return;
	rapl->refusal = failure;
	snprintf(rapl->refused, sizeof(rapl->refused), "%s", folder);
}

static enum kwhy_status tell_refusal(struct rapl *rapl, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (rapl->refusal != EACCES && rapl->refusal != EPERM)
		return kwhy_sensors_add_absence(rapl->sensors, "rapl", error,
			"%s/energy_uj cannot be read: %s", rapl->refused, strerror(rapl->refusal));
	status = kwhy_sensors_add_absence(rapl->sensors, "rapl", error,
		"CPU energy is metered here but %s/energy_uj is for root alone (Linux 5.10 and later); run "
		"kwhy as root, or let an administrator run `chmod o+r %s/intel-rapl*/energy_uj` after each "
		"start or `setcap cap_perfmon+ep` on kwhy",
		rapl->refused, rapl->root);
	if (!status)
		kwhy_sensors_absence_is_refused(rapl->sensors);
	return status;
}

/*
 * Opens the counter of a zone and adds it as a source. A counter that cannot be read is no error: refuse()
 * remembers it for tell_absence().
 */
static enum kwhy_status add_domain(struct rapl *rapl, const char *folder,
	const struct kwhy_source_channel *source, struct kwhy_error *error)
{
	struct domain *domain = &rapl->domains[rapl->count];
	struct kwhy_source_channel kept = *source;
	int64_t value;
	int fd;

	if (rapl->count == DOMAINS_MAX)
		return KWHY_OK;
	fd = kwhy_attribute_open(folder, "energy_uj");
	if (fd < 0 || !kwhy_attribute_read(fd, &value)) {
		refuse(rapl, folder, errno);
		if (fd >= 0)
			close(fd);
		return KWHY_OK;
	}
	*domain = (struct domain){.fd = fd};
	rapl->count++;
	if (!kwhy_attribute_integer(&kept.wrap, folder, "max_energy_range_uj") || kept.wrap < 0 ||
		kept.wrap > WRAP_MAX_UJ)
		kept.wrap = 0;
	return kwhy_sensors_add_source(
		rapl->sensors, &kept, 1e9 / (double)rapl->period_ns, rapl->request, &domain->source, error);
}

static enum kwhy_status add_zone(struct rapl *rapl, const char *folder, enum kwhy_meter meter,
	uint32_t package, const char *label, struct kwhy_error *error)
{
	struct kwhy_source_channel source = {
		.kind = KWHY_SOURCE_METER,
		.meter = meter,
		.device = KWHY_SENSOR_NO_DEVICE,
		.domain = package,
		.label = label,
		.period_ns = UPDATE_NS,
	};

	return add_domain(rapl, folder, &source, error);
}

/* Adds the memory of a package as a source. The memory is one of the package's parts. */
static enum kwhy_status add_memory(
	struct rapl *rapl, int64_t zone, uint32_t package, struct kwhy_error *error)
{
	char prefix[40], name[64], folder[KWHY_ATTRIBUTE_BYTES], text[KWHY_ATTRIBUTE_BYTES], label[64];
	enum kwhy_status status = KWHY_OK;
	int64_t parts[PARTS_MAX];
	int count;

	snprintf(prefix, sizeof(prefix), "intel-rapl:%" PRId64 ":", zone);
	count = kwhy_attribute_list(rapl->root, prefix, parts, PARTS_MAX);
	for (int i = 0; !status && i < count; i++) {
		snprintf(name, sizeof(name), "%s%" PRId64, prefix, parts[i]);
		if (!kwhy_attribute_path(folder, rapl->root, name) ||
			!kwhy_attribute_text(text, folder, "name") || strcmp(text, "dram") != 0)
			continue;
		snprintf(label, sizeof(label), "dram of package %u", package);
		status = add_zone(rapl, folder, KWHY_METER_RAPL_DRAM, package, label, error);
	}
	return status;
}

/*
 * Adds a top-level zone: a package, such as "package-1", or a die of a package, such as "package-1-die-0".
 * The package's number is the one in the zone's name or, if the name has none or one of ZONES_MAX or more,
 * the number of top-level zones found before.
 */
static enum kwhy_status add_package(struct rapl *rapl, int64_t zone, struct kwhy_error *error)
{
	char name[64], folder[KWHY_ATTRIBUTE_BYTES], label[KWHY_ATTRIBUTE_BYTES];
	enum kwhy_status status;
	int64_t number;
	uint32_t package;

	snprintf(name, sizeof(name), "intel-rapl:%" PRId64, zone);
	if (!kwhy_attribute_path(folder, rapl->root, name) || !kwhy_attribute_text(label, folder, "name") ||
		strncmp(label, "package-", 8) != 0)
		return KWHY_OK;
	number = kwhy_attribute_number(label, "package-");
	package = number >= 0 && number < ZONES_MAX ? (uint32_t)number : rapl->packages;
	rapl->packages++;
	status = add_zone(rapl, folder, KWHY_METER_RAPL_PACKAGE, package, label, error);
	return status ? status : add_memory(rapl, zone, package, error);
}

static enum kwhy_status add_zones(struct rapl *rapl, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	int64_t zones[ZONES_MAX];
	int count = kwhy_attribute_list(rapl->root, "intel-rapl:", zones, ZONES_MAX);

	for (int i = 0; !status && i < count; i++)
		status = add_package(rapl, zones[i], error);
	return status;
}

/*
 * Adds an event of the perf device as a source, in place of a powercap counter. An event that does not exist
 * or cannot be opened is skipped.
 */
static enum kwhy_status add_event(struct rapl *rapl, const char *event, enum kwhy_meter meter, int cpu,
	uint32_t package, struct kwhy_error *error)
{
	struct domain *domain = &rapl->domains[rapl->count];
	struct kwhy_source_channel source = {
		.kind = KWHY_SOURCE_METER,
		.meter = meter,
		.device = KWHY_SENSOR_NO_DEVICE,
		.domain = package,
		.period_ns = UPDATE_NS,
	};

	if (rapl->count == DOMAINS_MAX)
		return KWHY_OK;
	domain->fd = kwhy_perf_power_open(rapl->perf_root, event, cpu, &domain->scale_uj);
	if (domain->fd < 0)
		return KWHY_OK;
	rapl->count++;
	return kwhy_sensors_add_source(
		rapl->sensors, &source, 1e9 / (double)rapl->period_ns, rapl->request, &domain->source, error);
}

static enum kwhy_status add_events(struct rapl *rapl, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	int cpus[ZONES_MAX], count = kwhy_perf_power_cpus(rapl->perf_root, cpus, ZONES_MAX);

	for (int i = 0; !status && i < count; i++) {
		status = add_event(rapl, "energy-pkg", KWHY_METER_RAPL_PACKAGE, cpus[i], (uint32_t)i, error);
		if (!status)
			status = add_event(
				rapl, "energy-ram", KWHY_METER_RAPL_DRAM, cpus[i], (uint32_t)i, error);
	}
	return status;
}

/*
 * Reports, as an absence of the back end "rapl", that there are no counters or that a powercap counter cannot
 * be read. A powercap counter that cannot be read is not reported if perf events are read in place of all
 * powercap counters.
 */
static enum kwhy_status tell_absence(struct rapl *rapl, struct kwhy_error *error)
{
	if (rapl->refusal && (rapl->count == 0 || rapl->domains[0].scale_uj == 0))
		return tell_refusal(rapl, error);
	if (rapl->count > 0)
		return KWHY_OK;
	return kwhy_sensors_add_absence(rapl->sensors, "rapl", error,
		"no CPU energy: no RAPL counter under %s; virtual machines have none, else try "
		"`modprobe intel_rapl_msr`",
		rapl->root);
}

static enum kwhy_status add_all(struct rapl *rapl, struct kwhy_error *error)
{
	struct kwhy_sensor_task task = {
		.title = "rapl",
		.state = rapl,
		.period_ns = rapl->period_ns,
		.read = rapl_read,
	};
	enum kwhy_status status = add_zones(rapl, error);

	if (!status && rapl->count == 0)
		status = add_events(rapl, error);
	if (!status)
		status = tell_absence(rapl, error);
	if (!status && rapl->count > 0)
		status = kwhy_sensors_add_task(rapl->sensors, &task, error);
	return status;
}

static enum kwhy_status rapl_open(struct kwhy_sensors *sensors, const struct kwhy_sensor_request *request,
	void **out_state, struct kwhy_error *error)
{
	struct rapl *rapl = calloc(1, sizeof(*rapl));
	enum kwhy_status status;

	if (!rapl)
		return kwhy_fail_memory(error, "the CPU's meters");
	rapl->sensors = sensors;
	rapl->request = request;
	rapl->root = request->powercap_root ? request->powercap_root : ROOT;
	rapl->perf_root = request->perf_root ? request->perf_root : PERF_ROOT;
	rapl->period_ns = request->host_period_ns ? request->host_period_ns : request->counter_period_ns;
	if (!rapl->period_ns)
		rapl->period_ns = PERIOD_NS;
	status = add_all(rapl, error);
	if (status) {
		rapl_close(rapl);
		return status;
	}
	rapl->request = NULL;
	rapl->root = rapl->perf_root = NULL;
	*out_state = rapl;
	return KWHY_OK;
}

const struct kwhy_sensor_backend kwhy_sensor_rapl = {.name = "rapl", .open = rapl_open, .close = rapl_close};
