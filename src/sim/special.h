/* special.h - special registers by name. PTX chapter 10.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_SPECIAL_H
#define ATTNSCOPE_SIM_SPECIAL_H

/* enumerator, name, bits. Clocks count instructions of the block: there is no time here. */
// clang-format off
#define SIM_SPECIALS(X) \
    X(TID_X, "%tid.x", 32) X(TID_Y, "%tid.y", 32) X(TID_Z, "%tid.z", 32) \
    X(NTID_X, "%ntid.x", 32) X(NTID_Y, "%ntid.y", 32) X(NTID_Z, "%ntid.z", 32) \
    X(CTAID_X, "%ctaid.x", 32) X(CTAID_Y, "%ctaid.y", 32) X(CTAID_Z, "%ctaid.z", 32) \
    X(NCTAID_X, "%nctaid.x", 32) X(NCTAID_Y, "%nctaid.y", 32) X(NCTAID_Z, "%nctaid.z", 32) \
    X(LANEID, "%laneid", 32) X(WARPID, "%warpid", 32) X(NWARPID, "%nwarpid", 32) \
    X(SMID, "%smid", 32) X(NSMID, "%nsmid", 32) \
    X(LANEMASK_EQ, "%lanemask_eq", 32) X(LANEMASK_LT, "%lanemask_lt", 32) \
    X(LANEMASK_LE, "%lanemask_le", 32) X(LANEMASK_GT, "%lanemask_gt", 32) \
    X(LANEMASK_GE, "%lanemask_ge", 32) \
    X(CLOCK, "%clock", 32) X(CLOCK64, "%clock64", 64) X(CLOCK_HI, "%clock_hi", 32) \
    X(GLOBALTIMER, "%globaltimer", 64) X(GLOBALTIMER_LO, "%globaltimer_lo", 32) \
    X(GLOBALTIMER_HI, "%globaltimer_hi", 32) \
    X(DYNAMIC_SMEM, "%dynamic_smem_size", 32) X(TOTAL_SMEM, "%total_smem_size", 32) \
    X(ZERO, "%gridid", 64) X(CLUSTER_RANK, "%cluster_ctarank", 32) \
    X(CLUSTER_BLOCKS, "%cluster_nctarank", 32) X(CLUSTER_X, "%cluster_ctaid.x", 32) \
    X(CLUSTER_Y, "%cluster_ctaid.y", 32) X(CLUSTER_Z, "%cluster_ctaid.z", 32) \
    X(NCLUSTER_X, "%cluster_nctaid.x", 32) X(NCLUSTER_Y, "%cluster_nctaid.y", 32) \
    X(NCLUSTER_Z, "%cluster_nctaid.z", 32) \
    X(CLUSTERID_X, "%clusterid.x", 32) X(CLUSTERID_Y, "%clusterid.y", 32) \
    X(CLUSTERID_Z, "%clusterid.z", 32) X(CLUSTERS_X, "%nclusterid.x", 32) \
    X(CLUSTERS_Y, "%nclusterid.y", 32) X(CLUSTERS_Z, "%nclusterid.z", 32)
// clang-format on
enum sim_special {
#define X(id, name, bits) SPECIAL_##id,
    SIM_SPECIALS(X)
#undef X
        SPECIAL_COUNT
};

#endif
