/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_DEVICE_ENERGY_H
#define KWHY_MEASURE_DEVICE_ENERGY_H

#include "gpu/gpu.h"
#include "model/profile.h"

/*
 * The energy of named windows of a benchmark, of the GPUs that it uses and of the host. No meter is no error:
 * then every figure is unknown and says why. Windows follow each other; those of one name add up. One thread.
 */
struct kwhy_device_energy;

enum { KWHY_DEVICE_ENERGY_GPUS_MAX = 16, KWHY_DEVICE_ENERGY_REASON_BYTES = 240 };

/* NAN: unknown. Intervals are 95 %. */
struct kwhy_joules {
	double value, low, high;
};

struct kwhy_window_joules {
	double seconds;		       /* of the windows together */
	struct kwhy_joules gross, net; /* of the GPUs; net: above their idle level with contexts */
	struct kwhy_joules host;       /* gross, of all domains of the host that have a meter */
	double mean_w;		       /* of the GPUs */
	const char *basis;	       /* borrowed; NULL: unknown */
};

/* Nothing is known. */
struct kwhy_window_joules kwhy_window_joules_unknown(void);

KWHY_MUST_USE enum kwhy_status kwhy_device_energy_open(struct kwhy_gpu *const *gpus, uint32_t gpu_count,
	struct kwhy_device_energy **out, struct kwhy_error *error);
void kwhy_device_energy_close(struct kwhy_device_energy *energy);

/* Why the GPUs' energy is unknown, of some window at least once they were read; NULL: it is known. */
const char *kwhy_device_energy_missing(const struct kwhy_device_energy *energy);

/*
 * Waits, with nothing running: a look at the level that net energy is above. Levels drift by watts with the
 * temperature, so a window's level is the mean of the looks from the last one before it to the first one
 * after it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_device_energy_idle(
	struct kwhy_device_energy *energy, double seconds, struct kwhy_error *error);

/*
 * What is above an idle level of the mean of `levels_w`, each one a look of its own. The interval holds how
 * far gross energy and looks are known, and half of how far looks lie apart. Pure.
 */
struct kwhy_joules kwhy_joules_above(
	struct kwhy_joules gross, double seconds, const struct kwhy_joules *levels_w, size_t count);

/* Value and interval times a factor above 0; NAN: unknown. */
struct kwhy_joules kwhy_joules_times(const struct kwhy_joules *joules, double factor);

/* Everything queued before must have run at either end. Looks at the idle level first when the last look is
 * some seconds old. */
KWHY_MUST_USE enum kwhy_status kwhy_device_energy_begin(
	struct kwhy_device_energy *energy, const char *name, struct kwhy_error *error);
void kwhy_device_energy_end(struct kwhy_device_energy *energy);

/* Looks at the idle level once more, and waits for the meters to show all windows; may come again after
 * further ones. */
KWHY_MUST_USE enum kwhy_status kwhy_device_energy_read(
	struct kwhy_device_energy *energy, struct kwhy_error *error);

/* After kwhy_device_energy_read(): of the first `gpu_count` GPUs. */
void kwhy_device_energy_of(const struct kwhy_device_energy *energy, const char *name, uint32_t gpu_count,
	struct kwhy_window_joules *out);

/* The same of one GPU alone, by its place among those that were opened; known where its own meter is. */
void kwhy_device_energy_of_one(const struct kwhy_device_energy *energy, const char *name, uint32_t gpu,
	struct kwhy_window_joules *out);

#endif
