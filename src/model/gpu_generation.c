/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu_generation.h"

#include <stdbool.h>
#include <string.h>

/*
 * Bytes per second of a PCI Express link in one direction: transfers per second and lane, times 16 lanes,
 * times PCIE_CODE bytes per transfer (the line code carries 128 bits of data in 130). From the PCI Express
 * base specifications 3.0 to 5.0.
 */
#define PCIE_LANES 16
#define PCIE_CODE (128.0 / 130 / 8)
#define PCIE_3_BYTES_PER_S (8e9 * PCIE_LANES * PCIE_CODE)
#define PCIE_4_BYTES_PER_S (16e9 * PCIE_LANES * PCIE_CODE)
#define PCIE_5_BYTES_PER_S (32e9 * PCIE_LANES * PCIE_CODE)
/* NVLink-C2C has 450 GB/s in each direction (white paper "NVIDIA Grace Hopper Superchip Architecture"). */
#define C2C_BYTES_PER_S 450e9

enum generation { UNKNOWN, PASCAL, VOLTA, TURING_GTX, AMPERE, HOPPER, SUPERCHIP, CDNA, CDNA_3, GENERATIONS };

static const struct kwhy_gpu_generation generations[GENERATIONS] = {
	[UNKNOWN] = {"PCIe 5.0 x16", PCIE_5_BYTES_PER_S, KWHY_TENSOR_UNKNOWN},
	[PASCAL] = {"PCIe 3.0 x16", PCIE_3_BYTES_PER_S, KWHY_TENSOR_NONE},
	[VOLTA] = {"PCIe 3.0 x16", PCIE_3_BYTES_PER_S, KWHY_TENSOR_FP16},
	[TURING_GTX] = {"PCIe 3.0 x16", PCIE_3_BYTES_PER_S, KWHY_TENSOR_NONE},
	[AMPERE] = {"PCIe 4.0 x16", PCIE_4_BYTES_PER_S, KWHY_TENSOR_TF32},
	[HOPPER] = {"PCIe 5.0 x16", PCIE_5_BYTES_PER_S, KWHY_TENSOR_TF32},
	[SUPERCHIP] = {"NVLink-C2C", C2C_BYTES_PER_S, KWHY_TENSOR_TF32},
	[CDNA] = {"PCIe 4.0 x16", PCIE_4_BYTES_PER_S, KWHY_TENSOR_TF32},
	[CDNA_3] = {"PCIe 5.0 x16", PCIE_5_BYTES_PER_S, KWHY_TENSOR_TF32},
};

/*
 * Parts of device names that decide the generation before the compute capability is considered. The first
 * match applies.
 */
static const struct {
	const char *part;
	enum generation generation;
} special[] = {{"GH200", SUPERCHIP}, {"GB200", SUPERCHIP}, {"GB300", SUPERCHIP}, {"GTX 16", TURING_GTX}};

/*
 * Whole words of device names, between spaces or hyphens. They decide if neither `special` nor the compute
 * capability does.
 */
static const struct {
	const char *word;
	enum generation generation;
} words[] = {
	{"H100", HOPPER},
	{"H200", HOPPER},
	{"H800", HOPPER},
	{"H20", HOPPER},
	{"B100", HOPPER},
	{"B200", HOPPER},
	{"B300", HOPPER},
	{"5090", HOPPER},
	{"5080", HOPPER},
	{"5070", HOPPER},
	{"A100", AMPERE},
	{"A800", AMPERE},
	{"A40", AMPERE},
	{"A30", AMPERE},
	{"A10", AMPERE},
	{"A10G", AMPERE},
	{"A16", AMPERE},
	{"A2", AMPERE},
	{"A6000", AMPERE},
	{"A5000", AMPERE},
	{"A4000", AMPERE},
	{"L40", AMPERE},
	{"L40S", AMPERE},
	{"L4", AMPERE},
	{"4090", AMPERE},
	{"4080", AMPERE},
	{"4070", AMPERE},
	{"3090", AMPERE},
	{"3080", AMPERE},
	{"3070", AMPERE},
	{"3060", AMPERE},
	{"V100", VOLTA},
	{"V100S", VOLTA},
	{"T4", VOLTA},
	{"2080", VOLTA},
	{"2070", VOLTA},
	{"2060", VOLTA},
	{"P100", PASCAL},
	{"P40", PASCAL},
	{"P4", PASCAL},
	{"K80", PASCAL},
	{"M60", PASCAL},
	{"1080", PASCAL},
	{"1070", PASCAL},
	{"1060", PASCAL},
	{"1050", PASCAL},
	{"MI300X", CDNA_3},
	{"MI300A", CDNA_3},
	{"MI325X", CDNA_3},
	{"MI350X", CDNA_3},
	{"MI355X", CDNA_3},
	{"MI250X", CDNA},
	{"MI250", CDNA},
	{"MI210", CDNA},
	{"MI100", CDNA},
};

/*
 * Lowest major compute capability of each row; the first row that the device reaches applies. Devices that
 * are newer than the first row get that row.
 */
static const struct {
	uint32_t major;
	enum generation generation;
} capabilities[] = {{9, HOPPER}, {8, AMPERE}, {7, VOLTA}, {1, PASCAL}};

static enum generation by_special_name(const char *name)
{
	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
		if (strstr(name, special[i].part))
			return special[i].generation;
	return UNKNOWN;
}

static enum generation by_word(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].word) == length && strncmp(words[i].word, word, length) == 0)
			return words[i].generation;
	return UNKNOWN;
}

static enum generation by_name(const char *name)
{
	enum generation found = UNKNOWN;

	while (*name && found == UNKNOWN) {
		size_t length = strcspn(name, " -");

		found = by_word(name, length);
		name += length + (name[length] != '\0');
	}
	return found;
}

static enum generation by_capability(uint32_t major)
{
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(*capabilities); i++)
		if (major >= capabilities[i].major)
			return capabilities[i].generation;
	return UNKNOWN;
}

/*
 * Whether a device is AMD's. What AMD's runtimes report as compute capability is a number of the GPU's
 * architecture, which must not be looked up in `capabilities`.
 */
static bool is_amd(const char *name)
{
	return strstr(name, "AMD") || strstr(name, "Radeon") || strstr(name, "MI2") || strstr(name, "MI3");
}

const struct kwhy_gpu_generation *kwhy_gpu_generation_of(const struct kwhy_device *device)
{
	const char *name = device->name ? device->name : "";
	enum generation found = by_special_name(name);

	if (found == UNKNOWN && !is_amd(name))
		found = by_capability(device->compute_major);
	return &generations[found == UNKNOWN ? by_name(name) : found];
}
