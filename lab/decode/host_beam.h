/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_HOST_BEAM_H
#define KWHY_LAB_DECODE_HOST_BEAM_H

#include "lab/decode/device.h"

#include <stdbool.h>

/* Beams on the host, as kernels/decode/beams.cu; without them nothing happens. */

void kwhy_decode_host_beam_rank(const struct kwhy_gpu_grid *grid, void **arguments);
void kwhy_decode_host_beam_choose(const struct kwhy_gpu_grid *grid, void **arguments);

/* Slots come to a position: those of a sequence share what is up to it. */
void kwhy_decode_host_beam_reset(const struct kwhy_decode_args *args, uint32_t position, bool is_prompt);

/* The slot that has the keys and values of a place, for one that is at a position. */
uint32_t kwhy_decode_host_source(
	const struct kwhy_decode_args *args, uint32_t slot, uint32_t position, uint32_t place);

#endif
