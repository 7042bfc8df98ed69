/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/holders.h"

#include "base/column.h"
#include "owners/mapping.h"
#include "owners/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAPPED_MAX = 32,
	INSTANCES_MAX = 8 /* instances of a device whose mapping files are read; GPUs up to Blackwell have at
			     most 7 */
	,
	OTHER_DEVICE_PART = 1,
	USES_MAX_US = 2000000
};
/*
 * In us: if the driver has no new samples of the processes' use, and the newest one that kwhy used is less
 * than this old, the use of the last look counts again. After a longer time a lack of new samples means that
 * no process used the device, because the driver makes samples at least about once a second, but none of a
 * process that used nothing.
 */
enum { USES_REPEAT_US = 900000 };
/*
 * In ns: each time this much has passed, the start time of a known process is compared with the one stored,
 * because its number may belong to another process by then.
 */
#define CHECK_NS INT64_C(60000000000)

/* A process that the driver listed for a device, and its owner. */
struct process {
	int64_t pid;
	uint32_t row;
	bool is_listed;
	int64_t checked_ns;
	int64_t cpu_ns;	  /* CPU time at the last kwhy_holders_cpu(), ns; -1: not known yet */
	uint64_t version; /* version of the allocations that were last used to name the owner */
	struct kwhy_owned owned;
};

struct kwhy_holder_finder {
	struct kwhy_holder_request request;
	struct kwhy_owner_reader *reader;
	struct process *processes;
	size_t count, capacity;
	int64_t *used_until_us; /* [device_count] Unix time, us, up to which the driver's samples were used;
				   0: none were */
};

enum kwhy_status kwhy_holder_finder_new(
	const struct kwhy_holder_request *request, struct kwhy_holder_finder **out, struct kwhy_error *error)
{
	struct kwhy_holder_finder *finder = calloc(1, sizeof(*finder));
	enum kwhy_status status;

	if (!finder)
		return kwhy_fail_memory(error, "the owners of devices");
	finder->request = *request;
	finder->used_until_us = calloc(request->sensors->device_count + 1, sizeof(*finder->used_until_us));
	if (!finder->used_until_us)
		status = kwhy_fail_memory(error, "the owners of devices");
	else
		status = kwhy_owner_reader_new(request->root, &finder->reader, error);
	if (status) {
		kwhy_holder_finder_free(finder);
		return status;
	}
	*out = finder;
	return KWHY_OK;
}

void kwhy_holder_finder_free(struct kwhy_holder_finder *finder)
{
	if (!finder)
		return;
	kwhy_owner_reader_free(finder->reader);
	free(finder->processes);
	free(finder->used_until_us);
	free(finder);
}

static bool is_unnamed(const struct kwhy_owner *owner)
{
	return owner->kind == KWHY_OWNER_KUBERNETES && !*owner->space;
}

/*
 * Finds the owner of a process, for the first time or again, and the owner's row. If the kubelet's log files
 * do not name its pod, the allocations of the device may.
 */
static enum kwhy_status look_up(struct kwhy_holder_finder *finder, struct process *process, uint32_t device,
	int64_t now_ns, struct kwhy_error *error)
{
	const struct kwhy_allocations *allocations = finder->request.allocations;

	kwhy_owner_reader_find(finder->reader, process->pid, &process->owned);
	if (allocations) {
		process->version = allocations->version;
		kwhy_allocations_name(
			allocations, &finder->request.sensors->devices[device], &process->owned.owner);
	}
	process->checked_ns = now_ns;
	process->cpu_ns = -1;
	return kwhy_accounts_find(
		finder->request.accounts, &process->owned.owner, now_ns, &process->row, error);
}

/*
 * Whether the owner that was found for a process earlier is still valid. It is not if the process's number
 * belongs to another process by now (checked every CHECK_NS), or if the owner is a pod without a name and the
 * allocations have changed.
 */
static bool is_known(struct kwhy_holder_finder *finder, struct process *process, int64_t now_ns)
{
	const struct kwhy_allocations *allocations = finder->request.allocations;

	if (allocations && allocations->version != process->version && is_unnamed(&process->owned.owner))
		return false;
	if (now_ns - process->checked_ns < CHECK_NS)
		return true;
	process->checked_ns = now_ns;
	return kwhy_owner_reader_started(finder->reader, process->pid) == process->owned.started;
}

/*
 * Gets the process with the number `pid`, which the driver lists for `device`, with its owner; adds the
 * process if it is new.
 */
static enum kwhy_status find_process(struct kwhy_holder_finder *finder, int64_t pid, uint32_t device,
	int64_t now_ns, struct process **out, struct kwhy_error *error)
{
	void *items = finder->processes;
	enum kwhy_status status;

	for (size_t i = 0; i < finder->count; i++) {
		struct process *process = &finder->processes[i];

		if (process->pid != pid)
			continue;
		*out = process;
		return is_known(finder, process, now_ns) ? KWHY_OK
							 : look_up(finder, process, device, now_ns, error);
	}
	status = kwhy_column_reserve(&items, &finder->capacity, finder->count + 1, sizeof(*finder->processes),
		"the processes of devices", error);
	if (status)
		return status;
	finder->processes = items;
	*out = &finder->processes[finder->count++];
	**out = (struct process){.pid = pid};
	return look_up(finder, *out, device, now_ns, error);
}

/* Gets the holder whose owner is `row`, and adds it if it is missing. NULL: the list is full. */
static struct kwhy_share_holder *holder_of(struct kwhy_holders *holders, uint32_t row)
{
	for (size_t i = 0; i < holders->count; i++)
		if (holders->items[i].owner == row)
			return &holders->items[i];
	if (holders->count == KWHY_HOLDERS_MAX)
		return NULL;
	holders->items[holders->count] = (struct kwhy_share_holder){.owner = row};
	return &holders->items[holders->count++];
}

static void touch(struct kwhy_holder_finder *finder, uint32_t row, int64_t now_ns)
{
	size_t count;
	struct kwhy_owner_row *rows = kwhy_accounts_rows(finder->request.accounts, &count);

	if (rows[row].used_ns < now_ns)
		rows[row].used_ns = now_ns;
}

static enum kwhy_status add_processes(struct kwhy_holder_finder *finder, uint32_t device, int64_t now_ns,
	struct kwhy_holders *out, struct kwhy_error *error)
{
	struct kwhy_sensor_process listed[KWHY_SENSOR_PROCESSES];
	size_t count = finder->request.list_processes(finder->request.context, device, now_ns, listed);

	for (size_t i = 0; i < count; i++) {
		struct process *process;
		enum kwhy_status status = find_process(
			finder, listed[i].pid, device, now_ns, &process, error);

		if (status)
			return status;
		process->is_listed = true;
		touch(finder, process->row, now_ns);
		holder_of(out, process->row);
	}
	out->is_unseen |= atomic_load_explicit(
		&finder->request.sensors->devices[device].unlisted, memory_order_relaxed);
	return KWHY_OK;
}

/* Whether one of the holders is `job` or one of its steps. */
static bool has_job(const struct kwhy_holder_finder *finder, const struct kwhy_holders *holders,
	const struct kwhy_owner *job)
{
	size_t count;
	const struct kwhy_owner_row *rows = kwhy_accounts_rows(finder->request.accounts, &count);

	for (size_t i = 0; i < holders->count; i++) {
		const struct kwhy_owner *owner = &rows[holders->items[i].owner].owner;

		if (owner->kind == job->kind && strcmp(owner->name, job->name) == 0)
			return true;
	}
	return false;
}

/* Replaces a user's number by the name: prologs write the number if they do not know the name. */
static void name_user(struct kwhy_holder_finder *finder, struct kwhy_owner *owner)
{
	char *end;
	unsigned long uid = strtoul(owner->user, &end, 10);

	if (*owner->user && !*end && uid < UINT32_MAX)
		kwhy_owner_reader_user(finder->reader, (uint32_t)uid, owner->user);
}

/*
 * Adds the jobs to which the mapping folder says that the device with this index (and MIG instance; -1: the
 * whole device) is allocated, unless the job is in `out` already because it has a process on the device.
 */
static enum kwhy_status add_mapped(struct kwhy_holder_finder *finder, int32_t index, int32_t mig_index,
	int64_t now_ns, struct kwhy_holders *out, struct kwhy_error *error)
{
	struct kwhy_owner mapped[MAPPED_MAX];
	enum kwhy_status status = KWHY_OK;
	size_t count = 0;

	if (finder->request.mapping)
		count = kwhy_mapping_read(finder->request.mapping, index, mig_index, mapped, MAPPED_MAX);
	for (size_t i = 0; !status && i < count; i++) {
		uint32_t row;

		if (has_job(finder, out, &mapped[i]))
			continue;
		name_user(finder, &mapped[i]);
		status = kwhy_accounts_find(finder->request.accounts, &mapped[i], now_ns, &row, error);
		if (!status)
			holder_of(out, row);
	}
	return status;
}

/* Whether one of the holders is the pod `pod`, or may be, as it is a pod of which only the uid is known. */
static bool may_have_pod(const struct kwhy_holder_finder *finder, const struct kwhy_holders *holders,
	const struct kwhy_owner *pod)
{
	size_t count;
	const struct kwhy_owner_row *rows = kwhy_accounts_rows(finder->request.accounts, &count);

	for (size_t i = 0; i < holders->count; i++) {
		const struct kwhy_owner *owner = &rows[holders->items[i].owner].owner;

		if (is_unnamed(owner) || kwhy_allocation_is_pod(owner, pod))
			return true;
	}
	return false;
}

/*
 * Gets the row of a container. If processes in the container were found before, it is their row, which also
 * states the user; otherwise it is a row without a user.
 */
static enum kwhy_status find_container(struct kwhy_holder_finder *finder, const struct kwhy_owner *container,
	int64_t now_ns, uint32_t *out_row, struct kwhy_error *error)
{
	size_t count;
	const struct kwhy_owner_row *rows = kwhy_accounts_rows(finder->request.accounts, &count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].is_there && kwhy_allocation_is_pod(&rows[i].owner, container) &&
			strcmp(rows[i].owner.part, container->part) == 0) {
			*out_row = (uint32_t)i;
			touch(finder, *out_row, now_ns);
			return KWHY_OK;
		}
	return kwhy_accounts_find(finder->request.accounts, container, now_ns, out_row, error);
}

/*
 * Adds the containers to which the device is allocated, except those of a pod that is in `out` already
 * because it has a process on the device.
 */
static enum kwhy_status add_allocated(struct kwhy_holder_finder *finder, uint32_t device, int64_t now_ns,
	struct kwhy_holders *out, struct kwhy_error *error)
{
	const struct kwhy_allocations *allocations = finder->request.allocations;
	const struct kwhy_holders listed = *out;

	for (size_t i = 0; allocations && i < allocations->count; i++) {
		const struct kwhy_allocation *allocation = &allocations->items[i];
		enum kwhy_status status;
		uint32_t row;

		if (!kwhy_allocation_is_of(allocation, &finder->request.sensors->devices[device]) ||
			may_have_pod(finder, &listed, &allocation->owner))
			continue;
		status = find_container(finder, &allocation->owner, now_ns, &row, error);
		if (status)
			return status;
		holder_of(out, row);
	}
	return KWHY_OK;
}

static enum kwhy_division division_of(const struct kwhy_sensor_device *device)
{
	return atomic_load_explicit(&device->division, memory_order_relaxed);
}

/*
 * Adds the holders of one device or MIG instance. The number of multiprocessors of that device or instance (1
 * if unknown) is added to the part of each of its holders.
 */
static enum kwhy_status add_device(struct kwhy_holder_finder *finder, uint32_t device, int64_t now_ns,
	struct kwhy_holders *out, struct kwhy_error *error)
{
	const struct kwhy_sensor_device *facts = &finder->request.sensors->devices[device];
	const uint32_t size = facts->sm_count;
	struct kwhy_holders own = {.count = 0};
	enum kwhy_status status = add_processes(finder, device, now_ns, &own, error);

	if (!status)
		status = add_mapped(finder, facts->index, facts->mig_index, now_ns, &own, error);
	for (int32_t i = 0; !status && i < INSTANCES_MAX && division_of(facts) == KWHY_DIVISION_OTHER; i++)
		status = add_mapped(finder, facts->index, i, now_ns, &own, error);
	if (!status)
		status = add_allocated(finder, device, now_ns, &own, error);
	for (size_t i = 0; !status && i < own.count; i++) {
		struct kwhy_share_holder *holder = holder_of(out, own.items[i].owner);

		if (holder)
			holder->part += size ? size : OTHER_DEVICE_PART;
	}
	out->is_unseen |= own.is_unseen;
	return status;
}

/*
 * Whether the device is divided into MIG instances, which are still those that it had when the meters were
 * opened. Each of these is also a device of `sensors`.
 */
static bool is_divided(const struct kwhy_sensors *sensors, uint32_t device)
{
	if (division_of(&sensors->devices[device]) != KWHY_DIVISION_KEPT)
		return false;
	for (size_t i = 0; i < sensors->device_count; i++)
		if (sensors->devices[i].mig_index >= 0 &&
			sensors->devices[i].index == sensors->devices[device].index)
			return true;
	return false;
}

enum kwhy_status kwhy_holders_find(struct kwhy_holder_finder *finder, uint32_t device, int64_t now_ns,
	struct kwhy_holders *out, struct kwhy_error *error)
{
	const struct kwhy_sensors *sensors = finder->request.sensors;
	enum kwhy_status status = KWHY_OK;

	out->count = 0;
	out->is_unseen = false;
	if (!is_divided(sensors, device))
		return add_device(finder, device, now_ns, out, error);
	for (size_t i = 0; !status && i < sensors->device_count; i++)
		if (sensors->devices[i].mig_index >= 0 &&
			sensors->devices[i].index == sensors->devices[device].index)
			status = add_device(finder, (uint32_t)i, now_ns, out, error);
	return status;
}

static void clear_use(struct kwhy_holders *holders)
{
	for (size_t i = 0; i < holders->count; i++)
		holders->items[i].busy_percent = 0;
}

static bool add_use(struct kwhy_holders *holders, uint32_t row, uint32_t percent)
{
	for (size_t i = 0; i < holders->count; i++)
		if (holders->items[i].owner == row) {
			holders->items[i].busy_percent += percent;
			return true;
		}
	return false;
}

/* Sets the use of each holder in `now` to its use in `before`, or to 0 if it is not in `before`. */
static void repeat_use(const struct kwhy_holders *before, struct kwhy_holders *now)
{
	clear_use(now);
	for (size_t i = 0; i < before->count; i++)
		add_use(now, before->items[i].owner, before->items[i].busy_percent);
}

static enum kwhy_status take_use(struct kwhy_holder_finder *finder, uint32_t device,
	const struct kwhy_sensor_use *use, int64_t now_ns, struct kwhy_holders *before,
	struct kwhy_holders *now, struct kwhy_error *error)
{
	struct kwhy_share_holder *holder;
	struct process *process;
	enum kwhy_status status = find_process(finder, use->pid, device, now_ns, &process, error);
	bool is_there;

	if (status)
		return status;
	process->is_listed = true;
	touch(finder, process->row, now_ns);
	is_there = add_use(before, process->row, use->busy_percent);
	is_there |= add_use(now, process->row, use->busy_percent);
	holder = is_there ? NULL : holder_of(now, process->row);
	if (holder)
		*holder = (struct kwhy_share_holder){process->row, use->busy_percent, OTHER_DEVICE_PART};
	return KWHY_OK;
}

/*
 * Use of a MIG instance since the last look: mean number of its multiprocessors that worked, in percent of
 * the number of multiprocessors of all instances of its device; -1: unknown.
 */
static double instance_use(const struct kwhy_holder_finder *finder, uint32_t instance)
{
	const struct kwhy_holder_request *request = &finder->request;
	const struct kwhy_sensor_device *devices = request->sensors->devices;
	const int64_t permille = request->activity_permille(request->context, instance);
	double all = 0;

	for (size_t i = 0; i < request->sensors->device_count; i++)
		if (devices[i].mig_index >= 0 && devices[i].index == devices[instance].index)
			all += devices[i].sm_count;
	return permille < 0 || !devices[instance].sm_count
		? -1
		: (double)permille / 10 * devices[instance].sm_count / all;
}

/*
 * Adds the use of one MIG instance, in whole percent of its device, to its owner in `before` and `now`.
 * *out_known false: the use is unknown, or it is above 0 and the instance has several owners.
 */
static enum kwhy_status add_instance_use(struct kwhy_holder_finder *finder, uint32_t instance, int64_t now_ns,
	struct kwhy_holders *before, struct kwhy_holders *now, bool *out_known, struct kwhy_error *error)
{
	const double percent = instance_use(finder, instance);
	const uint32_t whole = percent > 0 ? (uint32_t)lround(percent) : 0;
	struct kwhy_holders own = {.count = 0};
	enum kwhy_status status = add_device(finder, instance, now_ns, &own, error);

	*out_known = percent >= 0 && (own.count <= 1 || percent == 0);
	if (status || !*out_known || !own.count)
		return status;
	add_use(before, own.items[0].owner, whole);
	add_use(now, own.items[0].owner, whole);
	return KWHY_OK;
}

/* As kwhy_holders_use(), for a device that is divided into MIG instances. */
static enum kwhy_status use_instances(struct kwhy_holder_finder *finder, uint32_t device, int64_t now_ns,
	struct kwhy_holders *before, struct kwhy_holders *now, enum kwhy_holder_uses *out_uses,
	struct kwhy_error *error)
{
	const struct kwhy_sensors *sensors = finder->request.sensors;
	enum kwhy_status status = KWHY_OK;
	bool is_known = true;

	clear_use(before);
	clear_use(now);
	for (size_t i = 0; !status && is_known && i < sensors->device_count; i++)
		if (sensors->devices[i].mig_index >= 0 &&
			sensors->devices[i].index == sensors->devices[device].index)
			status = add_instance_use(finder, (uint32_t)i, now_ns, before, now, &is_known, error);
	*out_uses = is_known ? KWHY_USES_NEW : KWHY_USES_NONE;
	return status;
}

enum kwhy_status kwhy_holders_use(struct kwhy_holder_finder *finder, uint32_t device, int64_t now_ns,
	struct kwhy_holders *before, struct kwhy_holders *now, enum kwhy_holder_uses *out_uses,
	struct kwhy_error *error)
{
	struct kwhy_sensors *sensors = finder->request.sensors;
	struct kwhy_clock_relation clocks = kwhy_sensors_relate(sensors);
	const int64_t now_us = kwhy_clock_unix_of_mono(&clocks, now_ns) / 1000;
	struct kwhy_sensor_use uses[KWHY_SENSOR_PROCESSES];
	int64_t *until_us = &finder->used_until_us[device];
	enum kwhy_status status = KWHY_OK;
	size_t count = 0;

	if (is_divided(sensors, device))
		return use_instances(finder, device, now_ns, before, now, out_uses, error);
	/* samples older than USES_MAX_US are skipped, because they do not show the present use */
	if (*until_us < now_us - USES_MAX_US)
		*until_us = now_us - USES_MAX_US;
	*out_uses = KWHY_USES_NONE;
	if (kwhy_sensors_uses(sensors, device, *until_us, uses, &count))
		*out_uses = count || *until_us < now_us - USES_REPEAT_US ? KWHY_USES_NEW : KWHY_USES_REPEATED;
	if (*out_uses == KWHY_USES_REPEATED) {
		repeat_use(before, now);
		return KWHY_OK;
	}
	clear_use(before);
	clear_use(now);
	for (size_t i = 0; *out_uses == KWHY_USES_NEW && !status && i < count; i++) {
		*until_us = uses[i].time_unix_us > *until_us ? uses[i].time_unix_us : *until_us;
		status = take_use(finder, device, &uses[i], now_ns, before, now, error);
	}
	return status;
}

/*
 * Index of the first process that has the same cgroup as process `at`. Only this first one counts the
 * cgroup's CPU time.
 */
static size_t first_of(const struct kwhy_holder_finder *finder, size_t at)
{
	const char *file = finder->processes[at].owned.cpu_file;

	for (size_t i = 0; *file && i < at; i++)
		if (strcmp(finder->processes[i].owned.cpu_file, file) == 0)
			return i;
	return at;
}

static size_t add_cpu(struct kwhy_holder_cpu *out, size_t count, size_t most, uint32_t row, int64_t used_ns)
{
	for (size_t i = 0; i < count; i++)
		if (out[i].owner == row) {
			out[i].used_ns += used_ns;
			return count;
		}
	if (count < most)
		out[count++] = (struct kwhy_holder_cpu){row, used_ns};
	return count;
}

size_t kwhy_holders_cpu(struct kwhy_holder_finder *finder, struct kwhy_holder_cpu *out, size_t most)
{
	size_t count = 0;

	for (size_t i = 0; i < finder->count; i++) {
		struct process *process = &finder->processes[i];
		const size_t first = first_of(finder, i);
		int64_t now_ns = first < i
			? finder->processes[first].cpu_ns
			: kwhy_owner_reader_cpu_ns(finder->reader, process->owned.cpu_file, process->pid);

		if (first == i && now_ns >= 0 && process->cpu_ns >= 0 && now_ns > process->cpu_ns)
			count = add_cpu(out, count, most, process->row, now_ns - process->cpu_ns);
		process->cpu_ns = now_ns;
	}
	return count;
}

void kwhy_holders_tidy(struct kwhy_holder_finder *finder)
{
	size_t kept = 0;

	for (size_t i = 0; i < finder->count; i++) {
		if (finder->processes[i].is_listed) {
			finder->processes[kept] = finder->processes[i];
			finder->processes[kept++].is_listed = false;
		}
	}
	finder->count = kept;
}
