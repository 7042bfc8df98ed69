/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/pairs_lock.h"

#include "cli/output.h"
#include "sensor/sensor.h"

/* Lists the GPUs whose clocks are to be locked, by NVML's indices. */
static enum kwhy_status list_devices(
	unsigned out[KWHY_PAIR_GPUS_MAX], size_t *out_count, struct kwhy_error *error)
{
	struct kwhy_sensor_request request = {.without_rocm = true, .without_host = true};
	struct kwhy_sensors *sensors;
	enum kwhy_status status;

	*out_count = 0;
	kwhy_sensor_request_see(&request);
	status = kwhy_sensors_open(&request, &sensors, error);
	if (status)
		return status;
	for (size_t i = 0; i < sensors->device_count && *out_count < KWHY_PAIR_GPUS_MAX; i++)
		if (sensors->devices[i].vendor == KWHY_VENDOR_NVIDIA)
			out[(*out_count)++] = (unsigned)sensors->devices[i].index;
	kwhy_sensors_close(sensors);
	return *out_count ? KWHY_OK
			  : kwhy_fail(error, KWHY_E_UNSUPPORTED,
				    "no GPU is there whose clocks could be locked; leave --lock-clocks out");
}

static enum kwhy_status lock_one(struct lock *one, unsigned index, unsigned mhz, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_tune_setting_open(&one->setting, KWHY_TUNE_CLOCK, index, error);

	one->is_open = !status;
	if (!status)
		status = kwhy_tune_guard_arm(&one->guard, &one->setting.order, error);
	return status ? status : kwhy_tune_setting_set(&one->setting, mhz, error);
}

enum kwhy_status kwhy_pairs_lock_begin(struct kwhy_pairs_lock *lock, unsigned mhz, struct kwhy_error *error)
{
	unsigned indices[KWHY_PAIR_GPUS_MAX];
	size_t count;
	enum kwhy_status status;

	lock->count = 0;
	status = list_devices(indices, &count, error);
	/*
	 * A guard is a forked process that unlocks the clocks of one GPU if this process dies. All guards
	 * must be started before lock_one() opens NVML, because NVML does not survive a fork.
	 */
	for (size_t i = 0; !status && i < count; i++) {
		struct lock *one = &lock->locks[i];

		one->is_open = false;
		status = kwhy_tune_guard_open(&one->guard, error);
		lock->count += !status;
	}
	for (size_t i = 0; !status && i < count; i++)
		status = lock_one(&lock->locks[i], indices[i], mhz, error);
	return status;
}

enum kwhy_status kwhy_pairs_lock_end(
	struct kwhy_pairs_lock *lock, enum kwhy_status status, struct kwhy_error *error)
{
	for (size_t i = 0; i < lock->count; i++) {
		struct lock *one = &lock->locks[i];
		struct kwhy_error later = {0};

		if (one->is_open &&
			(kwhy_tune_setting_restore(&one->setting, &later) ||
				kwhy_tune_guard_disarm(&one->guard, &later)))
			status = kwhy_output_later(status, &later, error);
		if (one->is_open)
			kwhy_tune_setting_close(&one->setting);
		kwhy_tune_guard_close(&one->guard);
	}
	lock->count = 0;
	return status;
}
