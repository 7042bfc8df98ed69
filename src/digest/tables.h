/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_TABLES_H
#define KWHY_DIGEST_TABLES_H

#include <stddef.h>
#include <stdint.h>

/*
 * The tables of a digest (docs/formats/digest.md): a list for each table, with an entry for each column that
 * gives its kind and name. The structs, the SQL schema, the writer and the reader are generated from these
 * lists.
 *
 * Kinds, and their values for unknown: INT: int64_t, INT64_MIN. INDEX: uint32_t, UINT32_MAX. REAL: double,
 * NAN. TEXT: const char *, NULL. In the file, unknown values are NULL.
 */
#define KWHY_DIGEST_TYPE_INT int64_t
#define KWHY_DIGEST_TYPE_INDEX uint32_t
#define KWHY_DIGEST_TYPE_REAL double
#define KWHY_DIGEST_TYPE_TEXT const char *

/* This table has one row. Times of all tables are in ns after its origin_unix_ns. */
#define KWHY_DIGEST_DIGEST(X, T)                                                                           \
	X(T, TEXT, schema)                                                                                 \
	X(T, TEXT, producer)                                                                               \
	X(T, TEXT, identity) /* hash of activities and readings: equal if digests have the same content */ \
	X(T, INDEX, rank)                                                                                  \
	X(T, INDEX, world_size)                                                                            \
	X(T, TEXT, other_ranks) /* other ranks that used the same devices: "1,2,3" */                      \
	X(T, TEXT, host)                                                                                   \
	X(T, TEXT, boot)                                                                                   \
	X(T, INT, is_unix_clock)                                                                           \
	X(T, TEXT, clock) /* name of the clock if it does not show Unix time */                            \
	X(T, INT, origin_unix_ns)                                                                          \
	X(T, INT, start_ns)                                                                                \
	X(T, INT, end_ns)                                                                                  \
	X(T, INT, parts)   /* number of digests made of this recording */                                  \
	X(T, INT, steps)   /* all steps; table step may have only some */                                  \
	X(T, INT, loop_ns) /* time of all steps, each up to the end of the work that it queued */          \
	X(T, INT, loop_nj)                                                                                 \
	X(T, INT, collectives) /* all collectives; table collective may have only some */                  \
	X(T, REAL, kept_ratio) /* kwhy_digest_keeps(): share of the sequence numbers in table collective */

#define KWHY_DIGEST_SOURCE(X, T) \
	X(T, TEXT, path)         \
	X(T, TEXT, format)       \
	X(T, TEXT, version)      \
	X(T, TEXT, producer)     \
	X(T, INT, events)        \
	X(T, INT, activities)

#define KWHY_DIGEST_DEVICE(X, T)                                                             \
	X(T, INT, number)                                                                    \
	X(T, TEXT, name)                                                                     \
	X(T, TEXT, uuid)                                                                     \
	X(T, TEXT, pci)                                                                      \
	X(T, INT, limit_mw)                                                                  \
	X(T, INT, first_ns)                                                                  \
	X(T, INT, last_ns)                                                                   \
	X(T, INT, span_ns)                                                                   \
	X(T, INT, busy_ns)                                                                   \
	X(T, INT, idle_ns)                                                                   \
	X(T, INT, unrecorded_ns)                                                             \
	X(T, INT, probing_ns)                                                                \
	X(T, INT, compute_ns) /* time with a kernel, less collective_exposed_ns */           \
	X(T, INT, collective_exposed_ns)                                                     \
	X(T, INT, kernels)                                                                   \
	X(T, REAL, sm_weighted_ratio)                                                        \
	X(T, TEXT, energy_source)                                                            \
	X(T, INT, is_modelled)                                                               \
	X(T, INT, metered_ns)                                                                \
	X(T, INT, measured_nj)                                                               \
	X(T, INT, attributed_nj)                                                             \
	X(T, INT, run_nj) /* energy of the whole run; what no reading covers is estimated */ \
	X(T, INT, run_low_nj)                                                                \
	X(T, INT, run_high_nj)                                                               \
	X(T, INT, run_unmetered_nj)

/*
 * Time and energy of a device by category. span_ns: time of the category in the device's span; the values of
 * all categories add up to that span. The columns after span_ns are sums over the category's accounts.
 */
#define KWHY_DIGEST_CATEGORY(X, T) \
	X(T, INDEX, device)        \
	X(T, TEXT, category)       \
	X(T, INT, span_ns)         \
	X(T, INT, accounts)        \
	X(T, INT, count)           \
	X(T, INT, time_ns)         \
	X(T, INT, gross_nj)        \
	X(T, INT, idle_nj)         \
	X(T, INT, net_nj)

#define KWHY_DIGEST_ACCOUNT(X, T)                                              \
	X(T, INDEX, device)                                                    \
	X(T, TEXT, category)                                                   \
	X(T, TEXT, name)    /* NULL: sum of the category's smaller accounts */ \
	X(T, INT, accounts) /* number of accounts summed in this row */        \
	X(T, INT, count)                                                       \
	X(T, INT, bytes)                                                       \
	X(T, INT, time_ns)                                                     \
	X(T, INT, gross_nj)                                                    \
	X(T, INT, idle_nj)                                                     \
	X(T, INT, net_nj)                                                      \
	X(T, INT, low_nj)                                                      \
	X(T, INT, high_nj)                                                     \
	X(T, TEXT, basis)

#define KWHY_DIGEST_FINDING(X, T)                                              \
	X(T, TEXT, id)                                                         \
	X(T, INDEX, device)                                                    \
	X(T, TEXT, title)                                                      \
	X(T, INT, count)                                                       \
	X(T, INT, time_ns)                                                     \
	X(T, INT, energy_nj)                                                   \
	X(T, INT, saved_ns)                                                    \
	X(T, INT, saved_nj)                                                    \
	X(T, TEXT, bound)                                                      \
	X(T, TEXT, cure)                                                       \
	X(T, TEXT, place) /* place in the source code: "step (train.py:18)" */ \
	X(T, TEXT, file)                                                       \
	X(T, INT, line)

/* Examples of each finding. finding: row of table finding, from 0. */
#define KWHY_DIGEST_OCCURRENCE(X, T) \
	X(T, INDEX, finding)         \
	X(T, INT, start_ns)          \
	X(T, INT, end_ns)            \
	X(T, TEXT, what)

#define KWHY_DIGEST_COMMUNICATOR(X, T)                                                                       \
	X(T, TEXT, name)  /* NULL: the trace states no name, or the row is the sum of the communicators that \
			     have no row */                                                                  \
	X(T, TEXT, ranks) /* as listed in the trace */                                                       \
	X(T, INDEX, size)                                                                                    \
	X(T, INT, is_numbered) /* 1: the trace states sequence numbers; 0: counted; NULL: the sum of further \
				  rows */                                                                    \
	X(T, INT, collectives) /* all collectives; table collective may have only some */                    \
	X(T, INT, total_ns)                                                                                  \
	X(T, INT, kept_ns) /* what of total_ns is in table collective */

/* Operations of collectives. meets 1: no rank can leave such a collective before all have entered it. */
#define KWHY_DIGEST_OPERATION(X, T) \
	X(T, TEXT, name)            \
	X(T, TEXT, type)            \
	X(T, INT, in_elements)      \
	X(T, INT, out_elements)     \
	X(T, INT, meets)

/*
 * communicator, operation, device: rows of the tables of these names, from 0. part: how many earlier
 * collectives have the same communicator, device and sequence number.
 */
#define KWHY_DIGEST_COLLECTIVE(X, T) \
	X(T, INDEX, communicator)    \
	X(T, INT, sequence)          \
	X(T, INDEX, part)            \
	X(T, INDEX, device)          \
	X(T, INDEX, operation)       \
	X(T, INT, enter_ns)          \
	X(T, INT, exit_ns)

#define KWHY_DIGEST_METER(X, T)                           \
	X(T, INDEX, device) /* NULL: a meter of a host */ \
	X(T, TEXT, source)                                \
	X(T, TEXT, host)                                  \
	X(T, TEXT, boot)                                  \
	X(T, INT, readings)                               \
	X(T, INT, start_ns)                               \
	X(T, INT, end_ns)                                 \
	X(T, INT, energy_nj) /* only of host meters; energies of devices are in table device */

#define KWHY_DIGEST_GAUGE(X, T) \
	X(T, INDEX, device)     \
	X(T, TEXT, gauge)       \
	X(T, INT, readings)     \
	X(T, INT, least)        \
	X(T, INT, median)       \
	X(T, INT, most)

/* ratio: share of the device's readings that state `reason` for lower clocks. */
#define KWHY_DIGEST_THROTTLE(X, T) \
	X(T, INDEX, device)        \
	X(T, TEXT, reason)         \
	X(T, REAL, ratio)

#define KWHY_DIGEST_STEP(X, T) \
	X(T, TEXT, name)       \
	X(T, INT, start_ns)    \
	X(T, INT, host_ns)     \
	X(T, INT, busy_ns)     \
	X(T, INT, energy_nj)   \
	X(T, INT, window_nj)

#define KWHY_DIGEST_RANGE(X, T) \
	X(T, TEXT, name)        \
	X(T, TEXT, kind)        \
	X(T, INT, count)        \
	X(T, INT, host_ns)      \
	X(T, INT, device_ns)    \
	X(T, INT, busy_ns)      \
	X(T, INT, energy_nj)    \
	X(T, INT, window_nj)

#define KWHY_DIGEST_API(X, T) \
	X(T, TEXT, name)      \
	X(T, INT, count)      \
	X(T, INT, total_ns)

#define KWHY_DIGEST_WAIT(X, T) \
	X(T, INDEX, device)    \
	X(T, TEXT, reason)     \
	X(T, TEXT, kind)       \
	X(T, TEXT, name)       \
	X(T, TEXT, file)       \
	X(T, INT, line)        \
	X(T, INT, gaps)        \
	X(T, INT, time_ns)     \
	X(T, INT, longest_ns)

#define KWHY_DIGEST_COPY(X, T)  \
	X(T, INDEX, device)     \
	X(T, TEXT, direction)   \
	X(T, TEXT, source)      \
	X(T, TEXT, destination) \
	X(T, INDEX, size_class) \
	X(T, INT, count)        \
	X(T, INT, bytes)        \
	X(T, INT, total_ns)

#define KWHY_DIGEST_MEMORY(X, T)   \
	X(T, INDEX, device)        \
	X(T, INT, allocated_bytes) \
	X(T, INT, reserved_bytes)  \
	X(T, INT, device_bytes)

/* offset_ns: Unix time less the time of the machine's clock, known to within an interval of width_ns. */
#define KWHY_DIGEST_CLOCK(X, T) \
	X(T, TEXT, host)        \
	X(T, TEXT, boot)        \
	X(T, INT, offset_ns)    \
	X(T, INT, width_ns)

#define KWHY_DIGEST_LOST(X, T) \
	X(T, TEXT, what)       \
	X(T, INT, count)

#define KWHY_DIGEST_NOTE(X, T) \
	X(T, TEXT, id)         \
	X(T, TEXT, text)

#define KWHY_DIGEST_WORK(X, T) \
	X(T, TEXT, unit)       \
	X(T, REAL, amount)

/*
 * First the tables of a head (digest/heads.h), up to `device`, then those that joining reads, up to `lost`,
 * then those that are only displayed.
 */
#define KWHY_DIGEST_TABLES(X)                     \
	X(digest, KWHY_DIGEST_DIGEST)             \
	X(source, KWHY_DIGEST_SOURCE)             \
	X(device, KWHY_DIGEST_DEVICE)             \
	X(category, KWHY_DIGEST_CATEGORY)         \
	X(account, KWHY_DIGEST_ACCOUNT)           \
	X(finding, KWHY_DIGEST_FINDING)           \
	X(communicator, KWHY_DIGEST_COMMUNICATOR) \
	X(operation, KWHY_DIGEST_OPERATION)       \
	X(collective, KWHY_DIGEST_COLLECTIVE)     \
	X(meter, KWHY_DIGEST_METER)               \
	X(gauge, KWHY_DIGEST_GAUGE)               \
	X(throttle, KWHY_DIGEST_THROTTLE)         \
	X(lost, KWHY_DIGEST_LOST)                 \
	X(occurrence, KWHY_DIGEST_OCCURRENCE)     \
	X(step, KWHY_DIGEST_STEP)                 \
	X(range, KWHY_DIGEST_RANGE)               \
	X(api, KWHY_DIGEST_API)                   \
	X(wait, KWHY_DIGEST_WAIT)                 \
	X(copy, KWHY_DIGEST_COPY)                 \
	X(memory, KWHY_DIGEST_MEMORY)             \
	X(clock, KWHY_DIGEST_CLOCK)               \
	X(note, KWHY_DIGEST_NOTE)                 \
	X(work, KWHY_DIGEST_WORK)

#define KWHY_DIGEST_MEMBER(row, kind, column) KWHY_DIGEST_TYPE_##kind column;
#define X(name, list)                          \
	struct kwhy_digest_##name {            \
		list(KWHY_DIGEST_MEMBER, name) \
	};
KWHY_DIGEST_TABLES(X)
#undef X

enum kwhy_digest_kind { KWHY_DIGEST_INT, KWHY_DIGEST_INDEX, KWHY_DIGEST_REAL, KWHY_DIGEST_TEXT };

struct kwhy_digest_column {
	const char *name;
	enum kwhy_digest_kind kind;
	size_t offset; /* offset in the struct of a row, in bytes */
};

/* A table: its columns, and the offsets in struct kwhy_digest of its rows and of their number, in bytes. */
struct kwhy_digest_table {
	const char *name;
	const struct kwhy_digest_column *columns;
	size_t column_count, row_bytes;
	size_t rows_offset, count_offset;
};

extern const struct kwhy_digest_table kwhy_digest_tables[];
extern const size_t kwhy_digest_table_count;

#endif
