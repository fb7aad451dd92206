// SPDX-License-Identifier: Apache-2.0

// Package capacity_test has kube-scheduler judge the estimates: many small clusters are thrown, side by side in one
// real one, and in each a Deployment is scaled to more than fits.
package capacity_test
