// SPDX-License-Identifier: Apache-2.0

// Package openapi holds the OpenAPI definitions of what the metrics adapter serves but the library does not describe: metrics.k8s.io in v1
// and v1beta1, and
// the types of every API server (lists, tables, statuses, discovery). All but this page is written by `make generate`.
package openapi
