/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/ratio_text.h"

#include <math.h>
#include <stdio.h>

#define TIMES	 2   /* from here on */
#define ROUND_AT 100 /* no one wants a decimal of so many times */

/* What would be written as -0.0 is nothing. */
static double without_sign(double percent, double least)
{
	return fabs(percent) < least / 2 ? 0 : percent;
}

bool qz_ratio_text__is_times(double ratio)
{
	return ratio >= TIMES;
}

static int decimals_of(double ratio)
{
	return ratio < ROUND_AT - 0.05 ? 1 : 0;
}

void qz_ratio_text__times(char text[QZ_RATIO_TEXT], double ratio)
{
	snprintf(text, QZ_RATIO_TEXT, "%.*f times", decimals_of(ratio), ratio);
}

void qz_ratio_text__change(char text[QZ_RATIO_TEXT], double ratio)
{
	if (qz_ratio_text__is_times(ratio))
		qz_ratio_text__times(text, ratio);
	else
		snprintf(text, QZ_RATIO_TEXT, "%+.0f%%", without_sign(100 * (ratio - 1), 1));
}

void qz_ratio_text__amount(char text[QZ_RATIO_TEXT], double ratio, const char *what)
{
	if (qz_ratio_text__is_times(ratio))
		snprintf(text, QZ_RATIO_TEXT, "%.*f times as much %s as", decimals_of(ratio), ratio,
			 what);
	else
		snprintf(text, QZ_RATIO_TEXT, "%.0f%% %s %s than", 100 * fabs(ratio - 1),
			 ratio > 1 ? "more" : "less", what);
}

void qz_ratio_text__gain(char text[QZ_RATIO_TEXT], double ratio)
{
	if (qz_ratio_text__is_times(ratio))
		snprintf(text, QZ_RATIO_TEXT, "%.*f times as slow", decimals_of(ratio), ratio);
	else
		snprintf(text, QZ_RATIO_TEXT, "%.1f%%", without_sign(100 * (1 - ratio), 0.1));
}

void qz_ratio_text__gain_within(char text[QZ_RATIO_TEXT], double ratio, double ci)
{
	snprintf(text, QZ_RATIO_TEXT, "±%.1f", qz_ratio_text__is_times(ratio) ? ci : 100 * ci);
}
