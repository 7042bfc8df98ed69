/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_BENCH_MADE_PAIRS_H
#define KWHY_TESTS_UNIT_BENCH_MADE_PAIRS_H

#include "cmocka_all.h"
#include "pairs/analysis.h"

enum { MADE_SAMPLES = 12 };

/*
 * Pairs of two GPUs on different NUMA nodes whose times are known: 2 us + bytes / 400 GB/s for a write from
 * GPU 0 to 1, 1 us of it in the call, 1.5 us for a put, all 20 % longer in the opposite direction;
 * MADE_SAMPLES of each, at most 0.02 % apart; with_random: besides at 8 sizes that nothing is fitted to. Free
 * with kwhy_pairs_free().
 */
struct kwhy_pairs *made_pairs(bool with_random);
/* The same with what is concluded from them. */
struct kwhy_pairs *concluded_pairs(bool with_random);
/* What one of its transfers takes. */
double made_pair_s(const struct kwhy_pair_config *config);

#endif
