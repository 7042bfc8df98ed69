/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/limits.h"

#include "vendor/nvml.h"

#include <math.h>
#include <strings.h>

enum { GPUS = KWHY_PAIR_GPUS_MAX };

/* What NVML reports about one GPU and its links. */
struct end {
	kwhy_nvml_handle handle; /* handle of the GPU; NULL: NVML does not list this GPU */
	unsigned links_most, links_up, to_switches, to_gpus[GPUS];
	unsigned nvlink; /* generation of the GPU's NVLinks, such as 4; 0: unknown */
	/* rate of the slowest active NVLink; NAN: no link is active, or the rate is not reported */
	double link_bytes_per_s;
	unsigned pcie, lanes, lanes_most;
};

struct machine {
	const struct kwhy_nvml *nvml;
	struct kwhy_pairs *pairs;
	struct end ends[GPUS];
};

double kwhy_pcie_bytes_per_s(unsigned generation, unsigned lanes)
{
	/*
	 * Bytes per second of one PCIe lane in one direction, by generation: transfers per second divided by
	 * 8, times the share of bits that carry data after line coding (8b/10b, 128b/130b, 242B/256B).
	 * Source: PCI Express base specifications 1.0 to 6.0.
	 */
	static const double lane_bytes_per_s[] = {0, 2.5e9 / 10, 5e9 / 10, 8e9 / 8 * 128 / 130,
		16e9 / 8 * 128 / 130, 32e9 / 8 * 128 / 130, 64e9 / 8 * 242 / 256};

	if (generation < 1 || generation >= sizeof(lane_bytes_per_s) / sizeof(lane_bytes_per_s[0]) || !lanes)
		return NAN;
	return lanes * lane_bytes_per_s[generation];
}

static unsigned nvlink_generation(unsigned version)
{
	static const unsigned generations[] = {[KWHY_NVML_NVLINK_1] = 1,
		[KWHY_NVML_NVLINK_2] = 2,
		[KWHY_NVML_NVLINK_2_2] = 2,
		[KWHY_NVML_NVLINK_3] = 3,
		[KWHY_NVML_NVLINK_3_1] = 3,
		[KWHY_NVML_NVLINK_4] = 4,
		[KWHY_NVML_NVLINK_5] = 5};

	return version < sizeof(generations) / sizeof(generations[0]) ? generations[version] : 0;
}

/* Index in pairs->gpus of the GPU at a PCI address; pairs->gpu_count: none of them is there. */
static uint32_t row_of(const struct kwhy_pairs *pairs, const struct kwhy_nvml_pci *pci)
{
	char address[KWHY_NVML_ADDRESS_BYTES];

	kwhy_nvml_address(pci, address);
	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		if (pairs->gpus[i].pci_address && strcasecmp(pairs->gpus[i].pci_address, address) == 0)
			return i;
	return pairs->gpu_count;
}

static bool read_field(
	const struct machine *machine, const struct end *end, unsigned number, unsigned scope, int64_t *out)
{
	struct kwhy_nvml_field field = {.field = number, .scope = scope};

	return !kwhy_nvml_call(machine->nvml, nvmlDeviceGetFieldValues, end->handle, 1, &field) &&
		!field.result && kwhy_nvml_value_int(field.type, field.value, out) && *out > 0;
}

static void read_speed(const struct machine *machine, struct end *end, unsigned link)
{
	int64_t mb_per_s;

	if (read_field(machine, end, KWHY_NVML_FIELD_NVLINK_SPEED, link, &mb_per_s) ||
		read_field(machine, end, KWHY_NVML_FIELD_NVLINK_SPEED_ALL, 0, &mb_per_s))
		end->link_bytes_per_s = fmin(end->link_bytes_per_s, (double)mb_per_s * 1e6);
}

static void read_link(const struct machine *machine, struct end *end, unsigned link)
{
	const struct kwhy_nvml *nvml = machine->nvml;
	unsigned kind, version;
	struct kwhy_nvml_pci pci;
	uint32_t row;

	end->links_up++;
	if (!kwhy_nvml_call(nvml, nvmlDeviceGetNvLinkVersion, end->handle, link, &version))
		end->nvlink = nvlink_generation(version);
	read_speed(machine, end, link);
	if (kwhy_nvml_call(nvml, nvmlDeviceGetNvLinkRemoteDeviceType, end->handle, link, &kind))
		return;
	end->to_switches += kind == KWHY_NVML_LINK_TO_SWITCH;
	if (kind != KWHY_NVML_LINK_TO_GPU ||
		kwhy_nvml_call(nvml, nvmlDeviceGetNvLinkRemotePciInfo_v2, end->handle, link, &pci))
		return;
	row = row_of(machine->pairs, &pci);
	if (row < machine->pairs->gpu_count)
		end->to_gpus[row]++;
}

static void read_links(const struct machine *machine, struct end *end)
{
	int64_t count = 0;

	end->link_bytes_per_s = NAN;
	for (unsigned link = 0; link < KWHY_NVML_LINKS_MAX; link++) {
		unsigned is_up = 0;

		if (!kwhy_nvml_call(machine->nvml, nvmlDeviceGetNvLinkState, end->handle, link, &is_up) &&
			is_up)
			read_link(machine, end, link);
	}
	if (read_field(machine, end, KWHY_NVML_FIELD_NVLINK_COUNT, 0, &count))
		end->links_most = (unsigned)count;
}

/*
 * Reads the highest generation of the GPU's PCIe link, and its present and highest width. The present
 * generation is not read, because an idle GPU lowers it to save power; it does not lower the width. 0:
 * unknown.
 */
static void read_pcie(const struct machine *machine, struct end *end)
{
	const struct kwhy_nvml *nvml = machine->nvml;

	if (kwhy_nvml_call(nvml, nvmlDeviceGetMaxPcieLinkGeneration, end->handle, &end->pcie))
		end->pcie = 0;
	if (kwhy_nvml_call(nvml, nvmlDeviceGetCurrPcieLinkWidth, end->handle, &end->lanes))
		end->lanes = 0;
	if (kwhy_nvml_call(nvml, nvmlDeviceGetMaxPcieLinkWidth, end->handle, &end->lanes_most))
		end->lanes_most = 0;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static int ancestor_of(const struct machine *machine, uint32_t source, uint32_t target)
{
	unsigned level;

	if (kwhy_nvml_call(machine->nvml, nvmlDeviceGetTopologyCommonAncestor, machine->ends[source].handle,
		    machine->ends[target].handle, &level) ||
		level > KWHY_NVML_ANCESTOR_SYSTEM)
		return -1;
	return (int)level;
}

/*
 * Finds the route by which `source` reaches the memory of `target`. Without peer access, bytes go through the
 * host, even if both GPUs have NVLinks. If NVML does not say where active NVLinks lead, the route stays
 * unknown.
 */
static void find_route(const struct machine *machine, uint32_t source, uint32_t target)
{
	const struct end *a = &machine->ends[source], *b = &machine->ends[target];
	struct kwhy_pair_route *route = &machine->pairs->routes[source][target];
	unsigned direct = a->to_gpus[target], switched = least(a->to_switches, b->to_switches);
	bool reaches = machine->pairs->is_direct[source][target];

	route->ancestor = ancestor_of(machine, source, target);
	if (reaches && (direct || switched)) {
		route->way = direct ? KWHY_PAIR_NVLINK : KWHY_PAIR_NVSWITCH;
		route->lanes = direct ? direct : switched;
		route->lanes_most = direct ? 0 : least(a->links_most, b->links_most);
		route->generation = least(a->nvlink, b->nvlink);
		route->limit_bytes_per_s = route->lanes * fmin(a->link_bytes_per_s, b->link_bytes_per_s);
	} else if (a->lanes && b->lanes && a->pcie && b->pcie && !(reaches && a->links_up && b->links_up)) {
		route->way = KWHY_PAIR_PCIE;
		route->lanes = least(a->lanes, b->lanes);
		route->lanes_most = least(a->lanes_most, b->lanes_most);
		route->generation = least(a->pcie, b->pcie);
		route->limit_bytes_per_s = kwhy_pcie_bytes_per_s(route->generation, route->lanes);
	}
}

static enum kwhy_status tell_missing(struct kwhy_pairs *pairs, const char *why, struct kwhy_error *error)
{
	pairs->route_missing = kwhy_arena_copy(&pairs->arena, why);
	return pairs->route_missing ? KWHY_OK : kwhy_fail_memory(error, "links of pairs");
}

static enum kwhy_status find_routes(struct machine *machine, struct kwhy_error *error)
{
	struct kwhy_pairs *pairs = machine->pairs;
	bool is_known = true;

	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		for (uint32_t k = 0; k < pairs->gpu_count; k++)
			if (i != k) {
				find_route(machine, i, k);
				is_known = is_known && pairs->routes[i][k].way != KWHY_PAIR_LINK_KIND_UNKNOWN;
			}
	return is_known ? KWHY_OK
			: tell_missing(pairs, "NVML does not report where NVLinks lead, or of PCIe", error);
}

static enum kwhy_status read_machine(struct machine *machine, struct kwhy_error *error)
{
	struct kwhy_pairs *pairs = machine->pairs;

	for (uint32_t i = 0; i < pairs->gpu_count; i++) {
		const char *address = pairs->gpus[i].pci_address;

		machine->ends[i].handle = address ? kwhy_nvml_find(machine->nvml, address) : NULL;
		if (!machine->ends[i].handle)
			return tell_missing(
				pairs, "NVML knows no GPU at the PCI address of one of these", error);
		read_links(machine, &machine->ends[i]);
		read_pcie(machine, &machine->ends[i]);
	}
	return find_routes(machine, error);
}

enum kwhy_status kwhy_pair_limits_read(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct machine machine = {.pairs = pairs};
	struct kwhy_nvml nvml;
	enum kwhy_status status = kwhy_nvml_open(&nvml, error);

	if (status == KWHY_E_UNSUPPORTED)
		return tell_missing(pairs, error->text, error);
	if (status)
		return status;
	machine.nvml = &nvml;
	status = read_machine(&machine, error);
	kwhy_nvml_close(&nvml);
	return status;
}
