// SPDX-License-Identifier: Apache-2.0

// Package restore keeps the specs of objects whole while a hub serves, or has served, a schema of their kind that lacks fields of
// ours. An object that has lost some is not acted on: its status says so, and then it gets them back from its copy (packages served
// and speccopy). It is used by the controllers of the kinds that Karmada has too: federatedhpa and cronfederatedhpa.
package restore
