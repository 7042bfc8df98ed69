/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_ROWS_H
#define KWHY_INJECT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Functions that write the session's records other than those converted from CUPTI's. The first three write
 * the ended ranges, the stacks, and the number of records lost since the last call. The caller holds the
 * session's lock, except where a comment says otherwise.
 */
void kwhy_inject_write_ranges(void);
void kwhy_inject_write_stacks(void);
void kwhy_inject_write_lost(void);

/*
 * Writes what the recording has cost the program so far. switch_ns and `switches` are from
 * kwhy_inject_collection_cost(), which must be called before the session's lock is taken.
 */
void kwhy_inject_write_costs(int64_t switch_ns, uint64_t switches);

/*
 * Writes the bursts that the prober has finished since the last call and, if `is_end`, also the accounts that
 * it did not probe, with the reasons.
 */
void kwhy_inject_write_probed(bool is_end);

/*
 * Every 10 s, writes the relation of the clocks and the costs, so that the recording of a killed program has
 * them, too; otherwise does nothing.
 */
void kwhy_inject_write_clock(int64_t now_mono_ns, int64_t switch_ns, uint64_t switches);

/*
 * Writes the process's devices, once, when it uses CUDA. It must be called without the session's lock,
 * because it calls the driver, which at the same time may call functions of kwhy that need that lock.
 */
void kwhy_inject_write_devices(void);

/*
 * Writes the coverage records of the collection windows that ended at `ended_by_mono_ns` or earlier, as long
 * as the file has space. It is called without the session's lock, because a thread that is switching
 * collection may be waiting for that lock.
 */
void kwhy_inject_write_windows(int64_t ended_by_mono_ns);

/* Writes the records in the writer's buffer to the file. */
void kwhy_inject_write_gathered(void);

/*
 * Whether collection must be stopped now, because the file has reached its size limit or a write has failed.
 * Returns true at most once in a session.
 */
bool kwhy_inject_is_full_now(int64_t now_mono_ns);

/*
 * Writes the last records before the end of the session. After it the caller writes the last windows, the
 * costs and the END record.
 */
void kwhy_inject_write_end(int64_t now_mono_ns);

#endif
