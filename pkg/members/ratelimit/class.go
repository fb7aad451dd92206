// SPDX-License-Identifier: Apache-2.0

package ratelimit

import (
	"net/http"
	"strings"
)

// Class is what requests are for. Each class has a part of a member's budget of requests that no other
// can use up. Which one a request is of follows from the request, so that no caller can forget to say it.
type Class int

const (
	// Scraped is the usage of Pods and nodes.
	Scraped Class = iota
	// Relayed are custom and external metrics: what tenants of the hub ask, in any number.
	Relayed
	// Written is what is changed.
	Written
	// Other is what else is read: lists, watches, scales, discovery.
	Other

	classes = 4
)

// Classify returns the class of a request for a path of the cluster, and the namespace that it is about; empty: of none.
func Classify(method, path string) (of Class, namespace string) {
	group, rest := "", path
	if path, found := strings.CutPrefix(path, "/apis/"); found {
		group, rest, _ = strings.Cut(path, "/")
	}
	if _, path, found := strings.Cut(rest, "/namespaces/"); found {
		namespace, _, _ = strings.Cut(path, "/")
	}
	switch {
	case group == "authorization.k8s.io": // reviews are posted, and change nothing
		return Other, namespace
	case method != http.MethodGet:
		return Written, namespace
	case group == "metrics.k8s.io":
		return Scraped, namespace
	case group == "custom.metrics.k8s.io", group == "external.metrics.k8s.io":
		return Relayed, namespace
	}
	return Other, namespace
}
