// SPDX-License-Identifier: Apache-2.0

// Package speccopy keeps a copy of those fields of a spec that another schema of the kind lacks, in an annotation of the object.
//
// The kinds FederatedHPA and CronFederatedHPA are Karmada's too, with fewer fields. While the hub serves Karmada's schema it drops
// ours from each object that is written, be it for a label or a status. No schema reaches into an annotation, so what was there
// can be told, and restored.
//
// The copy is written with each admitted write ([Admit]), from what is stored and what was sent, never from the annotation that was
// sent: so nobody else can write it. A field that a person removes is stored before the write and missing after it; one that the
// hub dropped is missing in both, and stays in the copy.
package speccopy
