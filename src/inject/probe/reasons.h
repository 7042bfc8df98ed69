/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_REASONS_H
#define KWHY_INJECT_PROBE_REASONS_H

/*
 * Reasons why launches are not probed. X(name, for_good, words): for_good is 1 if the reason holds for all
 * later launches of the account, which is then not tried again; `words` follow "not probed: " in a report.
 */
#define KWHY_PROBE_REASONS(X)                                                                        \
	X(NONE, 0, "the run ended before its turn, or it is one of many small ones")                 \
	X(KNOWN, 1, "its power is known from the recording that is carried on")                      \
	X(COLLECTIVE, 1, "it waits for other devices (a collective, a send or a receive)")           \
	X(WAITS, 1, "it only waits")                                                                 \
	X(SKIPPED, 1, "--skip names it")                                                             \
	X(COOPERATIVE, 0, "it is launched cooperatively")                                            \
	X(CAPTURED, 0, "it is launched under capture")                                               \
	X(GRAPH, 0, "a graph launches it, and it may take addresses or counts from memory")          \
	X(GRAPH_CHANGED, 0, "a graph launches it, and a change of that graph could not be followed") \
	X(PARAMETERS, 0, "the driver does not report its parameters (it does since CUDA 12.4)")      \
	X(MANAGED, 0, "it reaches managed memory")                                                   \
	X(HOST, 0, "it reaches memory of the host")                                                  \
	X(PAGEABLE, 0, "it copies from memory of the host that is not pinned")                       \
	X(SHARED, 0, "it reaches memory shared with another process")                                \
	X(PEER, 0, "it reaches memory of another device")                                            \
	X(RANGES_MANY, 0, "it reaches more allocations than can be kept")                            \
	X(UNKNOWN, 0, "it reaches memory of an unknown kind")                                        \
	X(MEMORY, 0, "--memory is too small to copy twice what it reaches")                          \
	X(WRITES, 0, "each launch writes elsewhere")                                                 \
	X(HIDDEN, 1, "it writes memory that none of its parameters points to")                       \
	X(BUSY, 0, "the device did not become idle before it")                                       \
	X(STREAMS_MANY, 0, "the program has more streams than can be watched")                       \
	X(CONTEXT, 0, "the memory for the copies could not be prepared")                             \
	X(FAILED, 1, "a call of the driver failed")

enum kwhy_probe_reason {
#define X(name, for_good, words) KWHY_PROBE_##name,
	KWHY_PROBE_REASONS(X)
#undef X
		KWHY_PROBE_REASON_COUNT
};

const char *kwhy_probe_reason_words(enum kwhy_probe_reason reason);

#endif
