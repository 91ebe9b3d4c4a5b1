/* SPDX-License-Identifier: GPL-2.0-only */
#define KIND	rw1
#define VERSION 1
#include "tests/programs/who_rw.h"
