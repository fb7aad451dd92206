// SPDX-License-Identifier: Apache-2.0

// Package merge makes one metric of what many clusters say of it.
//
// There are three shapes, and each merges in its own way:
//
//	a list of objects     [Objects]  union: a Pod is (cluster, namespace, name)
//	one object            [Object]   a figure of the fleet, by default the sum of the clusters' figures
//	an external metric    [Series]   a series that several clusters see is one series, by default the largest value seen
//
// A client chooses otherwise by reserved keys of the metric selector, which
// [Choose] takes out before a member is asked. [Judge] decides whether what
// came back may be served while members are silent.
//
// Numbers are exact. Parts are summed as they are, in billionths, and only the
// outcome is rounded away from zero to the milli, which is what autoscalers
// read. Nothing wraps: what is beyond the bounds counts as the bound.
//
// The package is pure. Results share with the input what they do not change, so
// neither is to be written to afterwards.
package merge
