/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/detect.h"

#include "base/text.h"
#include "detect/families.h"
#include "detect/view.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The table of detectors (docs/findings.md): id, title, default cure, function, thresholds with default
 * values.
 */
const struct kwhy_detector kwhy_detectors[] = {
	{"small-copies", "Small copies",
		"pack them into one buffer and copy that once, or let kernels read mapped memory",
		kwhy_detect_small_copies,
		{{"max_bytes", 65536, "bytes; copies below are small"},
			{"min_count", 16, "copies; fewer are nothing"}}},
	{"scalar-readbacks", "Scalar read-backs",
		"keep the value on the device, or read many together, asynchronously and later",
		kwhy_detect_scalar_readbacks,
		{{"max_bytes", 64, "bytes; copies up to this are scalars"},
			{"min_count", 4, "read-backs; fewer are nothing"}}},
	{"pageable-copies", "Pageable copies",
		"allocate host buffers pinned (cudaHostAlloc, pin_memory) and copy with non_blocking",
		kwhy_detect_pageable_copies, {{"min_count", 1, "copies; fewer are nothing"}}},
	{"redundant-syncs", "Redundant waits", "drop waits that follow a wait with no work between",
		kwhy_detect_redundant_syncs, {{"min_count", 2, "waits; fewer are nothing"}}},
	{"sync-after-every-op", "A wait after every operation",
		"let the stream keep the order and wait once, where the host needs the result",
		kwhy_detect_sync_after_every_op,
		{{"min_share", 0.5, "share of a thread's operations that it waits for immediately"},
			{"min_count", 16, "waits; fewer are nothing"},
			{"spacing_us", 100, "us; the host is elsewhere in intervals this long"}}},
	{"launch-bound", "Launch-bound",
		"capture the loop in a CUDA graph, fuse small operations (torch.compile), or launch further "
		"ahead",
		kwhy_detect_launch_bound,
		{{"spacing_us", 100, "us; launches this close belong together"},
			{"min_count", 16, "gaps; fewer are nothing"}}},
	{"tiny-kernel-chains", "Chains of tiny kernels",
		"fuse them (torch.compile, one hand-written kernel) or capture them in a graph",
		kwhy_detect_tiny_kernel_chains,
		{{"max_kernel_us", 10, "us; kernels below are tiny"},
			{"max_gap_us", 20, "us; a longer pause ends a chain"},
			{"min_length", 8, "kernels; fewer in a row are no chain"}}},
	{"under-filled-kernels", "Under-filled kernels",
		"give each launch more blocks: larger batch, several problems a launch, split-K, several "
		"streams",
		kwhy_detect_under_filled_kernels,
		{{"max_fill", 0.5, "ratio of blocks to multiprocessors; kernels below are under-filled"},
			{"min_kernel_us", 2, "us; shorter kernels are bound by their launch"}}},
	{"slow-kernels", "Slow kernels",
		"use another implementation: fused (torch.compile, FlashAttention), a layout that memory "
		"reads in order (channels_last, contiguous), sizes that are multiples of 8",
		kwhy_detect_slow_kernels,
		{{"max_ratio", 0.5,
			 "ratio of the least time at the device's peaks to the measured time; kernels "
			 "below are slow"},
			{"min_us", 20, "us; shorter work is bound by its launch"}}},
	{"batch-could-grow", "Batch could grow", "raise the batch until memory or latency binds",
		kwhy_detect_batch_could_grow,
		{{"max_fill", 0.5, "ratio of blocks to multiprocessors; kernels below are under-filled"},
			{"min_free", 0.5, "share of the memory that was never used"}}},
	{"allocation-churn", "Allocation churn",
		"allocate once and reuse (pool, caching allocator); do not empty the cache in a loop",
		kwhy_detect_allocation_churn,
		{{"min_count", 4, "calls between work; fewer are nothing"},
			{"empty_run", 3, "frees in a row that count as a cache being emptied"}}},
	{"memset-churn", "Memset churn", "clear once, or let the kernel that fills the buffer write zeros",
		kwhy_detect_memset_churn, {{"min_count", 16, "memsets; fewer are nothing"}}},
	{"unoverlapped-copies", "Unoverlapped copies",
		"copy from pinned memory in a stream of its own, one batch ahead (double buffering)",
		kwhy_detect_unoverlapped_copies,
		{{"min_bytes", 65536, "bytes; smaller copies do not count"}}},
	{"round-trips", "Round trips", "keep the data on the device", kwhy_detect_round_trips,
		{{"min_bytes", 256, "bytes; smaller copies do not count"},
			{"max_gap_us", 10000, "us between the copies; later ones are other data"}}},
	{"staged-peer-copies", "Staged peer copies",
		"copy directly between the devices (peer access, NCCL send/recv)",
		kwhy_detect_staged_peer_copies,
		{{"min_bytes", 65536, "bytes; smaller copies do not count"},
			{"max_gap_us", 10000, "us between the copies; later ones are other data"},
			{"min_count", 4, "pairs; fewer may be chance"}}},
	{"exposed-collectives", "Exposed collectives",
		"start collectives earlier, in buckets, on a stream of their own, concurrently with compute",
		kwhy_detect_exposed_collectives, {{"min_count", 1, "collectives; fewer are nothing"}}},
	{"rank-imbalance", "Imbalance", "give each device the same work: balance batches, layers or domains",
		kwhy_detect_rank_imbalance,
		{{"min_share", 0.05, "share of the slowest device's compute time beyond the mean"},
			{"straggler_share", 0.02,
				"share of the slowest device's time beyond the mean of the others, who are "
				"alike"}}},
	{"host-gaps", "Host gaps",
		"move what the host does there out of the loop: input to worker threads ahead of time, text "
		"and "
		"logging to another thread, compiling to the start (the same shapes in each step)",
		kwhy_detect_host_gaps,
		{{"min_us", 100, "us; shorter pauses between calls belong to launching"},
			{"max_ms", 1000, "ms; longer idle intervals are idle-context"}}},
	{"late-starts", "Late starts",
		"find what holds the device back: another program on it, an event that the stream waits for, "
		"modules loaded at first use (CUDA_MODULE_LOADING=EAGER), managed memory that moves",
		kwhy_detect_late_starts,
		{{"min_count", 2, "times; fewer are nothing"},
			{"max_ms", 1000, "ms; longer idle intervals are idle-context"}}},
	{"idle-context", "Idle context", "release the device, or share it, while there is nothing to do",
		kwhy_detect_idle_context, {{"min_ms", 1000, "ms; shorter idle intervals do not count"}}},
	{"fp32-matmul", "FP32 matrix products",
		"allow TF32 (allow_tf32, cublasSetMathMode) or use BF16 or FP16 where the result allows it",
		kwhy_detect_fp32_matmul,
		{{"max_tensor_share", 0.5, "share of product time on tensor cores; above, silent"}}},
	{"layout-transforms", "Layout transforms",
		"give model and input the layout that the convolutions use: "
		"to(memory_format=torch.channels_last)",
		kwhy_detect_layout_transforms, {{"min_count", 4, "kernels; fewer are nothing"}}},
	{"unfused-attention", "Unfused attention",
		"compute it by scaled_dot_product_attention (in transformers: attn_implementation=\"sdpa\")",
		kwhy_detect_unfused_attention, {{"min_count", 2, "times; fewer are nothing"}}},
	{"growing-caches", "Growing caches",
		"allocate the cache once, at its full length, and write into it "
		"(cache_implementation=\"static\"), which also lets graphs capture the loop",
		kwhy_detect_growing_caches,
		{{"min_count", 16, "times that a cache grows by what is appended; fewer are nothing"}}},
	{"host-limited-steps", "Host-limited steps",
		"do more work in each step: a larger batch; this changes the numerical results",
		kwhy_detect_host_limited_steps,
		{{"min_share", 0.5, "share of the steps' time that the device waits for launches"},
			{"spacing_us", 100, "us; the host is elsewhere in intervals this long"}}},
	{"dense-on-sparse", "Dense work on sparse data", "work on the sparse form (gather, cuSPARSE SpMM)",
		kwhy_detect_dense_on_sparse, {{"min_count", 1, "kernels; fewer are nothing"}}},
};

const size_t kwhy_detector_count = sizeof(kwhy_detectors) / sizeof(kwhy_detectors[0]);

enum { DETECTOR_COUNT = sizeof(kwhy_detectors) / sizeof(kwhy_detectors[0]) };

struct kwhy_detect_options kwhy_detect_options_default(void)
{
	return (struct kwhy_detect_options){.min_gain_ratio = 0.01, .evidence_limit = 5};
}

double kwhy_detect_threshold(const struct kwhy_detect_context *context, const char *name)
{
	const struct kwhy_threshold *thresholds = context->detector->thresholds;

	for (size_t t = 0; t < KWHY_DETECTOR_THRESHOLDS && thresholds[t].name; t++)
		if (!strcmp(thresholds[t].name, name))
			return context->thresholds[t];
	return NAN;
}

struct settings {
	double values[DETECTOR_COUNT][KWHY_DETECTOR_THRESHOLDS];
};

static struct settings default_settings(void)
{
	struct settings settings = {{{0}}};

	for (size_t d = 0; d < DETECTOR_COUNT; d++)
		for (size_t t = 0; t < KWHY_DETECTOR_THRESHOLDS; t++)
			settings.values[d][t] = kwhy_detectors[d].thresholds[t].value;
	return settings;
}

static enum kwhy_status fail_with_choices(
	const char *given, const struct kwhy_detector *detector, struct kwhy_error *error)
{
	struct kwhy_text choices = {0};

	for (size_t d = 0; !detector && d < DETECTOR_COUNT; d++)
		kwhy_text_addf(&choices, "%s%s", d ? ", " : "", kwhy_detectors[d].id);
	for (size_t t = 0; detector && t < KWHY_DETECTOR_THRESHOLDS && detector->thresholds[t].name; t++)
		kwhy_text_addf(&choices, "%s%s (%s)", t ? ", " : "", detector->thresholds[t].name,
			detector->thresholds[t].description);
	kwhy_error_set(error, KWHY_E_USAGE, "--threshold %.60s: no such %s; choose %s", given,
		detector ? "threshold of that finding" : "finding", choices.data ? choices.data : "another");
	kwhy_text_done(&choices);
	return KWHY_E_USAGE;
}

static bool is_word(const char *word, const char *text, size_t length)
{
	return strlen(word) == length && !strncmp(word, text, length);
}

static enum kwhy_status read_value(const char *given, const char *text, double *out, struct kwhy_error *error)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || *end != '\0' || errno == ERANGE || !isfinite(value) || value < 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--threshold %.60s: \"%.40s\" is not a number of at least 0; write ID.NAME=VALUE, "
			"for example small-copies.max_bytes=4096",
			given, text);
	*out = value;
	return KWHY_OK;
}

static enum kwhy_status set_threshold(struct settings *settings, const char *given, struct kwhy_error *error)
{
	size_t id_length = strcspn(given, ".="), name_length, d = 0, t = 0;
	const char *name = given + id_length + (given[id_length] == '.');

	while (d < DETECTOR_COUNT && !is_word(kwhy_detectors[d].id, given, id_length))
		d++;
	if (d == DETECTOR_COUNT)
		return fail_with_choices(given, NULL, error);
	name_length = strcspn(name, "=");
	while (t < KWHY_DETECTOR_THRESHOLDS && kwhy_detectors[d].thresholds[t].name &&
		!is_word(kwhy_detectors[d].thresholds[t].name, name, name_length))
		t++;
	if (t == KWHY_DETECTOR_THRESHOLDS || !kwhy_detectors[d].thresholds[t].name)
		return fail_with_choices(given, &kwhy_detectors[d], error);
	return read_value(
		given, name + name_length + (name[name_length] == '='), &settings->values[d][t], error);
}

static enum kwhy_status run_on_device(struct kwhy_detect_context *context, const struct settings *settings)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t d = 0; !status && d < DETECTOR_COUNT; d++) {
		context->detector = &kwhy_detectors[d];
		context->thresholds = settings->values[d];
		status = kwhy_detectors[d].run(context);
	}
	return status;
}

/*
 * Runs all detectors for each device with activities, and for the first device even without: detectors that
 * compare all devices do so only in their call for the first one.
 */
static enum kwhy_status run_all(struct kwhy_detect_context *context, const struct settings *settings)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t d = 0; !status && d < context->recording->device_count; d++) {
		const struct kwhy_device_view *seen = &context->view->devices[d];

		context->device = (uint32_t)d;
		if (d == 0 || seen->begin < seen->end)
			status = run_on_device(context, settings);
	}
	return status;
}

static bool all_energies_known(const struct kwhy_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].saving.energy_nj == KWHY_UNKNOWN_NJ)
			return false;
	return true;
}

/*
 * Order of findings with equal savings: by device, then by id, so that the result does not depend on the
 * sort algorithm.
 */
static int by_occurrence(const struct kwhy_finding *left, const struct kwhy_finding *right)
{
	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	return strcmp(left->id, right->id);
}

static int by_energy(const void *a, const void *b)
{
	const struct kwhy_finding *left = a, *right = b;

	if (left->leads != right->leads)
		return left->leads ? -1 : 1;
	if (left->saving.energy_nj != right->saving.energy_nj)
		return left->saving.energy_nj < right->saving.energy_nj ? 1 : -1;
	return by_occurrence(left, right);
}

static int by_time(const void *a, const void *b)
{
	const struct kwhy_finding *left = a, *right = b;

	if (left->leads != right->leads)
		return left->leads ? -1 : 1;
	if (left->saving.time_ns != right->saving.time_ns)
		return left->saving.time_ns < right->saving.time_ns ? 1 : -1;
	return by_occurrence(left, right);
}

/* Sorts by energy if all findings have a known energy, else all by time. */
void kwhy_findings_sort(struct kwhy_findings *findings)
{
	if (findings->count > 1)
		qsort(findings->items, findings->count, sizeof(*findings->items),
			all_energies_known(findings) ? by_energy : by_time);
}

static enum kwhy_status detect_into(struct kwhy_findings *findings, const struct kwhy_detect_context *base,
	const struct settings *settings)
{
	struct kwhy_detect_context context = *base;
	struct kwhy_detect_view view;
	enum kwhy_status status;

	status = kwhy_detect_view_init(&view, base->recording, base->ledger, base->error);
	if (status)
		return status;
	context.view = &view;
	context.findings = findings;
	status = run_all(&context, settings);
	kwhy_detect_view_done(&view);
	if (!status)
		kwhy_findings_sort(findings);
	return status;
}

enum kwhy_status kwhy_detect_run(const struct kwhy_recording *recording, const struct kwhy_ledger *ledger,
	const struct kwhy_profile *profile, const struct kwhy_detect_options *options,
	struct kwhy_findings **out, struct kwhy_error *error)
{
	struct settings settings = default_settings();
	struct kwhy_detect_context base = {
		.recording = recording,
		.ledger = ledger,
		.profile = profile,
		.options = options,
		.error = error,
	};
	struct kwhy_findings *findings;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < options->threshold_count; i++)
		status = set_threshold(&settings, options->thresholds[i], error);
	if (status)
		return status;
	findings = calloc(1, sizeof(*findings));
	if (!findings)
		return kwhy_fail_memory(error, "findings");
	status = detect_into(findings, &base, &settings);
	if (status) {
		kwhy_findings_free(findings);
		return status;
	}
	*out = findings;
	return KWHY_OK;
}

void kwhy_findings_free(struct kwhy_findings *findings)
{
	if (!findings)
		return;
	free(findings->items);
	kwhy_arena_done(&findings->arena);
	free(findings);
}
