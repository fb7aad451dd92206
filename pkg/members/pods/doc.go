// SPDX-License-Identifier: Apache-2.0

// Package pods knows the Pods of the fleet's members: those of the namespaces
// that somebody asks for, or all of a member, as compact records. How they are
// read, and for how long they are kept, is package mirror's.
//
//	Record ──► template: namespace, requests, limits, labels, and by what they were sized
//	       └─► rare: what few Pods have at one time, as they wait for a node, are resized, or were killed
//
// One record serves who decides on replicas (Ask), who sizes their containers
// (AskSized) and who estimates room (AskAll): the Pods of a member are watched, and
// kept, once. A template is shared by all records that
// have the same, and goes with the last of them; so a Pod of a template that has
// others costs about 125 bytes, and one that is being resized some 100 more.
package pods
