/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_DEVICE_ENERGY_H
#define KWHY_MEASURE_DEVICE_ENERGY_H

#include "gpu/gpu.h"
#include "model/profile.h"

/*
 * Energy of named windows of a benchmark, for the GPUs that it uses and for the host. A missing meter is no
 * error: the figures that need it are then unknown, and kwhy_device_energy_missing() gives the reason.
 * Windows do not overlap. The energies of windows with the same name are added up. Use from one thread.
 */
struct kwhy_device_energy;

enum { KWHY_DEVICE_ENERGY_GPUS_MAX = 16, KWHY_DEVICE_ENERGY_REASON_BYTES = 240 };

/* Joules with a 95 % interval; NAN: unknown. */
struct kwhy_joules {
	double value, low, high;
};

struct kwhy_window_joules {
	double seconds;		       /* total length of the windows */
	struct kwhy_joules gross, net; /* energy of all GPUs together; net: above their idle level (with
					  contexts of this process) */
	struct kwhy_joules host;       /* gross energy of all domains of the host that have a meter */
	double mean_w;		       /* mean power of all GPUs together */
	const char *basis; /* what the energy is based on, "counter+power"; borrowed; NULL: unknown */
};

/* A result in which every figure is unknown. */
struct kwhy_window_joules kwhy_window_joules_unknown(void);

KWHY_MUST_USE enum kwhy_status kwhy_device_energy_open(struct kwhy_gpu *const *gpus, uint32_t gpu_count,
	struct kwhy_device_energy **out, struct kwhy_error *error);
void kwhy_device_energy_close(struct kwhy_device_energy *energy);

/*
 * Returns why a GPU has no meter or, after kwhy_device_energy_read(), why the energy of a window is unknown;
 * NULL: every GPU has a meter, and no window is known to lack energy. Borrowed.
 */
const char *kwhy_device_energy_missing(const struct kwhy_device_energy *energy);

/*
 * Measures the GPUs' idle level, which net energy excludes, for `seconds`, in which the caller must run
 * nothing. Idle levels drift by watts with the temperature. The level for the windows of a name is therefore
 * the mean over several of these measurements: from the last one before the first window of the name to the
 * first one after the last window of the name.
 */
KWHY_MUST_USE enum kwhy_status kwhy_device_energy_idle(
	struct kwhy_device_energy *energy, double seconds, struct kwhy_error *error);

/*
 * Energy above the idle level: gross energy minus `seconds` times the mean of levels_w[count]. Unknown if
 * there is no level. The interval includes the uncertainties of the gross energy and of the levels, and half
 * of the range of the levels. Pure.
 */
struct kwhy_joules kwhy_joules_above(
	struct kwhy_joules gross, double seconds, const struct kwhy_joules *levels_w, size_t count);

/* Value and interval times a positive factor; NAN: unknown. */
struct kwhy_joules kwhy_joules_times(const struct kwhy_joules *joules, double factor);

/*
 * Begin and end a window. All work that was queued before must have finished. The begin measures the idle
 * level first if the last measurement of it is more than 5 s old.
 */
KWHY_MUST_USE enum kwhy_status kwhy_device_energy_begin(
	struct kwhy_device_energy *energy, const char *name, struct kwhy_error *error);
void kwhy_device_energy_end(struct kwhy_device_energy *energy);

/*
 * Measures the idle level once more and waits until the meters have reported all windows. May be called again
 * after further windows.
 */
KWHY_MUST_USE enum kwhy_status kwhy_device_energy_read(
	struct kwhy_device_energy *energy, struct kwhy_error *error);

/* Energy of the windows of a name on the first `gpu_count` GPUs. Call it after kwhy_device_energy_read(). */
void kwhy_device_energy_of(const struct kwhy_device_energy *energy, const char *name, uint32_t gpu_count,
	struct kwhy_window_joules *out);

/*
 * Energy of the windows of a name on one GPU; `gpu` is its index in `gpus` of kwhy_device_energy_open(). It
 * is known if that GPU has a meter.
 */
void kwhy_device_energy_of_one(const struct kwhy_device_energy *energy, const char *name, uint32_t gpu,
	struct kwhy_window_joules *out);

#endif
