/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_BENCH_MADE_PAIRS_H
#define KWHY_TESTS_UNIT_BENCH_MADE_PAIRS_H

#include "cmocka_all.h"
#include "pairs/analysis.h"

enum { MADE_SAMPLES = 12 };

/*
 * Returns pairs of two GPUs on different NUMA nodes with known times. A write from GPU 0 to GPU 1 takes 2
 * us plus the time of its bytes at 400 GB/s; its call takes 1 us. A put (a write by a kernel of GPU 0)
 * takes 1.5 us instead of 2. The opposite direction takes 20 % longer. Each configuration has MADE_SAMPLES
 * samples, which differ by at most 0.02 %. `with_random` adds 8 sizes that are not used in fits. Free the
 * result with kwhy_pairs_free().
 */
struct kwhy_pairs *made_pairs(bool with_random);
/*
 * Returns the pairs of made_pairs() with all conclusions that kwhy draws from them. Free with
 * kwhy_pairs_free().
 */
struct kwhy_pairs *concluded_pairs(bool with_random);
/* Returns the time of one transfer of a configuration of made_pairs(), s. */
double made_pair_s(const struct kwhy_pair_config *config);

#endif
