/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "detect/detect.h"
#include "import/import.h"
#include "ledger/ledger_new.h"
#include "ok.h"
#include "traces.h"

#include <stdio.h>
#include <string.h>

/* Tests the detectors of kwhy report on recorded traces whose waste is known. */

static struct kwhy_error error;

struct analysis {
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;
	struct kwhy_findings *findings;
};

static struct analysis analyse(const char *trace, const char *power, double min_gain_ratio)
{
	struct kwhy_import_options import = {0};
	struct kwhy_ledger_options device_ledger = kwhy_ledger_options_default();
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct analysis analysis;

	if (!strncmp(trace, TRACES, strlen(TRACES)))
		need_traces();
	OK(kwhy_recording_new(&analysis.recording, &error));
	OK(kwhy_import_trace(analysis.recording, trace, &import, &error));
	if (power)
		OK(kwhy_import_power(analysis.recording, power, &import, &error));
	OK(kwhy_recording_finish(analysis.recording, &error));
	OK(kwhy_ledger_new(analysis.recording, &device_ledger, &analysis.ledger, &error));
	options.min_gain_ratio = min_gain_ratio;
	OK(kwhy_detect_run(analysis.recording, analysis.ledger, NULL, &options, &analysis.findings, &error));
	return analysis;
}

static void done(struct analysis *analysis)
{
	kwhy_findings_free(analysis->findings);
	kwhy_ledger_free(analysis->ledger);
	kwhy_recording_free(analysis->recording);
}

/*
 * Returns the finding with this id that is about the device with this index in the trace, or about all
 * devices; NULL: there is none.
 */
static const struct kwhy_finding *find(const struct analysis *analysis, const char *id, int32_t index)
{
	for (size_t i = 0; i < analysis->findings->count; i++) {
		const struct kwhy_finding *finding = &analysis->findings->items[i];

		if (!strcmp(finding->id, id) &&
			(finding->device == KWHY_NONE ||
				analysis->recording->devices[finding->device].index == index))
			return finding;
	}
	return NULL;
}

static double share_of_span(const struct analysis *analysis, const struct kwhy_finding *finding)
{
	return (double)finding->time_ns / (double)analysis->ledger->devices[finding->device].time.span_ns;
}

static void cloverleaf_waits_after_every_operation_and_copies_from_pageable_memory(void **state)
{
	struct analysis analysis = analyse(TRACES "nsys-a100-cloverleaf.sqlite", NULL, 0.01);
	const struct kwhy_finding *finding = find(&analysis, "sync-after-every-op", 0);

	(void)state;
	assert_non_null(finding);
	/* 1,312 kernels, each with its own cudaDeviceSynchronize(), and 279 blocking copies */
	assert_int_equal(finding->count, 1312 + 279);
	finding = find(&analysis, "pageable-copies", 0);
	assert_non_null(finding);
	assert_int_equal(finding->count, 279);
	assert_true(finding->time_ns >
		9390923); /* more than the copies' own time, as idle time inside their calls is added */
	/* the only slow one of the 76 cudaMalloc() calls creates the context, before all device work */
	assert_null(find(&analysis, "allocation-churn", 0));
	done(&analysis);
}

/*
 * In each of the three steps of this trace, DistributedDataParallel broadcasts buffers and splits them on the
 * host, for which the device waits. The first finding must name the operator and the forward function.
 */
static void the_first_finding_of_the_a100_names_the_operator_and_the_forward_of_ddp(void **state)
{
	struct analysis analysis = analyse(TRACES "kineto-a100-nccl.json.gz", NULL, 0.01);
	const char *steps[] = {"ProfilerStep#4", "ProfilerStep#5", "ProfilerStep#6"};
	const char *held = "aten::unflatten_dense_tensors of DistributedDataParallel.forward";
	const struct kwhy_finding *finding = &analysis.findings->items[0];

	(void)state;
	assert_string_equal(finding->id, "host-gaps");
	assert_non_null(strstr(finding->title, held));
	assert_non_null(strstr(finding->cure, "DDP(broadcast_buffers=False)"));
	for (size_t i = 0; i < 3; i++) {
		assert_non_null(strstr(finding->evidence[i].what, held));
		assert_non_null(strstr(finding->evidence[i].what, steps[i]));
	}
	done(&analysis);
}

static void without_a_least_gain_cloverleaf_shows_its_allocations_between_work(void **state)
{
	struct analysis analysis = analyse(TRACES "nsys-a100-cloverleaf.sqlite", NULL, 0);
	const struct kwhy_finding *finding = find(&analysis, "allocation-churn", 0);

	(void)state;
	assert_non_null(finding);
	/* the calls of cudaMalloc() and cudaFree() after the first activity */
	assert_in_range(finding->count, 43, 43 + 68);
	done(&analysis);
}

static void two_h100_expose_their_collectives_and_copy_eight_bytes_from_pageable_memory(void **state)
{
	struct analysis analysis = analyse(TRACES "nsys-2xh100-before.sqlite", NULL, 0);

	(void)state;
	for (int32_t i = 0; i < 2; i++) {
		const struct kwhy_finding *finding = find(&analysis, "pageable-copies", i);

		assert_non_null(finding);
		assert_int_equal(finding->count, 17);
		assert_non_null(find(&analysis, "exposed-collectives", i));
	}
	/* the loop has checked that both devices have this finding */
	assert_int_equal(find(&analysis, "exposed-collectives", 0)->time_ns, 17172652);
	assert_null(find(&analysis, "staged-peer-copies", 0));
	done(&analysis);
}

static void mi300_exposes_its_collectives(void **state)
{
	struct analysis analysis = analyse(TRACES "kineto-mi300-resnet.json.gz", NULL, 0.01);
	const struct kwhy_finding *finding = find(&analysis, "exposed-collectives", 2);

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->count, 13); /* four more collectives are exposed for 2/5 of their time only,
						 which is too little to count */
	assert_int_equal(finding->time_ns, 55625224);
	/*
	 * saving: at most the computing time (25.7 ms) less the part of it (15.9 ms) that hides collectives
	 * already
	 */
	assert_true(finding->saving.time_ns <= 25739303 - 15891299);
	assert_null(find(&analysis, "pageable-copies", 2));
	done(&analysis);
}

/*
 * ResNet traces whose operators have shapes: batch norms are slow on a V100 and convolutions on an MI300X.
 */
static void slow_kernels_are_named_by_their_operators(void **state)
{
	struct analysis v100 = analyse(TRACES "kineto-v100-2021-format.json.gz", NULL, 0.001);
	struct analysis mi300 = analyse(TRACES "kineto-mi300-resnet.json.gz", NULL, 0.001);

	(void)state;
	assert_non_null(
		strstr(find(&v100, "slow-kernels", 0)->title, "aten::cudnn_batch_norm_backward: 390 GB/s"));
	assert_non_null(strstr(find(&mi300, "slow-kernels", 2)->title, "aten::convolution_backward"));
	done(&v100);
	done(&mi300);
}

static void without_shapes_or_counters_no_kernel_is_called_slow(void **state)
{
	static const char *const traces[] = {TRACES "kineto-a100-nccl.json.gz",
		TRACES "nsys-2xh100-before.sqlite", TRACES "nsys-a100-cloverleaf.sqlite",
		TRACES "nsys-gtx1060-concurrent.sqlite"};

	(void)state;
	for (size_t i = 0; i < sizeof(traces) / sizeof(*traces); i++) {
		struct analysis analysis = analyse(traces[i], NULL, 0);

		assert_null(find(&analysis, "slow-kernels", 0));
		done(&analysis);
	}
}

static void gtx1060_allocates_pinned_memory_between_its_work(void **state)
{
	struct analysis analysis = analyse(TRACES "nsys-gtx1060-concurrent.sqlite", NULL, 0.01);

	(void)state;
	assert_non_null(find(&analysis, "allocation-churn", 0));
	assert_non_null(find(&analysis, "unoverlapped-copies", 0));
	assert_null(find(&analysis, "launch-bound", 0));
	done(&analysis);
}

static void a_generate_loop_is_launch_bound_and_that_costs_most_of_its_energy(void **state)
{
	struct analysis analysis = analyse(
		EXAMPLES "h200-decode/trace.json.zst", EXAMPLES "h200-decode/power.csv", 0.01);
	const struct kwhy_finding *finding = find(&analysis, "launch-bound", 0);

	(void)state;
	assert_non_null(finding);
	assert_ptr_equal(finding, &analysis.findings->items[0]);
	assert_true(share_of_span(&analysis, finding) > 0.5);
	assert_true(finding->energy_nj > 0);
	assert_true(finding->energy_nj < analysis.ledger->devices[0].energy.measured_nj);
	done(&analysis);
}

/*
 * The saving of this finding is close to 1 % of the run, the default minimum. With that, the random draws of
 * the ledger would decide whether it is found, so here the minimum is 0.
 */
static void without_a_least_gain_a_generate_loop_reads_a_scalar_each_token(void **state)
{
	struct analysis analysis = analyse(
		EXAMPLES "h200-decode/trace.json.zst", EXAMPLES "h200-decode/power.csv", 0);
	const struct kwhy_finding *readbacks = find(&analysis, "scalar-readbacks", 0);

	(void)state;
	assert_non_null(readbacks);
	assert_int_equal(readbacks->count, 1048);
	done(&analysis);
}

static void a_training_loop_reads_a_scalar_and_copies_pageable_memory_each_step(void **state)
{
	struct analysis analysis = analyse(
		EXAMPLES "h200-train/trace.json.zst", EXAMPLES "h200-train/power.csv", 0.01);
	const struct kwhy_finding *readbacks = find(&analysis, "scalar-readbacks", 0);
	const struct kwhy_finding *copies = find(&analysis, "pageable-copies", 0);

	(void)state;
	assert_non_null(readbacks);
	assert_non_null(copies);
	/* two scalars per step: the loss and the gradient scaler's overflow flag */
	assert_int_equal(readbacks->count, 2 * 1216);
	assert_true(copies->count >= 1216);
	assert_true(copies->energy_nj > 0);
	assert_non_null(find(&analysis, "launch-bound", 0));
	assert_null(find(&analysis, "exposed-collectives", 0));
	done(&analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cloverleaf_waits_after_every_operation_and_copies_from_pageable_memory),
		cmocka_unit_test(the_first_finding_of_the_a100_names_the_operator_and_the_forward_of_ddp),
		cmocka_unit_test(without_a_least_gain_cloverleaf_shows_its_allocations_between_work),
		cmocka_unit_test(two_h100_expose_their_collectives_and_copy_eight_bytes_from_pageable_memory),
		cmocka_unit_test(mi300_exposes_its_collectives),
		cmocka_unit_test(slow_kernels_are_named_by_their_operators),
		cmocka_unit_test(without_shapes_or_counters_no_kernel_is_called_slow),
		cmocka_unit_test(gtx1060_allocates_pinned_memory_between_its_work),
		cmocka_unit_test(a_generate_loop_is_launch_bound_and_that_costs_most_of_its_energy),
		cmocka_unit_test(without_a_least_gain_a_generate_loop_reads_a_scalar_each_token),
		cmocka_unit_test(a_training_loop_reads_a_scalar_and_copies_pageable_memory_each_step),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
