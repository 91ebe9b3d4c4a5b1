/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it is said that something is more or less than something else: in percent as long as that is easy to read, and from twice as much
 * on by how many times it is.
 */
#ifndef QUARTZ_CORE_RATIO_TEXT_H
#define QUARTZ_CORE_RATIO_TEXT_H

#include <stdbool.h>

#define QZ_RATIO_TEXT 96

/* Whether it is said by how many times. */
bool qz_ratio_text__is_times(double ratio);

/* "2.1 times", "153 times". */
void qz_ratio_text__times(char text[QZ_RATIO_TEXT], double ratio);

/* Of a figure that changes: "+12%", "-3%", "15.3 times". */
void qz_ratio_text__change(char text[QZ_RATIO_TEXT], double ratio);

/* "12% more WHAT than", "3% less WHAT than", "15.3 times as much WHAT as". */
void qz_ratio_text__amount(char text[QZ_RATIO_TEXT], double ratio, const char *what);

/* What is gained by who takes so many times as long: "48.1%", "-12.0%", "15.3 times as slow". */
void qz_ratio_text__gain(char text[QZ_RATIO_TEXT], double ratio);

/* Half of an interval of the ratio, in the unit in which its gain is said: "±4.2". */
void qz_ratio_text__gain_within(char text[QZ_RATIO_TEXT], double ratio, double ci);

#endif
