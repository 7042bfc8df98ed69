/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_HOST_FACTS_H
#define KWHY_HOST_FACTS_H

#include "base/arena.h"
#include "base/status.h"
#include "vendor/nvml.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Facts about a machine and its GPUs when they were read. Unless a field says otherwise, a number is unknown
 * if it is below 0 (KWHY_HOST_UNKNOWN, KWHY_HOST_REFUSED) and a pointer if it is NULL.
 */

enum { KWHY_HOST_UNKNOWN = -1, KWHY_HOST_REFUSED = -2 /* unknown, as the driver denied permission */ };

/* Which NUMA node and CPUs are nearest to a GPU. Valid only if known is true. */
struct kwhy_gpu_locality {
	bool known;
	int numa_nodes; /* number of NUMA nodes of the machine */
	int node;	/* nearest NUMA node; -1: several are equally near, or it is unknown */
	/*
	 * cpus: number of CPUs on which this process may run; local_cpus: how many of these are nearest to
	 * the GPU
	 */
	int cpus, local_cpus;
};

struct kwhy_host_gpu {
	int32_t index;
	const char *name, *uuid, *pci_address;
	unsigned pci_domain, pci_bus, pci_device;
	int64_t energy_mj, power_mw; /* energy counter, and power at the time of reading */
	int64_t persistence, limit_mw, default_limit_mw;
	int64_t sm_clock_mhz, sm_clock_most_mhz, reasons, busy_percent;
	int64_t power_violation_ns, thermal_violation_ns;
	int64_t ecc, ecc_uncorrected, remap_pending, remap_failed;
	int64_t pcie_generation, pcie_generation_most, pcie_lanes, pcie_lanes_most;
	int64_t mig, compute_mode, process_count;
	struct kwhy_gpu_locality locality;
};

struct kwhy_host_facts {
	struct kwhy_arena *arena;
	const char
		*root; /* text that is put before the paths of all files that are read; "" except in tests */
	struct kwhy_host_gpu *gpus;
	size_t gpu_count;
	const char *no_gpu; /* why there is no GPU, or why one of them could not be opened and is missing from
			       the array; NULL: no GPU is missing */
	const char *driver; /* version of the NVIDIA driver, such as "580.159.04" */
	int64_t cuda_version, nccl_version; /* newest CUDA version that the driver supports, 13000 for 13.0,
					       and version of NCCL, 22809 for 2.28.9 */
	int64_t cpus, cpus_allowed;
	double cpu_quota; /* limit of the CPU time by cgroups, in CPU seconds per second, the lowest of all
			     that apply; NAN: no limit */
	int64_t memory_limit_bytes; /* limit of the host memory by cgroups, the lowest of all that apply; -1:
				       no limit */
	int64_t memory_total_bytes;
	const char *governor, *cpu_driver, *clock_source;
	const char *container, *hypervisor; /* kind of the container, such as "Docker", and name of the
					       hypervisor, such as "KVM"; NULL: none was detected */
	const char *rapl; /* path of the file with the energy counter of the first CPU package (RAPL); NULL:
			     there is none */
	bool rapl_readable;
	bool mps;
	bool gpu_devices;	 /* whether /dev/nvidiactl exists */
	bool has_nvml, has_cuda; /* whether libnvidia-ml.so.1 and libcuda.so.1 can be loaded */
};

/*
 * Reads the first line of the file facts->root + path into `out`, without its newline. False: the file cannot
 * be read.
 */
bool kwhy_host_read_line(const struct kwhy_host_facts *facts, const char *path, char *out, size_t out_bytes);
/* Reads the first out_bytes - 1 bytes of such a file. False: the file cannot be read, or is empty. */
bool kwhy_host_read_text(const struct kwhy_host_facts *facts, const char *path, char *out, size_t out_bytes);
/* Reads the first line as a number. False: the file cannot be read, or the line is no number. */
bool kwhy_host_read_number(const struct kwhy_host_facts *facts, const char *path, int64_t *out);
bool kwhy_host_exists(const struct kwhy_host_facts *facts, const char *path);
/* Copies a text into facts->arena; NULL: memory is exhausted. */
const char *kwhy_host_keep(const struct kwhy_host_facts *facts, const char *text);

/*
 * The functions below fill in the facts, each one part. kwhy_host_read_gpus() must be called first, because
 * kwhy_host_read_topology() adds to the facts about GPUs. `only`: number of the only GPU to read; -1: all.
 * KWHY_E_USAGE: there is no such GPU. Without an NVIDIA driver no GPU is found, which is no error.
 */
KWHY_MUST_USE enum kwhy_status kwhy_host_read_gpus(
	struct kwhy_host_facts *facts, int64_t only, struct kwhy_error *error);
void kwhy_host_read_topology(struct kwhy_host_facts *facts);
void kwhy_host_read_limits(
	struct kwhy_host_facts *facts); /* limits by cgroups, kind of container, size of the memory */
void kwhy_host_read_processor(
	struct kwhy_host_facts *facts); /* frequency governor, clock source, hypervisor, RAPL */
void kwhy_host_read_software(
	struct kwhy_host_facts *facts); /* NCCL, MPS, devices and libraries of the NVIDIA driver */

#endif
