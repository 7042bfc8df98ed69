/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_FAMILIES_H
#define KWHY_DETECT_FAMILIES_H

#include "detect/detect.h"

/*
 * The functions of the detectors, called for each device through the table kwhy_detectors. The comments name
 * the file that contains them.
 */

/* in copies.c: */
enum kwhy_status kwhy_detect_small_copies(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_pageable_copies(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_unoverlapped_copies(const struct kwhy_detect_context *context);
/* in round_trips.c: */
enum kwhy_status kwhy_detect_round_trips(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_staged_peer_copies(const struct kwhy_detect_context *context);
/* in waits.c: */
enum kwhy_status kwhy_detect_scalar_readbacks(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_redundant_syncs(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_sync_after_every_op(const struct kwhy_detect_context *context);
/* in host.c: */
enum kwhy_status kwhy_detect_launch_bound(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_late_starts(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_host_gaps(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_idle_context(const struct kwhy_detect_context *context);
/* in kernels.c: */
enum kwhy_status kwhy_detect_tiny_kernel_chains(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_under_filled_kernels(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_batch_could_grow(const struct kwhy_detect_context *context);
/*
 * Share of the device's multiprocessors that get a block of the kernel if each gets at most one; 1 if the row
 * is no kernel, or its grid or the number of multiprocessors is unknown.
 */
double kwhy_detect_fill_ratio(const struct kwhy_recording *recording, size_t row);
/* in slow_kernels.c: */
enum kwhy_status kwhy_detect_slow_kernels(const struct kwhy_detect_context *context);
/* in kernel_names.c: */
/* Whether the kernel's name is that of a matrix product on tensor cores. */
bool kwhy_detect_is_tensor_kernel(const struct kwhy_detect_view *view, size_t row);
/*
 * Whether the kernel's name is that of a matrix product: one on FP32 units or tensor cores, or any other that
 * contains "gemm".
 */
bool kwhy_detect_is_product(const struct kwhy_detect_view *view, size_t row);
enum kwhy_status kwhy_detect_fp32_matmul(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_dense_on_sparse(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_layout_transforms(const struct kwhy_detect_context *context);
/* in operators.c: */
enum kwhy_status kwhy_detect_unfused_attention(const struct kwhy_detect_context *context);
/* in caches.c: */
enum kwhy_status kwhy_detect_growing_caches(const struct kwhy_detect_context *context);
/* in steps.c: */
enum kwhy_status kwhy_detect_host_limited_steps(const struct kwhy_detect_context *context);
/* in memory.c: */
enum kwhy_status kwhy_detect_allocation_churn(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_memset_churn(const struct kwhy_detect_context *context);
/* in collectives.c: */
enum kwhy_status kwhy_detect_exposed_collectives(const struct kwhy_detect_context *context);
enum kwhy_status kwhy_detect_rank_imbalance(const struct kwhy_detect_context *context);

#endif
