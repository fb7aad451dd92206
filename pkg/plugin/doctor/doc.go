// SPDX-License-Identifier: Apache-2.0

// Package doctor finds what is wrong with a fleet, and says how to repair it.
//
//	gather   reads the hub, with the rights of the person who asks, into one [Picture]   gather*.go
//	judge    each check is a pure function of the picture                                checks*.go
//	report   for people and for programs                                                 report.go, print.go
//
// Members are seen by members.fleetscale.io, as the programs see them. Nobody's credentials but the person's own are used: a
// member is asked itself only where the person names a context for it. What the person may not read is not checked, and that is said.
package doctor
