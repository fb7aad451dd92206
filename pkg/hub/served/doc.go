// SPDX-License-Identifier: Apache-2.0

// Package served knows whether the hub's kinds of autoscaling.karmada.io are
// ours alone, and so whether it is safe to act on them.
//
//	Checker  does the hub keep every field that we read and write? Karmada has
//	         two of them too, with fewer fields; where an upgrade of Karmada
//	         brings its CustomResourceDefinitions back, the hub drops the rest
//	         of each object, on reading as well, and a FederatedHPA of one mode
//	         looks like one of the other.
//	Rival    does another controller write the status of the same object?
//	Cut      was the object written meanwhile, so that it has lost fields of ours?
//	Doubt    may that be so, as the hub shows less of it than was written?
//
// The schema is read from the OpenAPI document of the group, which every
// identity of a cluster may read: no right has to be granted for it. It is the
// schema that the API server works with, not the one that somebody asked for.
package served
