/* SPDX-License-Identifier: GPL-2.0-only */
#define KIND	rw0
#define VERSION 0
#include "tests/programs/who_rw.h"
