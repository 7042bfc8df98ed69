/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TUNE_SETTING_H
#define KWHY_TUNE_SETTING_H

#include "base/status.h"
#include "vendor/nvml.h"

#include <stdbool.h>
#include <stdint.h>

/* The setting of a GPU that `kwhy tune` varies. */
enum kwhy_tune_kind {
	KWHY_TUNE_CAP,	/* power limit, in mW */
	KWHY_TUNE_CLOCK /* locked graphics clock, in MHz */
};

/*
 * How to restore a device's setting: KWHY_TUNE_CAP sets limit_mw; KWHY_TUNE_CLOCK unlocks the clocks, because
 * the driver does not report whether they were locked before.
 */
struct kwhy_tune_order {
	enum kwhy_tune_kind kind;
	unsigned limit_mw;		 /* power limit before the first change */
	char uuid[KWHY_NVML_TEXT_BYTES]; /* UUID of the device, because its number may change */
};

/* A device whose setting may be changed. Only one thread at a time may use it. */
struct kwhy_tune_setting {
	struct kwhy_nvml nvml;
	kwhy_nvml_handle device;
	char name[KWHY_NVML_TEXT_BYTES];
	struct kwhy_tune_order order;
	unsigned least, most; /* smallest and largest value that the device allows, mW or MHz by order.kind */
	bool is_changed;
};

/*
 * Opens NVML and reads the present setting of device number `index`; changes nothing. KWHY_E_UNSUPPORTED: the
 * device lacks the setting, is divided into MIG instances, or does not report the processes that use it.
 * KWHY_E_INPUT: the device does not exist, or other processes compute on it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_setting_open(struct kwhy_tune_setting *setting,
	enum kwhy_tune_kind kind, unsigned index, struct kwhy_error *error);

/*
 * Sets a value from setting->least to setting->most. KWHY_E_IO: the driver refuses; the message gives its
 * reason and the remedy.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_setting_set(
	struct kwhy_tune_setting *setting, unsigned value, struct kwhy_error *error);

/*
 * Restores the device by setting->order if it was changed: the power limit that was read when the setting was
 * opened, or unlocked clocks. KWHY_E_IO: the driver refuses.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_setting_restore(
	struct kwhy_tune_setting *setting, struct kwhy_error *error);

/* Closes NVML; does not restore the setting. */
void kwhy_tune_setting_close(struct kwhy_tune_setting *setting);

/*
 * Restores a device by an order, without an open setting; opens and closes NVML itself. KWHY_E_IO: the device
 * was not found, or the driver refuses.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_order_carry_out(
	const struct kwhy_tune_order *order, struct kwhy_error *error);

#endif
