/* SPDX-License-Identifier: GPL-2.0-only */
/* Profiles that were recorded of programs, see recorded/README.md. */
#ifndef QUARTZ_TESTS_RECORDED_H
#define QUARTZ_TESTS_RECORDED_H

#include "core/model/profile.h"

/* Reads recorded/FOLDER/NAME.pb.gz, to be freed with qz_profile__free. Fails the test where it cannot. */
struct qz_profile *recorded__read(const char *folder, const char *name);

#endif
