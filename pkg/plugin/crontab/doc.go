// SPDX-License-Identifier: Apache-2.0

// Package crontab tells when the rules of CronFederatedHPAs run next, and what they set then: as the controller plans it,
// by the same pkg/schedule.
//
//	List      reads CronFederatedHPAs of the hub                list.go
//	Upcoming  plans them, without a clock or a cluster          upcoming.go
//	Table     prints the plan for people                        table.go
package crontab
