/* SPDX-License-Identifier: Apache-2.0 */
/* Input files of network simulators that describe a link by a latency and a rate. */
#include "report/simulators/simulators.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- ASTRA-sim, analytical network --- */

/*
 * ASTRA_GB: in ASTRA-sim "GB/s" means 2^30 bytes per second, since its NetworkFunction.cpp computes bw * (1
 * << 30) / 1e9. HOPS: a transfer through its Switch takes two hops, each with the latency of the file.
 */
#define ASTRA_GB 1073741824.0
#define HOPS 2

static void write_astra(const struct kwhy_pair_series *series, struct kwhy_text *out)
{
	struct kwhy_pair_link link = kwhy_simulator_middle_link(series);

	kwhy_text_addf(out,
		"# ASTRA-sim analytical network: measured by kwhy bench pairs, the middle pair, from 64 KiB "
		"up\n"
		"# 1 GB/s is 2^30 B/s here; a Switch is two hops of the latency\n"
		"topology: [ Switch ]\nnpus_count: [ %" PRIu32 " ]\n"
		"bandwidth: [ %.6f ] # GB/s\nlatency: [ %.4f ] # ns\n",
		series->pairs->gpu_count, 1 / link.beta.value / ASTRA_GB, link.alpha.value * 1e9 / HOPS);
}

static double predict_astra(const char *text, const struct kwhy_pair_config *config)
{
	double rate = kwhy_simulator_number(text, "\nbandwidth: [") * ASTRA_GB,
	       latency_ns = kwhy_simulator_number(text, "\nlatency: [");

	return HOPS * latency_ns * 1e-9 + (double)config->bytes / rate;
}

const struct kwhy_simulator kwhy_simulator_astra_sim = {"ASTRA-sim", "astra-sim.yml",
	"two latencies of a switch, bytes over the rate in 2^30 B/s", false, write_astra, predict_astra};

/* --- SimAI, topology for ns-3 --- */

/*
 * Writes the type of a GPU as SimAI names it: the first part of the device's name without the maker, such
 * as A100 for "NVIDIA A100-SXM4-80GB"; NONE: the name is unknown.
 */
static void add_gpu_type(struct kwhy_text *out, const char *name)
{
	static const char maker[] = "NVIDIA ";
	const char *type = name && strncmp(name, maker, strlen(maker)) == 0 ? name + strlen(maker) : name;
	const size_t length = type ? strcspn(type, " -") : 0;

	if (length)
		kwhy_text_add_bytes(out, type, length);
	else
		kwhy_text_add(out, "NONE");
}

static void write_simai(const struct kwhy_pair_series *series, struct kwhy_text *out)
{
	struct kwhy_pair_link link = kwhy_simulator_middle_link(series);
	uint32_t gpus = series->pairs->gpu_count;

	/*
	 * First line of the file: number of nodes, GPUs per server, NVSwitches, other switches and links,
	 * then the type of GPU. Second line: ids of the switches.
	 */
	kwhy_text_addf(out, "%" PRIu32 " %" PRIu32 " 1 0 %" PRIu32 " ", gpus + 1, gpus, gpus);
	add_gpu_type(out, series->pairs->gpus[0].name);
	kwhy_text_addf(out, "\n%" PRIu32 "\n", gpus);
	for (uint32_t i = 0; i < gpus; i++)
		kwhy_text_addf(out, "%" PRIu32 " %" PRIu32 " %.3fGbps %.9fms 0\n", i, gpus,
			8e-9 / link.beta.value, link.alpha.value * 1e3 / HOPS);
}

static double predict_simai(const char *text, const struct kwhy_pair_config *config)
{
	double gbps, latency_ms;
	char start[32];
	const char *line;

	snprintf(start, sizeof(start), "\n%" PRIu32 " ", config->source);
	line = strchr(text, '\n'); /* skips the line of counts */
	line = line ? strchr(line + 1, '\n') : NULL;
	line = line ? strstr(line, start) : NULL;
	line = line ? strchr(line + strlen(start), ' ') : NULL; /* skips the id of the switch */
	gbps = kwhy_simulator_number(line, " ");
	latency_ms = kwhy_simulator_number(line, "Gbps ");
	return HOPS * latency_ms * 1e-3 + 8 * (double)config->bytes / (gbps * 1e9);
}

const struct kwhy_simulator kwhy_simulator_simai = {"SimAI", "simai_topology.txt",
	"two latencies of an NVSwitch, bits over Gbit/s; AS_SEND_LAT=0, since the latency has it all", false,
	write_simai, predict_simai};

/* --- LogGOPSim, and ATLAHS with the same parameters --- */

#define TICKS_MAX 2e9 /* largest parameter, in ticks; LogGOPSim's parameters are of type int */

/*
 * LogGOPSim adds the overhead o at both ends of a transfer, but a copy takes no time of a processor at the
 * target. Therefore o is 0, and the latency L is the whole constant part of the time (alpha).
 */
static void write_loggopsim(const struct kwhy_pair_series *series, struct kwhy_text *out)
{
	struct kwhy_pair_link link = kwhy_simulator_middle_link(series);
	double g_s = series->gap_s, tick_s = fmax(fmax(link.alpha.value, g_s), 1e-9) / TICKS_MAX;

	if (!isfinite(g_s))
		g_s = 0;
	kwhy_text_addf(out,
		"# LogGOPSim: G is a whole number of ticks a byte, so a tick is %.9g s; times of schedules "
		"are in ticks, too\n# tick_s %.17g\n-L %.0f -o 0 -g %.0f -G %.0f -O 0 -S 2147483647\n",
		tick_s, tick_s, link.alpha.value / tick_s, g_s / tick_s, link.beta.value / tick_s);
}

static double predict_loggopsim(const char *text, const struct kwhy_pair_config *config)
{
	double tick_s = kwhy_simulator_number(text, "# tick_s "),
	       latency = kwhy_simulator_number(text, "\n-L "), overhead = kwhy_simulator_number(text, " -o "),
	       gap = kwhy_simulator_number(text, " -G ");

	return tick_s * (2 * overhead + latency + gap * ((double)config->bytes - 1));
}

const struct kwhy_simulator kwhy_simulator_loggopsim = {"LogGOPSim", "loggopsim.txt",
	"o + L + (bytes - 1) G + o, all whole numbers of ticks", false, write_loggopsim, predict_loggopsim};
