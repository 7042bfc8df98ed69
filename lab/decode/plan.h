/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_PLAN_H
#define KWHY_LAB_DECODE_PLAN_H

#include "lab/decode/bench.h"

/*
 * The inside of bench decode: what is asked for in words becomes the shape of `bench` and its rows, none of
 * which has been run: what they are to tell is unknown. `bench` has its prompt, tokens and beams already.
 * KWHY_E_USAGE for words that nobody knows, for lists that name nothing, and for more rows or slots than
 * there may be; `bench` may then have some of the rows, and is to be freed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_decode_plan(const struct kwhy_bench_decode_request *request,
	struct kwhy_bench_decode *bench, enum kwhy_decode_products *out_products, struct kwhy_error *error);

#endif
