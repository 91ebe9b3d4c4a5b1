/* SPDX-License-Identifier: GPL-2.0-only */
/* Puts trees into preorder. Their nodes are in an array, each after its parent. */
#ifndef QUARTZ_CORE_PREORDER_H
#define QUARTZ_CORE_PREORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * The place of each of n nodes: each directly after its parent, or after the last descendant of the sibling before it, siblings in the
 * order of the array. A node of this size begins with the index of its parent, as uint32_t; a root has its own, or UINT32_MAX. To be
 * freed; NULL with errno ENOMEM.
 */
uint32_t *qz_preorder__places(const void *nodes, size_t size, uint32_t n);

#endif
