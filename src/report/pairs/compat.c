/* SPDX-License-Identifier: Apache-2.0 */
#include "report/pairs/compat.h"

#include "report/transfers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NVBANDWIDTH_BYTES (UINT64_C(512) << 20) /* bytes of a copy, nvbandwidth's default */
#define NVBANDWIDTH_COPIES 16
#define P2P_BYTES UINT64_C(160000000) /* bytes of a copy in p2pBandwidthLatencyTest: 40,000,000 ints */
#define P2P_LATENCY_BYTES UINT64_C(16)

static const struct kwhy_pair_config *find(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine,
	enum kwhy_pair_clock clock, uint32_t source, uint32_t target, uint64_t bytes)
{
	const struct kwhy_pair_config key = {
		.engine = engine, .clock = clock, .source = source, .target = target, .bytes = bytes};

	return kwhy_pairs_find(pairs, &key);
}

static bool is_timed(
	const struct kwhy_pair_config *config, enum kwhy_pair_engine engine, enum kwhy_pair_clock clock)
{
	return config->sample_count && config->engine == engine && config->load == KWHY_PAIR_ALONE &&
		config->clock == clock;
}

static bool is_back_to_back(const struct kwhy_pair_config *config, enum kwhy_pair_engine engine)
{
	return is_timed(config, engine, KWHY_PAIR_BACK_TO_BACK);
}

/*
 * The largest size in bytes, at most `most`, of which an engine's transfers were timed back to back without
 * other load; 0: there is none.
 */
static uint64_t largest(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine, uint64_t most)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (is_back_to_back(config, engine) && config->bytes <= most && config->bytes > bytes)
			bytes = config->bytes;
	}
	return bytes;
}

static double middle(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

static double cut_rate(const struct kwhy_pair_config *config, size_t sample)
{
	double whole_us = floor(config->samples[sample].seconds * NVBANDWIDTH_COPIES * 1e6);

	return (double)config->bytes * NVBANDWIDTH_COPIES / whole_us * 1e-3;
}

/*
 * Rate in one direction, GB/s, as nvbandwidth computes it: the median of three samples, each with the time of
 * 16 copies rounded down to whole microseconds. The samples are the first three of `config`, scaled to 16
 * copies. NAN: there are fewer.
 */
static double nvbandwidth_gb_per_s(const struct kwhy_pair_config *config)
{
	if (!config || config->sample_count < 3)
		return NAN;
	return middle(cut_rate(config, 0), cut_rate(config, 1), cut_rate(config, 2));
}

/*
 * Median time in s of a copy of `bytes` bytes from source to target, copies back to back. If this size was
 * not measured, the time is interpolated linearly between the next smaller and the next larger measured size.
 * NAN: there is no smaller or no larger one.
 */
static double seconds_at(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine, uint32_t source,
	uint32_t target, uint64_t bytes)
{
	const struct kwhy_pair_config *below = NULL, *above = NULL;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (!is_back_to_back(config, engine) || config->source != source || config->target != target)
			continue;
		if (config->bytes <= bytes && (!below || config->bytes > below->bytes))
			below = config;
		if (config->bytes >= bytes && (!above || config->bytes < above->bytes))
			above = config;
	}
	if (!below || !above)
		return NAN;
	if (below == above)
		return below->summary.median_s;
	return below->summary.median_s +
		(above->summary.median_s - below->summary.median_s) * (double)(bytes - below->bytes) /
		(double)(above->bytes - below->bytes);
}

/* The transfers whose figures a matrix of GPUs shows. */
struct cell {
	enum kwhy_pair_engine engine;
	enum kwhy_pair_clock clock;
	uint64_t bytes;
	bool swaps; /* true: rows of the matrix are the receiving GPUs; false: the sending ones */
};

typedef double cell_value(
	const struct kwhy_pairs *pairs, const struct cell *cell, uint32_t row, uint32_t column);

static double of_nvbandwidth(
	const struct kwhy_pairs *pairs, const struct cell *cell, uint32_t row, uint32_t column)
{
	uint32_t source = cell->swaps ? column : row, target = cell->swaps ? row : column;

	return nvbandwidth_gb_per_s(find(pairs, cell->engine, cell->clock, source, target, cell->bytes));
}

static double both_of_nvbandwidth(
	const struct kwhy_pairs *pairs, const struct cell *cell, uint32_t row, uint32_t column)
{
	return 2 * of_nvbandwidth(pairs, cell, row, column);
}

static double p2p_gb_per_s(
	const struct kwhy_pairs *pairs, const struct cell *cell, uint32_t row, uint32_t column)
{
	double ways = kwhy_pair_is_exchange(cell->engine) ? 2 : 1;

	return ways * (double)cell->bytes / seconds_at(pairs, cell->engine, row, column, cell->bytes) * 1e-9;
}

static double p2p_us(const struct kwhy_pairs *pairs, const struct cell *cell, uint32_t row, uint32_t column)
{
	const struct kwhy_pair_config *config = find(
		pairs, cell->engine, cell->clock, row, column, cell->bytes);

	return config ? config->summary.median_s * 1e6 : NAN;
}

static void write_matrix(const struct kwhy_pairs *pairs, const char *corner, cell_value *value,
	const struct cell *cell, struct kwhy_text *out)
{
	kwhy_text_addf(out, "%6s", corner);
	for (uint32_t k = 0; k < pairs->gpu_count; k++)
		kwhy_text_addf(out, "%10" PRIu32, k);
	kwhy_text_add(out, "\n");
	for (uint32_t i = 0; i < pairs->gpu_count; i++) {
		kwhy_text_addf(out, "%6" PRIu32, i);
		for (uint32_t k = 0; k < pairs->gpu_count; k++) {
			double number = i == k ? NAN : value(pairs, cell, i, k);

			if (isfinite(number))
				kwhy_text_addf(out, "%10.2f", number);
			else
				kwhy_text_addf(out, "%10s", "N/A");
		}
		kwhy_text_add(out, "\n");
	}
	kwhy_text_add(out, "\n");
}

static enum kwhy_status nothing(
	const char *peer, const char *engines, enum kwhy_pair_clock clock, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_USAGE,
		"nothing was measured here that %s would measure; measure --engine %s --timing %s", peer,
		engines, kwhy_pair_clock_name(clock));
}

/*
 * Writes by how much nvbandwidth's number (a median of three samples with truncated times) differs from
 * kwhy's (the median of all samples): the largest relative difference over all pairs.
 */
static void write_distance(const struct kwhy_pairs *pairs, const struct cell *cell, struct kwhy_text *out)
{
	double worst = 0;
	size_t count = 0;

	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		for (uint32_t k = 0; k < pairs->gpu_count; k++) {
			const struct kwhy_pair_config *ours = find(
				pairs, cell->engine, cell->clock, i, k, cell->bytes);
			double theirs = nvbandwidth_gb_per_s(ours);

			if (!isfinite(theirs))
				continue;
			worst = fmax(
				worst, fabs(theirs * 1e9 * ours->summary.median_s / (double)ours->bytes - 1));
			count++;
		}
	if (count)
		kwhy_text_addf(out,
			"  ours, the median of all samples without the cut: at most %.2g %% apart\n\n",
			100 * worst);
}

static enum kwhy_status write_nvbandwidth(
	const struct kwhy_pairs *pairs, struct kwhy_text *out, struct kwhy_error *error)
{
	static const struct {
		const char *name, *title;
		enum kwhy_pair_engine engine;
		cell_value *value;
		bool swaps;
	} tests[] = {
		{"device_to_device_memcpy_read_ce", "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
			KWHY_PAIR_READ, of_nvbandwidth, true},
		{"device_to_device_memcpy_write_ce", "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)",
			KWHY_PAIR_WRITE, of_nvbandwidth, false},
		{"device_to_device_bidirectional_memcpy_write_ce",
			"memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)", KWHY_PAIR_EXCHANGE,
			both_of_nvbandwidth, false},
		{"device_to_device_memcpy_write_sm", "memcpy SM GPU(row) <- GPU(column) bandwidth (GB/s)",
			KWHY_PAIR_KERNEL, of_nvbandwidth, false},
	};
	char size[KWHY_TRANSFER_SIZE_BYTES];
	size_t shown = 0;

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		struct cell cell = {tests[i].engine, KWHY_PAIR_BACK_TO_BACK,
			largest(pairs, tests[i].engine, NVBANDWIDTH_BYTES), tests[i].swaps};

		if (!cell.bytes)
			continue;
		kwhy_text_addf(out, "Running %s, %s.\n%s\n", tests[i].name,
			kwhy_transfer_size_text(size, cell.bytes), tests[i].title);
		write_matrix(pairs, "", tests[i].value, &cell, out);
		write_distance(pairs, &cell, out);
		shown++;
	}
	if (!shown)
		return nothing("nvbandwidth", "write,read,exchange,kernel", KWHY_PAIR_BACK_TO_BACK, error);
	kwhy_text_add(out,
		"By nvbandwidth's definition: 10^9 bytes; 16 copies of the same buffers, all queued after a "
		"gate; the\n"
		"median of three samples; time cut off to whole microseconds, which adds up to 2.4 % at 1 "
		"MiB over\n"
		"NVLink and nothing at 512 MiB. Bytes go from row to column where it writes, from column to "
		"row where\n"
		"it reads, whatever the arrows of its titles say. What differs: above 512 MiB our samples "
		"are of 4\n"
		"copies, scaled to 16; the opposite direction of its bidirectional test copies for as long, "
		"ours as much, and\n"
		"both directions share our time; its kernels unroll 12 loads from 64 MiB on, ours do not.\n");
	return KWHY_OK;
}

static bool has(const struct kwhy_pairs *pairs, const struct cell *cell, cell_value *value)
{
	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		for (uint32_t k = 0; k < pairs->gpu_count; k++)
			if (i != k && isfinite(value(pairs, cell, i, k)))
				return true;
	return false;
}

static enum kwhy_status write_p2p(
	const struct kwhy_pairs *pairs, struct kwhy_text *out, struct kwhy_error *error)
{
	static const struct {
		const char *title, *corner;
		cell_value *value;
		struct cell cell;
	} parts[] = {
		{"Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", "D\\D", p2p_gb_per_s,
			{KWHY_PAIR_WRITE, KWHY_PAIR_BACK_TO_BACK, P2P_BYTES, false}},
		{"Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)", "D\\D", p2p_gb_per_s,
			{KWHY_PAIR_EXCHANGE, KWHY_PAIR_BACK_TO_BACK, P2P_BYTES, false}},
		{"P2P=Enabled Latency (P2P Writes) Matrix (us)", "GPU", p2p_us,
			{KWHY_PAIR_WRITE, KWHY_PAIR_BACK_TO_BACK, P2P_LATENCY_BYTES, false}},
		{"", "CPU", p2p_us, {KWHY_PAIR_WRITE, KWHY_PAIR_CALL, P2P_LATENCY_BYTES, false}},
	};
	size_t shown = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!has(pairs, &parts[i].cell, parts[i].value))
			continue;
		if (*parts[i].title)
			kwhy_text_addf(out, "%s\n", parts[i].title);
		write_matrix(pairs, parts[i].corner, parts[i].value, &parts[i].cell, out);
		shown++;
	}
	if (!shown)
		return nothing("p2pBandwidthLatencyTest", "write,exchange", KWHY_PAIR_BACK_TO_BACK, error);
	kwhy_text_add(out,
		"By the definition of p2pBandwidthLatencyTest: copies of 160,000,000 bytes (ours: on the "
		"line between the\n"
		"sizes around it); its latency is 100 queued copies of 16 bytes over 100, the pace of small "
		"copies and\n"
		"no one-way latency, for which see put and ping-pong; CPU is what queueing one takes. What "
		"differs: it\n"
		"takes 5 copies without any to warm up, once, and spreads by 5 to 10 % from run to run; ours "
		"are\n"
		"medians of at least 10 samples behind a gate. Its diagonal, copies within a GPU, is no "
		"pair.\n");
	return KWHY_OK;
}

/* Tests of nccl-tests whose output is written, with the engine of kwhy that transfers in the same way. */
static const struct {
	const char *name;
	enum kwhy_pair_engine engine;
} nccl_tests[] = {{"sendrecv_perf", KWHY_PAIR_NCCL_EXCHANGE}, {"all_reduce_perf", KWHY_PAIR_ALL_REDUCE},
	{"all_gather_perf", KWHY_PAIR_ALL_GATHER}, {"reduce_scatter_perf", KWHY_PAIR_REDUCE_SCATTER},
	{"broadcast_perf", KWHY_PAIR_BROADCAST}, {"alltoall_perf", KWHY_PAIR_ALL_EXCHANGE}};

static void write_nccl_row(
	const struct kwhy_pairs *pairs, const struct kwhy_pair_config *config, struct kwhy_text *out)
{
	bool sums = config->engine == KWHY_PAIR_ALL_REDUCE || config->engine == KWHY_PAIR_REDUCE_SCATTER;
	double rate = (double)config->bytes / config->mean_s * 1e-9,
	       share = kwhy_pair_is_collective(config->engine)
		? kwhy_pair_bus_share(config->engine, pairs->gpu_count)
		: 1;

	kwhy_text_addf(out, "%12" PRIu64 "  %12" PRIu64 "  %8s  %6s  %6d  %7.2f  %6.2f  %6.2f  %6s\n",
		config->bytes, sums ? config->bytes / 4 : config->bytes, sums ? "uint32" : "int8",
		sums ? "sum" : "none", config->engine == KWHY_PAIR_BROADCAST ? 0 : -1, config->mean_s * 1e6,
		rate, share * rate, config->verified ? "0" : "N/A");
}

/*
 * Writes the table of test number `test` for GPUs `one` and `other`; only the first and the last GPU of the
 * run have rows of collectives. In sendrecv_perf both GPUs send and receive concurrently and both directions
 * have the same time, so the table is written for one < other only. *worst is raised to the largest relative
 * difference between the mean and the median of a row. Returns the number of rows.
 */
static size_t write_nccl_table(const struct kwhy_pairs *pairs, size_t test, uint32_t one, uint32_t other,
	struct kwhy_text *out, double *worst)
{
	size_t rows = 0;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (!is_timed(config, nccl_tests[test].engine, KWHY_PAIR_QUEUED) || config->source != one ||
			config->target != other || !isfinite(config->mean_s))
			continue;
		if (!rows++)
			kwhy_text_addf(out,
				"# %s, GPUs %" PRIu32 " %s %" PRIu32 "\n"
				"#       size         count      type   redop    root     time   algbw   "
				"busbw  #wrong\n"
				"#        (B)    (elements)                               (us)  (GB/s)  "
				"(GB/s)\n",
				nccl_tests[test].name, one,
				kwhy_pair_is_collective(config->engine) ? "to" : "and", other);
		write_nccl_row(pairs, config, out);
		*worst = fmax(*worst, fabs(config->mean_s / config->summary.median_s - 1));
	}
	if (rows)
		kwhy_text_add(out, "\n");
	return rows;
}

static enum kwhy_status write_nccl_tests(
	const struct kwhy_pairs *pairs, struct kwhy_text *out, struct kwhy_error *error)
{
	double worst = 0;
	size_t rows = 0;

	for (size_t test = 0; test < sizeof(nccl_tests) / sizeof(nccl_tests[0]); test++)
		for (uint32_t i = 0; i < pairs->gpu_count; i++)
			for (uint32_t k = i + 1; k < pairs->gpu_count; k++)
				rows += write_nccl_table(pairs, test, i, k, out, &worst);
	if (!rows)
		return nothing("nccl-tests", "nccl-exchange,all-reduce", KWHY_PAIR_QUEUED, error);
	kwhy_text_addf(out,
		"By nccl-tests' definitions, -d int8 (sums: uint32): a time is the mean of 20 groups queued "
		"without waiting (here of all\n"
		"samples of 20; the median, which is ours, is at most %.2g %% away); bandwidth is bytes over "
		"it, and of each\n"
		"link of a ring. sendrecv_perf -g 2: one thread sends and receives on both GPUs in one "
		"group, so both\n"
		"ways are busy, and the bytes of one of them are reported. Both move through their buffers "
		"(ours: the largest size)\n"
		"from group to group. What differs: it has ncclMemAlloc's memory and nvlinkCentricSched = 1, "
		"ours is plain memory\n"
		"and NCCL's defaults, which applications get; it takes the host's wall clock, ours events of "
		"the device.\n",
		100 * worst);
	return KWHY_OK;
}

static const struct peer {
	const char *name;
	enum kwhy_status (*write)(
		const struct kwhy_pairs *pairs, struct kwhy_text *out, struct kwhy_error *error);
} peers[] = {{"nccl-tests", write_nccl_tests}, {"nvbandwidth", write_nvbandwidth}, {"p2p", write_p2p}};

static enum kwhy_status find_peer(const char *name, const struct peer **out, struct kwhy_error *error)
{
	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++)
		if (strcmp(peers[i].name, name) == 0) {
			*out = &peers[i];
			return KWHY_OK;
		}
	return kwhy_fail(
		error, KWHY_E_USAGE, "--compat takes nccl-tests, nvbandwidth or p2p, not '%.40s'", name);
}

enum kwhy_status kwhy_report_pairs_compat_check(const char *peer, struct kwhy_error *error)
{
	const struct peer *found;

	return find_peer(peer, &found, error);
}

enum kwhy_status kwhy_report_pairs_compat(
	const struct kwhy_pairs *pairs, const char *peer, struct kwhy_text *out, struct kwhy_error *error)
{
	const struct peer *found;
	enum kwhy_status status = find_peer(peer, &found, error);

	if (!status)
		status = found->write(pairs, out, error);
	return status ? status : kwhy_text_check(out, error);
}
