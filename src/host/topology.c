/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the CPUs of the machine and those on which this process may run, and finds which of these are
 * nearest to each GPU.
 */
#include "host/facts.h"

#include <hwloc.h>

/*
 * The CPUs on which this process may run: those to which it is bound or, if that is unknown, those that the
 * system allows it. Returns NULL if memory is exhausted; the caller frees the result.
 */
static hwloc_bitmap_t allowed_cpus(hwloc_topology_t topology)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();

	if (cpus && (hwloc_get_cpubind(topology, cpus, HWLOC_CPUBIND_PROCESS) || hwloc_bitmap_iszero(cpus)))
		hwloc_bitmap_copy(cpus, hwloc_topology_get_allowed_cpuset(topology));
	if (cpus)
		hwloc_bitmap_and(cpus, cpus, hwloc_topology_get_topology_cpuset(topology));
	return cpus;
}

/*
 * Number of the NUMA node of `near`, the object of hwloc's topology to which the device is attached; -1: the
 * object has several NUMA nodes or none.
 */
static int node_of(hwloc_obj_t near)
{
	return hwloc_bitmap_weight(near->nodeset) == 1 ? hwloc_bitmap_first(near->nodeset) : -1;
}

static void locality(hwloc_topology_t topology, hwloc_const_bitmap_t allowed, struct kwhy_host_gpu *gpu)
{
	hwloc_obj_t device = hwloc_get_pcidev_by_busid(
		topology, gpu->pci_domain, gpu->pci_bus, gpu->pci_device, 0);
	hwloc_obj_t near = device ? hwloc_get_non_io_ancestor_obj(topology, device) : NULL;
	hwloc_bitmap_t local = near ? hwloc_bitmap_alloc() : NULL;

	if (!local)
		return;
	hwloc_bitmap_and(local, allowed, near->cpuset);
	gpu->locality = (struct kwhy_gpu_locality){
		.known = true,
		.numa_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE),
		.node = node_of(near),
		.cpus = hwloc_bitmap_weight(allowed),
		.local_cpus = hwloc_bitmap_weight(local),
	};
	hwloc_bitmap_free(local);
}

static void read_loaded(struct kwhy_host_facts *facts, hwloc_topology_t topology)
{
	hwloc_bitmap_t allowed = allowed_cpus(topology);

	facts->cpus = hwloc_bitmap_weight(hwloc_topology_get_complete_cpuset(topology));
	if (!allowed)
		return;
	facts->cpus_allowed = hwloc_bitmap_weight(allowed);
	for (size_t i = 0; i < facts->gpu_count; i++)
		if (facts->gpus[i].pci_address)
			locality(topology, allowed, &facts->gpus[i]);
	hwloc_bitmap_free(allowed);
}

/*
 * Disables the components of hwloc that query GPUs, because a query would power the GPUs up, and the
 * component "pci", because it uses libpciaccess, which leaks memory. hwloc then finds PCI devices in /sys.
 */
static void leave_out_parts(hwloc_topology_t topology)
{
	static const char *const parts[] = {"opencl", "cuda", "nvml", "rsmi", "levelzero", "gl", "pci"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		(void)hwloc_topology_set_components(
			topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, parts[i]);
}

void kwhy_host_read_topology(struct kwhy_host_facts *facts)
{
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology))
		return;
	leave_out_parts(topology);
	if (hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
		hwloc_topology_load(topology) == 0)
		read_loaded(facts, topology);
	hwloc_topology_destroy(topology);
}
