/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TUNE_SETTING_H
#define KWHY_TUNE_SETTING_H

#include "base/status.h"
#include "vendor/nvml.h"

#include <stdbool.h>
#include <stdint.h>

/* What of a device is swept. */
enum kwhy_tune_kind {
	KWHY_TUNE_CAP,	/* its power limit, mW */
	KWHY_TUNE_CLOCK /* its graphics clock, locked, MHz */
};

/* How to put a device back. What clocks were locked to before cannot be read: they are unlocked. */
struct kwhy_tune_order {
	enum kwhy_tune_kind kind;
	unsigned limit_mw;		 /* that was set before */
	char uuid[KWHY_NVML_TEXT_BYTES]; /* of the device: its number may change */
};

/* A device whose setting may be changed. One thread. */
struct kwhy_tune_setting {
	struct kwhy_nvml nvml;
	kwhy_nvml_handle device;
	char name[KWHY_NVML_TEXT_BYTES];
	struct kwhy_tune_order order;
	unsigned least, most; /* that can be set, in the kind's unit */
	bool is_changed;
};

/*
 * Opens NVML and looks at device number `index`; changes nothing. KWHY_E_UNSUPPORTED: it has no such setting,
 * is divided (MIG), or cannot tell who uses it; KWHY_E_INPUT: no such device, or others compute on it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_setting_open(struct kwhy_tune_setting *setting,
	enum kwhy_tune_kind kind, unsigned index, struct kwhy_error *error);

/* A value from least to most. KWHY_E_IO: the driver refuses, with its reason and the cure. */
KWHY_MUST_USE enum kwhy_status kwhy_tune_setting_set(
	struct kwhy_tune_setting *setting, unsigned value, struct kwhy_error *error);

/* As it was when it was opened, where it was changed. */
KWHY_MUST_USE enum kwhy_status kwhy_tune_setting_restore(
	struct kwhy_tune_setting *setting, struct kwhy_error *error);

/* Closes NVML; does not restore. */
void kwhy_tune_setting_close(struct kwhy_tune_setting *setting);

/* The same for whoever finds the order alone: opens NVML for it. */
KWHY_MUST_USE enum kwhy_status kwhy_tune_order_carry_out(
	const struct kwhy_tune_order *order, struct kwhy_error *error);

#endif
