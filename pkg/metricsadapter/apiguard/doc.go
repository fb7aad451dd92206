// SPDX-License-Identifier: Apache-2.0

// Package apiguard watches the APIServices that lead the hub's metrics APIs
// to the metrics adapter, and tells when somebody points them elsewhere. It never
// writes: a program that may rewrite APIServices could become any API of its hub.
// An administrator does that (pkg/plugin/takeover), with the administrator's rights.
package apiguard
