/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/studies.h"

#include <string.h>

/* The studies. Figures in their answers are those of docs/studies, which says how they were measured. */
static const struct kwhy_study studies[] = {
	{"transfer-energy",
		"What does it cost to move a byte, and what would fewer and larger transfers save?",
		"On an H200, a byte copied from page-locked memory to the device costs 87.5 nJ in copies of "
		"4 KiB and 2.46 nJ in copies of 256 MiB, of which 0.25 nJ are above an idle context. A FLOP "
		"of bf16 tensor cores costs 0.77 pJ. The energy of a small copy is that of the time for "
		"which "
		"it holds the GPU, so batching saves it: a simulation of 288 steps took 584 J with a copy "
		"for each value, 3.39 J with packed reads and writes, and 0.42 J with its decisions on the "
		"device.",
		"recordings/transfer.kwhy",
		{
			{"operations",
				"Rate and joules of single operations: arithmetic, memory, launches, copies.",
				"bench ops @backend -o >operations.txt", "--seconds 0.2"},
			{"copies",
				"Time, rate and joules per byte of the ways to move one block or many "
				"pieces.",
				"bench transfer @backend --energy --strategy "
				"pinned,pageable,copies,batch,packed,piece-kernel +samples -o >copies.txt",
				"--quick --time 10 --burst 0.2"},
			{"charts", "The same as a page with charts.",
				"bench transfer --from <samples -o >copies.html", NULL},
			{"program",
				"What a byte costs in a program, what a transfer consists of, energy by "
				"category.",
				"report @run --section ranking --section split --section categories -o "
				">program.txt",
				NULL},
			{"plan", "What to change in that program, the best first.",
				"whatif --plan @run -o >plan.txt", NULL},
		},
		5},
	{"utilisation", "Why does the GPU of a training program idle, and what would change that?",
		"On an H200, nvidia-smi showed a utilisation of 97 % for a program that reached 0.015 % of "
		"the "
		"peak arithmetic rate: it only says that some kernel ran. That program computed one flow "
		"after "
		"another; computing 1,000 of them together took 18.8 instead of 7,198 J for a million steps. "
		"A training loop in PyTorch "
		"took 0.254 instead of 0.358 J per step once it was compiled and captured in a graph.",
		"recordings/train.kwhy",
		{
			{"record", "The program, recorded.", "record --one-file @work -o >run.kwhy @program",
				NULL},
			{"report", "What it cost, where that went, what idles and why.",
				"report @run @work --section cost --section where --section advice --section "
				"utilisation --section idle -o >report.txt",
				NULL},
			{"page", "The same as a page with a timeline.", "report @run @work -o >report.html",
				NULL},
			{"plan", "What to change, the best first.", "whatif --plan @run -o >plan.txt", NULL},
			{"machine", "Settings of this machine that cost time or joules.",
				"doctor -o >machine.txt", NULL},
		},
		5},
	{"transfers", "Which way to move data is the fastest here, and what would it save in a program?",
		"On an H200 with PCIe 5, copies of 1 GiB from page-locked memory reach 55.5 GB/s, from "
		"pageable "
		"memory 9.8 GB/s; below 16 KiB pageable copies return sooner. For 4,096 pieces of 16 B a "
		"kernel "
		"that reads each piece is 326 times as fast as a copy for each. Copying while computing pays "
		"from 4 MiB on. One copy split over four streams is nowhere faster.",
		"recordings/transfer.kwhy",
		{
			{"sweep",
				"Time and rate of each strategy, size and direction; what is the fastest "
				"where.",
				"bench transfer @backend +samples -o >sweep.txt", "--quick --time 15"},
			{"charts", "The same as a page with charts.",
				"bench transfer --from <samples -o >sweep.html", NULL},
			{"program",
				"The copies of a program, what they consist of, and what is wrong with them.",
				"report @run --section copies --section split --section findings -o "
				">program.txt",
				NULL},
			{"plan", "What to change in that program, the best first.",
				"whatif --plan @run -o >plan.txt", NULL},
		},
		4},
	{"llm-energy", "How many joules does a token cost, and what decides it?",
		"On an H200, a decoder of OPT-125m's shape in bf16 writes 9.24 tokens per joule for 1 "
		"sequence "
		"and "
		"361 for 256 sequences, because the weights are read once for all. A server under the same "
		"load took 0.106 J per token with launches by the host and 0.166 J with CUDA graphs, but "
		"answered in 84 instead of 450 ms (95th percentile; on an H100). A model of the power by the "
		"device's counters was off by 3.5 to 5.5 % of the power for work other than it was fitted "
		"to, and by 20 to 24 % for a decoder, which needs a fit of its own.",
		"recordings/decode.kwhy",
		{
			{"record", "The program, recorded with the device's counters.",
				"record --gauges 0.2 --one-file @work -o >run.kwhy @program", NULL},
			{"run", "Time, energy and work of the run, for the next step.",
				"report @run @work -o >run.json", NULL},
			{"tokens", "Joules per token and tokens per joule.",
				"? model tokens <run.json -o >tokens.txt", NULL},
			{"power", "Where each watt goes, by the device's counters.",
				"? model power @run=h200-power/decode-1.kwhy -o >power.txt", NULL},
			{"loads", "Times and joules of a server's answers at several loads.",
				"llm @url -o >loads.txt", "--concurrency 1,4 --seconds 10"},
		},
		5},
	{"pairs", "How long do transfers between GPUs take, and what does a simulator of networks need?",
		"Between two H200s with 18 NVLinks, copies of 512 MiB reach 396.3 GB/s one way and 783.3 "
		"GB/s in "
		"both directions, and cost 1.07 nJ a byte at 256 MiB. The input that is written for "
		"ASTRA-sim "
		"is off by 1.4 % on average and 3.9 % at most from 64 KiB up, for copies. NCCL's own choice "
		"of algorithm was the best or within 3 % at 26 of 29 sizes (on H100s).",
		NULL,
		{
			{"pairs",
				"Time, rate and joules of every method and pair, collectives, LogGP, and "
				"inputs "
				"of six simulators.",
				"bench pairs @backend --energy +samples --simulators >inputs -o >pairs.txt",
				"--time 15 --burst 0.2 --no-loads --max-size 1MiB"},
			{"charts", "The same as a page with charts.",
				"bench pairs --from <samples -o >pairs.html", NULL},
			{"compat", "What p2pBandwidthLatencyTest would print.",
				"bench pairs --from <samples --compat p2p -o >p2p.txt", NULL},
		},
		3},
};

const struct kwhy_study *kwhy_study_at(size_t index)
{
	return index < sizeof(studies) / sizeof(studies[0]) ? &studies[index] : NULL;
}

const struct kwhy_study *kwhy_study_find(const char *name)
{
	for (size_t i = 0; kwhy_study_at(i); i++)
		if (strcmp(kwhy_study_at(i)->name, name) == 0)
			return kwhy_study_at(i);
	return NULL;
}
