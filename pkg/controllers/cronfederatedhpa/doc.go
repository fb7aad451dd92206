// SPDX-License-Identifier: Apache-2.0

// Package cronfederatedhpa sets replicas, or the bounds of FederatedHPAs and
// MultidimPodAutoscalers, at the times that CronFederatedHPAs give.
//
// No state is kept between two reconciles of an object but its status: for
// each rule the time of its next run. A run is due once that time has come,
// whichever replica reconciles then, and however late. So restarts, changes of leader and
// steps of the clock need no care of their own.
//
//	gather  the object and its rules; if a run is due, the target and the
//	        object from the hub itself
//	decide  which runs are due, what they set together, what became of each,
//	        and when to reconcile again: pkg/cronplan, which has no clock and no client
//	apply   one write to the target, one to the status; then Events and metrics
//
// The write to the target holds only if nobody else wrote to it since it was
// read, and so is the write to the status. A program that ends between the
// two has set the target already: the next one finds it so, and records that.
//
// Several runs that are due together make one write:
//
//	08:30  morning    min 100, max 500  succeeded, with max 500
//	09:00  lunch      min 300           superseded by afternoon
//	10:00  afternoon  min 200           succeeded, with min 200
package cronfederatedhpa
