// SPDX-License-Identifier: Apache-2.0

// Package memberhpa knows the HorizontalPodAutoscalers of distributed mode: what one is to be, how that is written, and
// what it tells. It is pure: a caller reads and writes them.
//
//	to a cluster    [Render]  what a cluster is given becomes an object        render.go
//	                [Encode]  the object becomes the body of a server-side apply, in the words of a version   encode.go
//	                [Stands]  that apply would change nothing                  stands.go
//	from a cluster  [Read]    what its status says of load and replicas        read.go, ratio.go
//
// Only what is rendered is ours. What others write beside it (annotations, fields that the FederatedHPA does not set)
// is theirs, and stays.
package memberhpa
