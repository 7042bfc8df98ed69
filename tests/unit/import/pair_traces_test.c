/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/pair_traces.h"

#include "cmocka_all.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int begin(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/kwhy-pair-traces-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	DIR *list = opendir(folder);
	char path[400];

	(void)state;
	for (struct dirent *entry = list ? readdir(list) : NULL; entry; entry = readdir(list)) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	if (list)
		closedir(list);
	return rmdir(folder);
}

static FILE *open_rank(unsigned rank)
{
	char path[400];
	FILE *file;

	snprintf(path, sizeof(path), "%s/rank_%u.pt.trace.json", folder, rank);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file,
		"{\"deviceProperties\": [{\"id\": %u, \"name\": \"NVIDIA H200\"}], \"traceEvents\": [\n"
		"{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#1\", \"pid\": 7, "
		"\"tid\": 7, "
		"\"ts\": 1, \"dur\": 1}",
		rank);
	return file;
}

/*
 * Writes a range of 100 us named `name` and, if kernel_us is above 0, a kernel of that length that is
 * launched inside the range.
 */
static void write_transfer(FILE *file, unsigned rank, const char *name, double at_us, double kernel_us)
{
	static unsigned correlation;

	fprintf(file,
		",\n{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"%s\", \"pid\": 7, \"tid\": 7, "
		"\"ts\": %.3f, "
		"\"dur\": 100}",
		name, at_us);
	if (!(kernel_us > 0))
		return;
	correlation++;
	fprintf(file,
		",\n{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 7, "
		"\"tid\": 7, "
		"\"ts\": %.3f, \"dur\": 3, \"args\": {\"correlation\": %u}}",
		at_us + 5, correlation);
	fprintf(file,
		",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_SendRecv\", \"pid\": %u, "
		"\"tid\": 20, "
		"\"ts\": %.3f, \"dur\": %.3f, \"args\": {\"device\": %u, \"stream\": 20, \"correlation\": "
		"%u}}",
		rank, at_us + 12, kernel_us, rank, correlation);
}

static void close_rank(FILE *file)
{
	fprintf(file, "\n]}\n");
	fclose(file);
}

static struct kwhy_pairs *read_folder(void)
{
	struct kwhy_pairs *pairs = NULL;
	struct kwhy_error error;

	assert_true(kwhy_pair_traces_is_one(folder));
	if (kwhy_import_pair_traces(folder, &pairs, &error))
		fail_msg("%s", error.text);
	return pairs;
}

static void a_transfer_takes_what_its_kernels_took_on_the_side_that_did_not_wait(void **state)
{
	FILE *sender = open_rank(0), *receiver = open_rank(1), *idle = open_rank(2);
	struct kwhy_pairs *pairs;

	(void)state;
	write_transfer(sender, 0, "p2p_cfg0003_s0d1_sz4096_r0", 1000, 8);
	write_transfer(receiver, 1, "p2p_cfg0003_s0d1_sz4096_r0", 5000, 60);
	write_transfer(idle, 2, "p2p_cfg0003_s0d1_sz4096_r0", 5000, 1);
	write_transfer(sender, 0, "p2p_cfg0003_s0d1_sz4096_r1", 2000, 40);
	write_transfer(receiver, 1, "p2p_cfg0003_s0d1_sz4096_r1", 6000, 9);
	write_transfer(receiver, 1, "p2p_cfg0007_s1d2_sz8_r0", 7000, 5);
	write_transfer(sender, 0, "p2p_cfg0008_s0d1_sz8_r0", 7000, 0);
	write_transfer(sender, 0, "p2p_cfg0009_s0d0_sz8_r0", 8000, 5);
	write_transfer(sender, 0, "p2p_cfg0009_s0d1_sz8_r0x", 9000, 5);
	close_rank(sender);
	close_rank(receiver);
	close_rank(idle);
	pairs = read_folder();
	assert_int_equal(pairs->gpu_count, 3);
	assert_string_equal(pairs->gpus[1].name, "NVIDIA H200");
	assert_int_equal(pairs->config_count, 9);
	assert_int_equal(pairs->configs[3].sample_count, 2);
	assert_float_equal(pairs->configs[3].samples[0].seconds, 8e-6, 1e-12);
	assert_float_equal(pairs->configs[3].samples[1].seconds, 9e-6, 1e-12);
	assert_int_equal(pairs->configs[3].bytes, 4096);
	assert_int_equal(pairs->configs[3].engine, KWHY_PAIR_NCCL);
	assert_int_equal(pairs->configs[3].clock, KWHY_PAIR_ISOLATED);
	assert_float_equal(pairs->configs[7].samples[0].seconds, 5e-6, 1e-12);
	assert_int_equal(pairs->configs[8].sample_count, 0);
	assert_int_equal(pairs->configs[0].sample_count, 0);
	assert_true(pairs->is_foreign);
	assert_non_null(strstr(pairs->notes[0], "waits"));
	kwhy_pairs_free(pairs);
}

static void without_kernels_it_is_the_host_s_time_and_says_so(void **state)
{
	FILE *sender = open_rank(0), *receiver = open_rank(1);
	struct kwhy_pairs *pairs;

	(void)state;
	write_transfer(sender, 0, "p2p_cfg0000_s0d1_sz1_r0", 1000, 0);
	write_transfer(receiver, 1, "p2p_cfg0000_s0d1_sz1_r0", 1500, 0);
	close_rank(sender);
	close_rank(receiver);
	pairs = read_folder();
	assert_int_equal(pairs->configs[0].clock, KWHY_PAIR_BY_HOST);
	assert_float_equal(pairs->configs[0].samples[0].seconds, 100e-6, 1e-12);
	assert_non_null(strstr(pairs->notes[0], "queueing"));
	assert_int_equal(pairs->note_count, 1);
	kwhy_pairs_free(pairs);
}

static void a_missing_trace_of_a_sender_is_noted(void **state)
{
	FILE *receiver = open_rank(0);
	struct kwhy_pairs *pairs;

	(void)state;
	write_transfer(receiver, 0, "p2p_cfg0000_s1d0_sz1_r0", 1500, 0);
	write_transfer(receiver, 0, "p2p_cfg0000_s1d0_sz1_r1", 2500, 0);
	write_transfer(receiver, 0, "p2p_cfg0001_s0d1_sz1_r0", 3500, 0);
	close_rank(receiver);
	pairs = read_folder();
	assert_int_equal(pairs->configs[0].sample_count, 2);
	assert_int_equal(pairs->note_count, 2);
	assert_string_equal(pairs->notes[1],
		"the sender's trace lacks 2 transfers: their times are of the receiver's range");
	kwhy_pairs_free(pairs);
}

static void other_traces_and_two_runs_in_one_folder_are_refused(void **state)
{
	FILE *sender = open_rank(0);
	struct kwhy_pairs *pairs;
	struct kwhy_error error;

	(void)state;
	close_rank(sender);
	assert_int_equal(kwhy_import_pair_traces(folder, &pairs, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "p2p_cfg<n>"));
	sender = open_rank(0);
	write_transfer(sender, 0, "p2p_cfg0000_s0d1_sz1_r0", 1000, 3);
	write_transfer(sender, 0, "p2p_cfg0000_s0d1_sz2_r1", 2000, 3);
	close_rank(sender);
	assert_int_equal(kwhy_import_pair_traces(folder, &pairs, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "both called p2p_cfg0000"));
	assert_false(kwhy_pair_traces_is_one("/nowhere"));
}

static void sides_of_two_transfers_of_one_number_are_no_transfer(void **state)
{
	FILE *one = open_rank(0), *other = open_rank(2);
	struct kwhy_pairs *pairs;
	struct kwhy_error error;

	(void)state;
	write_transfer(one, 0, "p2p_cfg0000_s0d1_sz8_r0", 1000, 30);
	write_transfer(other, 2, "p2p_cfg0000_s2d3_sz8_r0", 1000, 3);
	close_rank(one);
	close_rank(other);
	assert_int_equal(kwhy_import_pair_traces(folder, &pairs, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "both called p2p_cfg0000"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_transfer_takes_what_its_kernels_took_on_the_side_that_did_not_wait, begin, end),
		cmocka_unit_test_setup_teardown(
			without_kernels_it_is_the_host_s_time_and_says_so, begin, end),
		cmocka_unit_test_setup_teardown(a_missing_trace_of_a_sender_is_noted, begin, end),
		cmocka_unit_test_setup_teardown(
			other_traces_and_two_runs_in_one_folder_are_refused, begin, end),
		cmocka_unit_test_setup_teardown(
			sides_of_two_transfers_of_one_number_are_no_transfer, begin, end),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
