// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

// Reasons of conditions and Events.
const (
	// reasonRulesUnderstood: every rule can run as it is written.
	reasonRulesUnderstood = "RulesUnderstood"
	// reasonInvalidRule: at least one rule can not; the others run.
	reasonInvalidRule = "InvalidRule"
	// reasonFound: the target exists and can be read.
	reasonFound = "Found"
	// reasonNotFound: the target, or its kind, does not exist on the hub.
	reasonNotFound = "NotFound"
	// reasonUnreachable: the hub did not let us read the target; it is tried again.
	reasonUnreachable = "Unreachable"
	// reasonNotSet: the hub did not let us set the target; it is tried again.
	reasonNotSet = "NotSet"
	// reasonRefused: the hub does not accept what a rule sets.
	reasonRefused = "Refused"
	// reasonAutoscaled: another autoscaler sets the replicas of the target.
	reasonAutoscaled = "Autoscaled"
	// reasonNoOther: no other autoscaler does.
	reasonNoOther = "NoOther"

	// eventDelayed: a run is due and can not be done yet.
	eventDelayed = "RunDelayed"
	// eventAnotherController: somebody else writes the status too, so nothing is done.
	eventAnotherController = "AnotherController"
	// eventSucceeded: a run set the target, or found it as it should be.
	eventSucceeded = "RunSucceeded"
	// eventFailed: a run was given up, missed or superseded.
	eventFailed = "RunFailed"
)
