/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_ROWS_H
#define KWHY_INJECT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes the session's records that do not come from CUPTI. The caller holds the session's lock, except where
 * a comment says otherwise.
 */
void kwhy_inject_write_ranges(void);
void kwhy_inject_write_stacks(void);
void kwhy_inject_write_lost(void);

/*
 * Writes the cost of the recording so far. The costs of switching collection are arguments because they must
 * be read before the session's lock is taken.
 */
void kwhy_inject_write_costs(int64_t switch_ns, uint64_t switches);

/*
 * Writes the bursts that the prober has finished since the last call and, at the end, the launches that it
 * did not probe.
 */
void kwhy_inject_write_probed(bool is_end);

/* Writes clock and costs once in a while, so that the recording of a killed program has them, too. */
void kwhy_inject_write_clock(int64_t now_mono_ns, int64_t switch_ns, uint64_t switches);

/*
 * Writes the devices, once the process uses CUDA. It is called without the session's lock, because it calls
 * the driver, which may be calling us concurrently.
 */
void kwhy_inject_write_devices(void);

/*
 * Writes the windows that ended at `ended_by_mono_ns` or earlier, as long as the file has space. It is called
 * without the session's lock, because a thread that is switching collection may be waiting for that lock.
 */
void kwhy_inject_write_windows(int64_t ended_by_mono_ns);

/* Writes the records in the writer's buffer to the file. */
void kwhy_inject_write_gathered(void);

/*
 * Whether collection must be stopped now, because the file has reached its size limit or a write has failed.
 * Only one call returns true.
 */
bool kwhy_inject_is_full_now(int64_t now_mono_ns);

/* Writes the last records of the session. The last windows, the costs and the END record follow them. */
void kwhy_inject_write_end(int64_t now_mono_ns);

#endif
