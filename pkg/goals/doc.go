// SPDX-License-Identifier: Apache-2.0

// Package goals makes of the goals of a MultidimPodAutoscaler the FederatedHPA that it owns.
//
// A utilization of what Pods request would change with their size: made smaller, they would be fuller, so more of them were
// run, which are less used, so made smaller still. So each target of type Utilization becomes an AverageValue: the amount that
// is this percentage of a base that no sizing changes. That amount is told to whoever sizes, too, as a [Floor]; [Shares] divides it
// among containers, and [Reserves] says for which Pods it holds.
package goals
