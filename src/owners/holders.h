/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_HOLDERS_H
#define KWHY_OWNERS_HOLDERS_H

#include "owners/accounts.h"
#include "owners/allocations.h"
#include "owners/share.h"
#include "sensor/sensor.h"

/*
 * Finds who holds a device now: the owners of the processes that the driver lists for it, the jobs that the
 * mapping folder (owners/mapping.h) names for it, and the pods to which it is allocated. Each owner is a row
 * of the accounts. Only one thread at a time may use it.
 */
struct kwhy_holder_finder;

enum { KWHY_HOLDERS_MAX = KWHY_SENSOR_PROCESSES };

struct kwhy_holders {
	struct kwhy_share_holder items[KWHY_HOLDERS_MAX];
	size_t count;
	bool is_unseen; /* the processes of the device, or of one of its instances, could not be listed */
};

struct kwhy_holder_request {
	struct kwhy_sensors *sensors;
	struct kwhy_accounts *accounts;
	const char *root;    /* root folder, as in kwhy_owner_reader_new() */
	const char *mapping; /* folder as in kwhy_mapping_read(); NULL: none */
	/*
	 * Read each time that holders are searched; the caller may change it between two calls. NULL: none.
	 */
	const struct kwhy_allocations *allocations;
	/* Lists the processes that use a device now, as kwhy_sensors_processes() does. */
	size_t (*list_processes)(void *context, uint32_t device, int64_t now_ns,
		struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES]);
	/*
	 * Mean share of the multiprocessors of a MIG instance (`device`) that worked since the last search
	 * for holders, in thousandths; -1: unknown.
	 */
	int64_t (*activity_permille)(void *context, uint32_t device);
	void *context; /* passed to both functions */
};

/* The finder does not copy what the request points to. */
KWHY_MUST_USE enum kwhy_status kwhy_holder_finder_new(
	const struct kwhy_holder_request *request, struct kwhy_holder_finder **out, struct kwhy_error *error);
void kwhy_holder_finder_free(struct kwhy_holder_finder *finder);

/*
 * Finds the holders of a whole device and of its MIG instances. Sets each holder's part of the device;
 * busy_percent stays 0. If the device was divided into other instances since the meters were opened, the
 * holders are the owners of the processes that the driver lists for the whole device, and the jobs that the
 * mapping folder names for any of its instances.
 */
KWHY_MUST_USE enum kwhy_status kwhy_holders_find(struct kwhy_holder_finder *finder, uint32_t device,
	int64_t now_ns, struct kwhy_holders *out, struct kwhy_error *error);

/* Which samples of the processes' use the driver had at a look (a search for the holders of a device). */
enum kwhy_holder_uses {
	KWHY_USES_NONE, /* the driver has no such samples */
	KWHY_USES_NEW,
	KWHY_USES_REPEATED /* the last samples are so new that the driver has no others yet */
};

/*
 * Sets busy_percent of the holders of both lists to the use since the last call for the device, by the
 * driver's samples. Owners that used it and are in no list are added to `now`. KWHY_USES_REPEATED: the
 * holders of `before` keep their use, and each holder of `now` gets its use in `before`.
 *
 * The driver has no such samples of MIG instances, but may count how busy the multiprocessors of each are. An
 * owner's use is then the share of the whole device's multiprocessors that worked for it. *out_uses is
 * KWHY_USES_NONE if an instance that worked has several owners, because its counter does not tell them apart.
 */
KWHY_MUST_USE enum kwhy_status kwhy_holders_use(struct kwhy_holder_finder *finder, uint32_t device,
	int64_t now_ns, struct kwhy_holders *before, struct kwhy_holders *now,
	enum kwhy_holder_uses *out_uses, struct kwhy_error *error);

/* CPU time that an owner's cgroup or, without a cgroup, its processes used since the last call, ns. */
struct kwhy_holder_cpu {
	uint32_t owner;
	int64_t used_ns;
};
/* Writes at most `most` owners to `out`, and returns their number. */
size_t kwhy_holders_cpu(struct kwhy_holder_finder *finder, struct kwhy_holder_cpu *out, size_t most);

/*
 * Forgets the processes that no device listed since the last kwhy_holders_tidy(). Call it after
 * kwhy_holders_find() of all devices.
 */
void kwhy_holders_tidy(struct kwhy_holder_finder *finder);

#endif
