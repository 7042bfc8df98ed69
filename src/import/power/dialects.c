/* SPDX-License-Identifier: Apache-2.0 */
#include "import/power/dialects.h"

#include "base/decimal.h"

#include <string.h>

#define DCGM_CURE                                                                                            \
	"ask Prometheus for a range of the bare metric (/api/v1/query_range?query=DCGM_FI_DEV_POWER_USAGE) " \
	"and give its JSON"
#define AMD_SMI_CURE "write it with \"amd-smi metric -p -E -w 1 --csv --file power.csv\""

/*
 * Dialects in the order in which they are tried. A name of a reading that occurs in several belongs to the
 * first.
 */
const struct kwhy_power_dialect kwhy_power_dialects[] = {
	{.tool = "nvidia-smi",
		.readings = {{"power.draw", KWHY_POWER_ROLE_DRAW, "W"},
			{"power.draw.average", KWHY_POWER_ROLE_AVERAGE, "W"},
			{"power.draw.instant", KWHY_POWER_ROLE_INSTANT, "W"}},
		.cure = "write it with \"nvidia-smi "
			"--query-gpu=timestamp,index,uuid,power.draw.instant,power.draw.average "
			"--format=csv -lms 100\""},
	{.tool = "nvidia-smi dmon",
		.readings = {{"pwr", KWHY_POWER_ROLE_DRAW, "W"}},
		.cuts_seconds = true,
		.cure = "write it with \"nvidia-smi dmon -s p -o DT\""},
	{.tool = "dcgmi dmon",
		.readings = {{"power", KWHY_POWER_ROLE_DRAW, "W"}, {"totec", KWHY_POWER_ROLE_COUNTER, "mJ"}},
		.has_entities = true,
		.cure = "write it with \"dcgmi dmon -e 155,156 -d 100 | ts %.s\", which puts a time before "
			"each line"},
	{.tool = "DCGM",
		.readings = {{"dcgm_fi_dev_power_usage", KWHY_POWER_ROLE_DRAW, "W"},
			{"dcgm_fi_dev_power_usage_instant", KWHY_POWER_ROLE_INSTANT, "W"},
			{"dcgm_fi_dev_total_energy_consumption", KWHY_POWER_ROLE_COUNTER, "mJ"}},
		.has_metrics = true,
		.cure = DCGM_CURE},
	{.tool = "amd-smi",
		.readings = {{"socket_power", KWHY_POWER_ROLE_AMD_POWER, "W"},
			{"socket_power_w", KWHY_POWER_ROLE_AMD_POWER, "W"},
			{"power_usage", KWHY_POWER_ROLE_AMD_POWER, "W"},
			{"current_socket_power", KWHY_POWER_ROLE_AMD_POWER, "W"},
			{"average_socket_power", KWHY_POWER_ROLE_AMD_POWER, "W"},
			{"total_energy_consumption", KWHY_POWER_ROLE_AMD_COUNTER, "J"}},
		.cuts_seconds = true,
		.cure = AMD_SMI_CURE},
	{.tool = "rocm-smi",
		.readings = {{"average graphics package power", KWHY_POWER_ROLE_AMD_POWER, "W"},
			{"current socket graphics package power", KWHY_POWER_ROLE_AMD_POWER, "W"},
			{"accumulated energy", KWHY_POWER_ROLE_AMD_COUNTER, "uJ"}},
		.cure = "rocm-smi writes no times: add a column \"timestamp\" of \"date +%s.%N\", "
			"or " AMD_SMI_CURE},
	{.tool = "srt-slurm or InferenceX",
		.readings = {{"power_w", KWHY_POWER_ROLE_DRAW, "W"},
			{"power_watts", KWHY_POWER_ROLE_DRAW, "W"},
			{"power_draw_w", KWHY_POWER_ROLE_DRAW, "W"},
			{"gpu_power_w", KWHY_POWER_ROLE_DRAW, "W"}},
		.cure = "give each row timestamp_unix, hostname, gpu_index, gpu_uuid and power_w"},
	{.tool = "Zeus",
		.readings = {{"gpu#_energy", KWHY_POWER_ROLE_WINDOW, "J"}},
		.shape = KWHY_POWER_WINDOWS_FROM,
		.cure = "measure one window over the whole run with ZeusMonitor(log_file=...)"},
	{.tool = "CodeCarbon",
		.readings = {{"gpu_energy", KWHY_POWER_ROLE_WINDOW, "kWh"}},
		.shape = KWHY_POWER_WINDOWS_UP_TO,
		.cuts_seconds = true,
		.cure = "let CodeCarbon write emissions.csv with timestamp, run_id and duration"},
};

const size_t kwhy_power_dialect_count = sizeof(kwhy_power_dialects) / sizeof(kwhy_power_dialects[0]);

const struct kwhy_power_dialect *kwhy_power_dialect_of_entities(void)
{
	const struct kwhy_power_dialect *dialect = kwhy_power_dialects;

	while (!dialect->has_entities)
		dialect++;
	return dialect;
}

const struct kwhy_power_dialect *kwhy_power_dialect_of_metrics(void)
{
	const struct kwhy_power_dialect *dialect = kwhy_power_dialects;

	while (!dialect->has_metrics)
		dialect++;
	return dialect;
}

/* Names of what is not a reading, such as times, hosts and GPUs. They may occur in logs of all tools. */
static const struct kwhy_power_name common[] = {
	{"timestamp", KWHY_POWER_ROLE_TIME, NULL},
	{"timestamp_unix", KWHY_POWER_ROLE_TIME, NULL},
	{"unix_timestamp", KWHY_POWER_ROLE_TIME, NULL},
	{"time", KWHY_POWER_ROLE_TIME, NULL},
	{"start_time", KWHY_POWER_ROLE_TIME, NULL},
	{"datetime", KWHY_POWER_ROLE_TIME, NULL},
	{"date", KWHY_POWER_ROLE_DATE, NULL},
	{"hostname", KWHY_POWER_ROLE_HOST, NULL},
	{"host", KWHY_POWER_ROLE_HOST, NULL},
	{"node", KWHY_POWER_ROLE_HOST, NULL},
	{"index", KWHY_POWER_ROLE_GPU, NULL},
	{"gpu", KWHY_POWER_ROLE_GPU, NULL},
	{"gpu_index", KWHY_POWER_ROLE_GPU, NULL},
	{"gpu_id", KWHY_POWER_ROLE_GPU, NULL},
	{"device", KWHY_POWER_ROLE_GPU, NULL},
	{"entity", KWHY_POWER_ROLE_GPU, NULL},
	{"uuid", KWHY_POWER_ROLE_UUID, NULL},
	{"gpu_uuid", KWHY_POWER_ROLE_UUID, NULL},
	{"pci.bus_id", KWHY_POWER_ROLE_PCI, NULL},
	{"gpu_bus_id", KWHY_POWER_ROLE_PCI, NULL},
	{"pci_bus_id", KWHY_POWER_ROLE_PCI, NULL},
	{"bdf", KWHY_POWER_ROLE_PCI, NULL},
	{"run_id", KWHY_POWER_ROLE_RUN, NULL},
	{"duration", KWHY_POWER_ROLE_LENGTH, NULL},
	{"elapsed_time", KWHY_POWER_ROLE_LENGTH, NULL},
	{"gpu_count", KWHY_POWER_ROLE_COUNT, NULL},
	{"pue", KWHY_POWER_ROLE_PUE, NULL},
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_digit(struct kwhy_span text, size_t at)
{
	return at < text.length && text.bytes[at] >= '0' && text.bytes[at] <= '9';
}

/*
 * Whether a text equals a name in which '#' stands for a number, ignoring case. *out_gpu is that number; -1:
 * the name has no '#'.
 */
static bool is_name(struct kwhy_span text, const char *name, int32_t *out_gpu)
{
	size_t at = 0;
	int64_t number;

	*out_gpu = -1;
	for (; *name; name++) {
		const size_t start = at;

		if (*name != '#') {
			if (at == text.length || lower(text.bytes[at++]) != *name)
				return false;
			continue;
		}
		while (is_digit(text, at))
			at++;
		if (!kwhy_decimal_within(
			    (struct kwhy_span){text.bytes + start, at - start}, 0, INT32_MAX, &number))
			return false;
		*out_gpu = (int32_t)number;
	}
	return at == text.length;
}

/*
 * The name without a text in brackets at its end, "[W]" or "(W)", which becomes *out_unit; it is empty if
 * there is none.
 */
static struct kwhy_span without_unit(struct kwhy_span name, struct kwhy_span *out_unit)
{
	const char open = name.length == 0	     ? 0
		: name.bytes[name.length - 1] == ']' ? '['
		: name.bytes[name.length - 1] == ')' ? '('
						     : 0;
	size_t at = name.length;

	*out_unit = (struct kwhy_span){"", 0};
	while (open && at > 0 && name.bytes[at - 1] != open)
		at--;
	if (!open || at == 0)
		return name;
	*out_unit = kwhy_span_trim((struct kwhy_span){name.bytes + at, name.length - at - 1});
	return kwhy_span_trim((struct kwhy_span){name.bytes, at - 1});
}

static struct kwhy_power_meaning reading_of(
	const struct kwhy_power_dialect *dialect, struct kwhy_span name, struct kwhy_span unit)
{
	struct kwhy_power_meaning meaning = {.gpu = -1};

	for (const struct kwhy_power_name *row = dialect->readings; row->name; row++) {
		const struct kwhy_power_unit *own = kwhy_power_unit_find(
			(struct kwhy_span){row->unit, strlen(row->unit)});
		const struct kwhy_power_unit *named = unit.length > 0 ? kwhy_power_unit_find(unit) : own;

		if (!is_name(name, row->name, &meaning.gpu) || !named || named->is_energy != own->is_energy)
			continue;
		meaning.role = row->role;
		meaning.unit = named;
		meaning.dialect = dialect;
		break;
	}
	return meaning;
}

struct kwhy_power_meaning kwhy_power_name_read(
	const struct kwhy_power_dialect *dialect, struct kwhy_span name)
{
	struct kwhy_power_meaning meaning = {.gpu = -1};
	struct kwhy_span unit;

	name = without_unit(kwhy_span_trim(name), &unit);
	for (size_t i = 0; i < kwhy_power_dialect_count && !meaning.role; i++)
		if (dialect ? dialect == &kwhy_power_dialects[i] : !kwhy_power_dialects[i].has_entities)
			meaning = reading_of(&kwhy_power_dialects[i], name, unit);
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]) && !meaning.role; i++)
		if (is_name(name, common[i].name, &meaning.gpu))
			meaning.role = common[i].role;
	return meaning;
}
