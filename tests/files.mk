# SPDX-License-Identifier: GPL-2.0-only
include $(wildcard tests/unit/*/files.mk) $(wildcard tests/*/files.mk)
