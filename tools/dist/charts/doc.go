// SPDX-License-Identifier: Apache-2.0

// Package charts makes the Helm charts of a release from deploy/.
//
// What a chart installs is written once, as kustomizations. A table (hub.go, member.go) says which kustomization stands for which
// value of the chart. Each is built by kustomize with and without it, and what differs becomes a condition of a template: a whole
// object, a field, or items of a list. So a template has the objects of all overlays, and a rule that is changed in deploy/ is
// changed in the charts.
//
// deploy/charts/ holds what kustomize has no word for: values, their schema, and the notes. places.go says where in the
// Deployments values stand.
package charts
