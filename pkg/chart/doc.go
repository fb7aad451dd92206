// SPDX-License-Identifier: Apache-2.0

// Package chart draws pictures of figures as SVG: what is measured of the programs, and what a replay comes to.
//
//	plot.go   one picture: its axes, names, and what it is drawn of
//	lines.go  its lines, as points or as steps, and spans of what is not known
//	axis.go   values ↔ pixels; time.go those of time
//
// A picture stands by itself, in the light and in the dark: it loads nothing, and names of others are text in it. It is pure.
package chart
