/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TUNE_SETTING_H
#define KWHY_TUNE_SETTING_H

#include "base/status.h"
#include "vendor/nvml.h"

#include <stdbool.h>
#include <stdint.h>

/* The device setting that is swept. */
enum kwhy_tune_kind {
	KWHY_TUNE_CAP,	/* power limit, mW */
	KWHY_TUNE_CLOCK /* locked graphics clock, MHz */
};

/*
 * How to restore a device. The driver does not report to what clocks were locked before, so clocks are
 * unlocked.
 */
struct kwhy_tune_order {
	enum kwhy_tune_kind kind;
	unsigned limit_mw;		 /* power limit before the first change */
	char uuid[KWHY_NVML_TEXT_BYTES]; /* identifies the device, whose number may change */
};

/* A device whose setting may be changed. For one thread. */
struct kwhy_tune_setting {
	struct kwhy_nvml nvml;
	kwhy_nvml_handle device;
	char name[KWHY_NVML_TEXT_BYTES];
	struct kwhy_tune_order order;
	unsigned least, most; /* allowed range, in the kind's unit */
	bool is_changed;
};

/*
 * Opens NVML and reads the present setting of device number `index`; changes nothing. KWHY_E_UNSUPPORTED: the
 * device lacks the setting, is divided (MIG), or does not report the processes that use it. KWHY_E_INPUT:
 * there is no such device, or other processes compute on it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_setting_open(struct kwhy_tune_setting *setting,
	enum kwhy_tune_kind kind, unsigned index, struct kwhy_error *error);

/*
 * Sets a value from `least` to `most`. KWHY_E_IO: the driver refuses; the message gives its reason and the
 * remedy.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_setting_set(
	struct kwhy_tune_setting *setting, unsigned value, struct kwhy_error *error);

/* Restores the setting from when it was opened, if it was changed. */
KWHY_MUST_USE enum kwhy_status kwhy_tune_setting_restore(
	struct kwhy_tune_setting *setting, struct kwhy_error *error);

/* Closes NVML; does not restore. */
void kwhy_tune_setting_close(struct kwhy_tune_setting *setting);

/* Restores a device from an order alone; opens NVML itself. */
KWHY_MUST_USE enum kwhy_status kwhy_tune_order_carry_out(
	const struct kwhy_tune_order *order, struct kwhy_error *error);

#endif
