/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_ROWS_H
#define KWHY_INJECT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes the session's records other than those of CUPTI. The caller holds the session's lock, except where a
 * comment says otherwise.
 */
void kwhy_inject_write_ranges(void);
void kwhy_inject_write_stacks(void);
void kwhy_inject_write_lost(void);

/*
 * Writes what recording has cost so far. The switching costs are arguments because they are read before,
 * without the lock.
 */
void kwhy_inject_write_costs(int64_t switch_ns, uint64_t switches);

/*
 * Writes the bursts that the prober has finished since the last call and, at the end, the launches that it
 * did not probe.
 */
void kwhy_inject_write_probed(bool is_end);

/* Writes clock and costs from time to time, so that the recording of a killed program has them, too. */
void kwhy_inject_write_clock(int64_t now_mono_ns, int64_t switch_ns, uint64_t switches);

/*
 * Writes the devices, once the process uses CUDA. Called without the lock, because the driver may be calling
 * us concurrently.
 */
void kwhy_inject_write_devices(void);

/*
 * Writes the windows that ended by a time, as long as the file has space. Called without the lock, which a
 * thread that is switching may be waiting for.
 */
void kwhy_inject_write_windows(int64_t ended_by_mono_ns);

/* Writes the gathered records to the file. */
void kwhy_inject_write_gathered(void);

/* Must collection be stopped now, because the file has reached its limit? */
bool kwhy_inject_is_full_now(int64_t now_mono_ns);

/* Writes the last records of the session, except the last windows, the costs and the END record. */
void kwhy_inject_write_end(int64_t now_mono_ns);

#endif
