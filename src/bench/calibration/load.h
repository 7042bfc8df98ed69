/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_LOAD_H
#define KWHY_BENCH_CALIBRATION_LOAD_H

#include "fit/pulse.h"
#include "gpu/gpu.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Loads of known power and duration for one GPU. Their kernels run for a given time by the device's clock and
 * record when they actually ran. Their data is pseudo-random, from a seed.
 */
enum kwhy_burn { KWHY_BURN_FMA, KWHY_BURN_COPY, KWHY_BURN_INTEGER, KWHY_BURN_ONE_BLOCK, KWHY_BURN_COUNT };

/* Name of a kind of load: "fma", "copy", "integer" or "one-block". */
const char *kwhy_burn_name(enum kwhy_burn burn);

/*
 * A load has `pulses` kernels of on_ns each, and one begins every on_ns + off_ns (off_ns 0: without pauses).
 * The pulses form eight equal groups. Each group begins shift_ns / 8 later than a strictly periodic pattern
 * would, because a meter whose update period equals that of the load would otherwise sample always at the
 * same phase (aliasing).
 */
struct kwhy_load {
	const char *name;
	enum kwhy_burn burn;
	int64_t on_ns, off_ns, shift_ns;
	uint32_t pulses;
};

enum { KWHY_LOAD_PULSES_MAX = 4096 };

struct kwhy_loads;

KWHY_MUST_USE enum kwhy_status kwhy_loads_new(
	struct kwhy_gpu *gpu, uint32_t seed, struct kwhy_loads **out, struct kwhy_error *error);
void kwhy_loads_free(struct kwhy_loads *loads);

/*
 * Runs a load and waits for its end. out_pulses[load->pulses] receives the start and end of each kernel on
 * CLOCK_MONOTONIC. They are accurate to about 10 us, since the device's clock is compared with the host's
 * before and after the load.
 */
KWHY_MUST_USE enum kwhy_status kwhy_load_run(struct kwhy_loads *loads, const struct kwhy_load *load,
	struct kwhy_pulse *out_pulses, struct kwhy_error *error);

/*
 * kwhy_loads_nothing() returns an empty kernel, and kwhy_loads_memory() the address of a device buffer of
 * *out_bytes bytes that the loads own. With them, calls and copies can be timed while no load runs.
 */
const struct kwhy_gpu_kernel *kwhy_loads_nothing(const struct kwhy_loads *loads);
uint64_t kwhy_loads_memory(const struct kwhy_loads *loads, size_t *out_bytes);

#endif
