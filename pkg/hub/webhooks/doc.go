// SPDX-License-Identifier: Apache-2.0

// Package webhooks knows whether webhooks of Karmada are asked about our kinds.
//
// Karmada has FederatedHPA and CronFederatedHPA too, with fewer fields. Its
// webhooks refuse what it does not know, or take it out of what is written,
// whatever the kinds on the hub have. Who installs our kinds takes these webhooks
// out of Karmada's configurations, and the next run of Karmada's installer
// brings them back.
//
//	InMutating, InValidating  which webhooks of a configuration are such
//	Watch                     reads both configurations, and tells of each change
//
// Nothing is written: a program that may rewrite webhook configurations may
// read and change whatever is stored on its hub. An administrator does that.
package webhooks
