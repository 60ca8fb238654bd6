/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picture_script.h -- what a picture can do where scripts run. */
#ifndef CPPROF_OUTPUT_PICTURE_SCRIPT_H
#define CPPROF_OUTPUT_PICTURE_SCRIPT_H

/*
 * The script's lines; ends with NULL.  They fit a CDATA section, in SVG and in
 * HTML.  They add search, zoom and the whole path of the box under the pointer;
 * without them, the picture can be read all the same.
 */
extern const char *const picture_script[];

#endif
