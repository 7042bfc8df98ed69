/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_HOST_FACTS_H
#define KWHY_HOST_FACTS_H

#include "base/arena.h"
#include "base/status.h"
#include "vendor/nvml.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Facts about a machine and its GPUs at the time of reading. A number below 0 and a pointer of NULL mean
 * "unknown", unless a field states another meaning.
 */

enum { KWHY_HOST_UNKNOWN = -1, KWHY_HOST_REFUSED = -2 /* the driver denies permission */ };

/* The NUMA node that a GPU is attached to, and the CPUs that this process may use. */
struct kwhy_gpu_locality {
	bool known;
	int numa_nodes; /* number of NUMA nodes of the machine */
	int node;	/* NUMA node of the GPU; -1: it is near several nodes, or its node is unknown */
	/* cpus: number of CPUs that the process may use; local_cpus: how many of these are near the GPU */
	int cpus, local_cpus;
};

struct kwhy_host_gpu {
	int32_t index;
	const char *name, *uuid, *pci_address;
	unsigned pci_domain, pci_bus, pci_device;
	int64_t energy_mj, power_mw; /* readings of the energy counter and of the power meter */
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
	const char *root; /* prefix of the paths of all files that are read */
	struct kwhy_host_gpu *gpus;
	size_t gpu_count;
	const char *no_gpu;		    /* why no GPU was found, or why a GPU is missing from the list */
	const char *driver;		    /* version of the GPU driver */
	int64_t cuda_version, nccl_version; /* 13000 for CUDA 13.0, 22809 for NCCL 2.28.9 */
	int64_t cpus, cpus_allowed;
	double cpu_quota; /* CPU time that a cgroup grants, in CPU seconds per second; NAN: no limit */
	int64_t memory_limit_bytes; /* memory limit of a cgroup; -1: no limit */
	int64_t memory_total_bytes;
	const char *governor, *cpu_driver, *clock_source;
	const char *container,
		*hypervisor; /* names of the kind of container and hypervisor; NULL: not detected */
	const char *rapl;    /* path of a RAPL zone's energy file; NULL: no such file */
	bool rapl_readable;
	bool mps;
	bool gpu_devices;	 /* whether the devices of NVIDIA's driver are in /dev */
	bool has_nvml, has_cuda; /* whether the driver's libraries can be loaded */
};

/*
 * Reads the first line of the file at facts->root + path, without its newline. False: the file does not exist
 * or cannot be read.
 */
bool kwhy_host_read_line(const struct kwhy_host_facts *facts, const char *path, char *out, size_t out_bytes);
/* Reads the first line of a file as kwhy_host_read_line() and converts it to a number. */
bool kwhy_host_read_number(const struct kwhy_host_facts *facts, const char *path, int64_t *out);
bool kwhy_host_exists(const struct kwhy_host_facts *facts, const char *path);
/* Copies a text to the arena; NULL: memory is exhausted. */
const char *kwhy_host_keep(const struct kwhy_host_facts *facts, const char *text);

/*
 * Each function below reads one part of the facts. `only`: number of the only GPU to read; -1: all GPUs.
 * KWHY_E_USAGE: the GPU does not exist.
 */
KWHY_MUST_USE enum kwhy_status kwhy_host_read_gpus(
	struct kwhy_host_facts *facts, int64_t only, struct kwhy_error *error);
void kwhy_host_read_topology(struct kwhy_host_facts *facts);
void kwhy_host_read_limits(struct kwhy_host_facts *facts);    /* limits of cgroups, kind of container */
void kwhy_host_read_processor(struct kwhy_host_facts *facts); /* frequency governor, clock source, RAPL */
void kwhy_host_read_software(struct kwhy_host_facts *facts);  /* NCCL, MPS, the driver's libraries */

#endif
