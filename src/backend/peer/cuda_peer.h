/* cuda_peer.h - other libraries' attention on a GPU: see struct cuda_peer in cuda/slot.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_PEER_H
#define ATTNSCOPE_BACKEND_CUDA_PEER_H

#include "backend/cuda/slot.h"

extern const struct cuda_peer cuda_peer_cublas, cuda_peer_cudnn, cuda_peer_python;

#endif
