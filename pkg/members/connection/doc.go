// SPDX-License-Identifier: Apache-2.0

// Package connection reaches one cluster's API server, which may be slow, wrong
// or hostile, so that neither whoever asks nor anybody else comes to harm by it.
//
// A [Peer] is what outlives its connections: the budget of requests, what its answers hold
// of our memory, the meter, the clock, the bound on decoders. A [Connection] is one way to it, with one set
// of credentials. Each request of any client of it
//
//   - ends within [Options].Timeout; one of [Connection.WatchClient] has begun to
//     be answered by then, and ends with the connection;
//   - waits for half of that at most for the budget of requests, of which each class of
//     requests has a share; within a class the namespaces take turns (package ratelimit);
//   - is answered by no more bytes than [Options].MaxAnswer after decompression,
//     and each event of a watch by no more than 16 MiB; its headers have 64 KiB at most;
//   - holds memory for what was read of its answer until that is decoded. All that
//     peers of the same [Options] hold is bounded, and so is what one of them does:
//     who holds the most gives way (budget.go);
//   - is read only if it is of a format that was asked for (contenttype.go);
//   - is decoded within bounds of time, by package guard's leave, once there is room for what that
//     takes (claim.go), and without ending the program if that panics ([Decode] does the same for what was asked for as bytes);
//   - does not wait for the credential plugin of another cluster, nor for its own for longer than the request lasts (login.go);
//   - is not told that something is not there by who is in front of the cluster (believe.go);
//   - follows no redirect, and shows no secret in an error;
//   - is counted and timed once.
//
// Nothing here decides whether a member is healthy: a request that fails is told, and so is
// a cluster that misbehaves (conduct.go). Package member probes, and decides.
package connection
