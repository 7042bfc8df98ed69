/* SPDX-License-Identifier: Apache-2.0 */
#include "import/power/devices.h"

#include "base/decimal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * A --power-device option: "8/0=node2/GPU-5b4e07f6-..." states that device 0 of rank 8 in the trace is the
 * GPU with this UUID in host node2 in the power log.
 */
struct statement {
	uint32_t rank; /* KWHY_NONE: any rank */
	int32_t device;
	struct kwhy_span host, meter; /* host and GPU (number, UUID or PCI address) in the power log; an empty
					 host stands for any host */
};

static struct kwhy_span span_of(const char *text)
{
	return (struct kwhy_span){text, strlen(text)};
}

/*
 * Splits a text at the first occurrence of the character `at`: *out_before becomes the text before it, *rest
 * the text after it. False: the text has no such character.
 */
static bool cut(struct kwhy_span *rest, char at, struct kwhy_span *out_before)
{
	const char *found = memchr(rest->bytes, at, rest->length);

	if (!found)
		return false;
	*out_before = (struct kwhy_span){rest->bytes, (size_t)(found - rest->bytes)};
	rest->length -= out_before->length + 1;
	rest->bytes = found + 1;
	return true;
}

static bool number_of(struct kwhy_span text, int32_t *out)
{
	int64_t number;

	if (!kwhy_decimal_within(text, 0, INT32_MAX - 1, &number))
		return false;
	*out = (int32_t)number;
	return true;
}

static enum kwhy_status read_statement(const char *text, struct statement *out, struct kwhy_error *error)
{
	struct kwhy_span meter = span_of(text), device, rank;
	int32_t number = -1;
	bool good = cut(&meter, '=', &device);

	*out = (struct statement){.rank = KWHY_NONE};
	if (good && cut(&device, '/', &rank)) {
		good = number_of(rank, &number);
		out->rank = (uint32_t)number;
	}
	if (good && !cut(&meter, '/', &out->host))
		out->host = span_of("");
	out->meter = meter;
	if (good && number_of(device, &out->device) && meter.length > 0)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_USAGE,
		"--power-device \"%s\": write [RANK/]DEVICE=[HOST/]GPU, the GPU by number, UUID or PCI "
		"address, as 2=0 or 8/0=node2/0000:3b:00.0",
		text);
}

/* Finds the last --power-device option that applies to a device. *out_stated is false if none does. */
static enum kwhy_status find_statement(const struct kwhy_import_options *options,
	const struct kwhy_device *device, struct statement *out, bool *out_stated, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	struct statement statement;

	*out_stated = false;
	for (size_t i = 0; !status && i < options->power_device_count; i++) {
		status = read_statement(options->power_devices[i], &statement, error);
		if (status || statement.device != device->index ||
			(statement.rank != KWHY_NONE && statement.rank != device->rank))
			continue;
		*out = statement;
		*out_stated = true;
	}
	return status;
}

static bool has_hip_calls(const struct kwhy_recording *recording)
{
	for (size_t i = 0; i < recording->names.count; i++) {
		const char *name = kwhy_names_get(&recording->names, (uint32_t)i);

		if (!strncmp(name, "hip", 3) && name[3] >= 'A' && name[3] <= 'Z')
			return true;
	}
	return false;
}

/*
 * Whether the trace may number devices as HSA agents, of which some are CPUs, as ROCm builds of Kineto do.
 * Agent 0 is a CPU, so a trace with a device 0 numbers GPUs.
 */
static bool numbers_are_agents(const struct kwhy_recording *recording)
{
	bool is_kineto = false;

	for (size_t i = 0; i < recording->source_count; i++)
		is_kineto |= recording->sources[i].format == KWHY_FORMAT_KINETO;
	for (size_t i = 0; i < recording->device_count; i++)
		is_kineto &= recording->devices[i].index != 0;
	return is_kineto && has_hip_calls(recording);
}

enum kwhy_status kwhy_power_devices_check_number(
	const struct kwhy_recording *recording, int32_t index, const char *path, struct kwhy_error *error)
{
	if (!numbers_are_agents(recording))
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s has numbers of GPUs, and the trace's device %" PRId32
		" may be ROCm's number of an agent, CPUs among them; say which GPU it is with --power-device "
		"%" PRId32 "=GPU",
		path, index, index);
}

enum kwhy_status kwhy_power_devices_number(const struct kwhy_device *device,
	const struct kwhy_import_options *options, int32_t *out, bool *out_stated, struct kwhy_error *error)
{
	struct statement statement;
	enum kwhy_status status = find_statement(options, device, &statement, out_stated, error);

	if (status)
		return status;
	*out = device->index;
	if (*out_stated && !number_of(statement.meter, out))
		*out = -1;
	return KWHY_OK;
}

/* The next digit of a UUID, in lower case. Dashes before it are skipped. */
static char next_digit(const char **text)
{
	while (**text == '-')
		++*text;
	return **text ? (char)(*(*text)++ | 0x20) : '\0';
}

static bool same_uuid(const char *a, const char *b)
{
	char digit;

	a += strncasecmp(a, "GPU-", 4) ? 0 : 4;
	b += strncasecmp(b, "GPU-", 4) ? 0 : 4;
	do {
		digit = next_digit(&a);
		if (digit != next_digit(&b))
			return false;
	} while (digit);
	return true;
}

/*
 * Reads a PCI address as domain, bus, device and function: "00000000:3B:00.0" and "0000:3b:00.0" are the
 * same, and "3b:00.0" has domain 0. False: the text is no PCI address.
 */
static bool read_pci(const char *text, unsigned long out[4])
{
	size_t count = 0;
	char *end;

	for (; count < 4; count++) {
		out[count] = strtoul(text, &end, 16);
		if (end == text)
			return false;
		if (!*end)
			break;
		text = end + 1;
	}
	if (count == 2) {
		memmove(out + 1, out, 3 * sizeof(*out));
		out[0] = 0;
	}
	return !*end && count >= 2;
}

static bool same_pci(const char *a, const char *b)
{
	unsigned long left[4], right[4];

	return read_pci(a, left) && read_pci(b, right) && !memcmp(left, right, sizeof(left));
}

/*
 * Whether two names denote the same host. Only the part before the first dot is compared:
 * "node7.cluster.example" is node7.
 */
static bool same_host(struct kwhy_span a, const char *b)
{
	const size_t length = strcspn(b, ".");
	const char *dot = memchr(a.bytes, '.', a.length);
	const size_t own = dot ? (size_t)(dot - a.bytes) : a.length;

	return own == length && !strncasecmp(a.bytes, b, length);
}

/*
 * Name of the host that a device of the recording is in: of a process that used it or, if none states a host,
 * of its machine; NULL: unknown.
 */
static const char *host_of(const struct kwhy_recording *recording, uint32_t device)
{
	const uint32_t machine = recording->devices[device].machine;

	for (size_t i = 0; i < recording->stream_count; i++) {
		const struct kwhy_process *process = &recording->processes[recording->streams[i].process];

		if (recording->streams[i].device == device && process->host)
			return process->host;
	}
	return machine != KWHY_NONE && recording->machines[machine].host
		? kwhy_names_get(&recording->names, recording->machines[machine].host)
		: NULL;
}

static bool is_stated_key(const struct statement *statement, const struct kwhy_power_key *key)
{
	char meter[64];
	int32_t number;

	if (statement->host.length > 0 && !(key->host && same_host(statement->host, key->host)))
		return false;
	if (number_of(statement->meter, &number))
		return key->gpu == number;
	if (statement->meter.length >= sizeof(meter))
		return false;
	memcpy(meter, statement->meter.bytes, statement->meter.length);
	meter[statement->meter.length] = '\0';
	return (key->uuid && same_uuid(meter, key->uuid)) || (key->pci && same_pci(meter, key->pci));
}

enum match { MATCH_NONE, MATCH_IDENTITY, MATCH_NUMBER };

static enum match match_of(const struct kwhy_recording *recording, uint32_t index, const char *host,
	const struct kwhy_power_key *key)
{
	const struct kwhy_device *device = &recording->devices[index];

	if (key->host && host && !same_host(span_of(key->host), host))
		return MATCH_NONE;
	if (key->uuid && device->uuid)
		return same_uuid(key->uuid, device->uuid) ? MATCH_IDENTITY : MATCH_NONE;
	if (key->pci && device->pci)
		return same_pci(key->pci, device->pci) ? MATCH_IDENTITY : MATCH_NONE;
	if (key->gpu >= 0)
		return key->gpu == device->index ? MATCH_NUMBER : MATCH_NONE;
	return !key->uuid && !key->pci && recording->device_count == 1 ? MATCH_NUMBER : MATCH_NONE;
}

/*
 * Whether two keys of a log denote different GPUs: both state a UUID, a PCI address or a host, and these
 * differ. False also if nothing is stated by both.
 */
static bool differ(const struct kwhy_power_key *a, const struct kwhy_power_key *b)
{
	return (a->uuid && b->uuid && !same_uuid(a->uuid, b->uuid)) ||
		(a->pci && b->pci && !same_pci(a->pci, b->pci)) ||
		(a->host && b->host && !same_host(span_of(a->host), b->host));
}

struct finder {
	const struct kwhy_recording *recording;
	const struct kwhy_power_log *log;
	const struct kwhy_import_options *options;
	uint32_t *devices;
	bool has_hosts; /* the log names hosts, so the hosts of key and device are compared, too */
	bool by_number;
};

static enum kwhy_status refuse_several(const struct finder *finder, uint32_t device,
	const struct kwhy_power_key *a, const struct kwhy_power_key *b, struct kwhy_error *error)
{
	const int32_t index = finder->recording->devices[device].index;
	const char *one = a->host ? a->host : a->uuid ? a->uuid : a->pci;
	const char *other = b->host ? b->host : b->uuid ? b->uuid : b->pci;

	return kwhy_fail(error, KWHY_E_INPUT,
		"%s: the trace's device %" PRId32
		" could be that of %s and of %s; say which with --power-device %" PRId32 "=HOST/GPU",
		finder->log->path, index, one ? one : "one", other ? other : "another", index);
}

/*
 * Assigns a key (GPU) of the log to a device. If the key already belongs to another device, the log is
 * refused: two devices, of different ranks or machines, then have the same number, and the log does not
 * distinguish them.
 */
static enum kwhy_status take_key(struct finder *finder, uint32_t device, size_t key, struct kwhy_error *error)
{
	if (finder->devices[key] != KWHY_NONE && finder->devices[key] != device)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: number %" PRId32 " is a device of several ranks or machines of this recording; "
			"say which GPU each is with --power-device RANK/%" PRId32 "=HOST/GPU",
			finder->log->path, finder->log->keys[key].gpu,
			finder->recording->devices[device].index);
	finder->devices[key] = device;
	return KWHY_OK;
}

static enum kwhy_status place_device(struct finder *finder, uint32_t device, struct kwhy_error *error)
{
	const struct kwhy_device *shown = &finder->recording->devices[device];
	const char *host = finder->has_hosts ? host_of(finder->recording, device) : NULL;
	const struct kwhy_power_key *first = NULL;
	struct statement statement;
	bool is_stated;
	enum kwhy_status status = find_statement(finder->options, shown, &statement, &is_stated, error);

	for (size_t i = 0; !status && i < finder->log->key_count; i++) {
		const struct kwhy_power_key *key = &finder->log->keys[i];
		const enum match match = is_stated
			? (is_stated_key(&statement, key) ? MATCH_IDENTITY : MATCH_NONE)
			: match_of(finder->recording, device, host, key);

		if (match == MATCH_NONE)
			continue;
		if (match == MATCH_NUMBER)
			status = kwhy_power_devices_check_number(
				finder->recording, shown->index, finder->log->path, error);
		if (status)
			return status;
		if (first && differ(first, key))
			return refuse_several(finder, device, first, key, error);
		first = key;
		finder->by_number |= match == MATCH_NUMBER;
		status = take_key(finder, device, i, error);
	}
	return status;
}

enum kwhy_status kwhy_power_devices_find(const struct kwhy_recording *recording,
	const struct kwhy_power_log *log, const struct kwhy_import_options *options, uint32_t *out_devices,
	bool *out_by_number, struct kwhy_error *error)
{
	struct finder finder = {
		.recording = recording, .log = log, .options = options, .devices = out_devices};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; i < log->key_count; i++) {
		out_devices[i] = KWHY_NONE;
		finder.has_hosts |= log->keys[i].host != NULL;
	}
	for (uint32_t device = 0; !status && device < recording->device_count; device++)
		status = place_device(&finder, device, error);
	*out_by_number = finder.by_number;
	return status;
}
