// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"net/http"
	"strings"
)

// class is what requests are for. Each class has a part of a member's budget of requests that no other
// can use up. Which one a request is of follows from the request, so that no caller can forget to say it.
type class int

const (
	// scraped is the usage of Pods and nodes.
	scraped class = iota
	// relayed are custom and external metrics: what tenants of the hub ask, in any number.
	relayed
	// written is what is changed.
	written
	// other is what else is read: lists, watches, scales, discovery.
	other

	classes = 4
)

// classify returns the class of a request for a path of the cluster, and the namespace that it is about; empty: of none.
func classify(method, path string) (of class, namespace string) {
	group, rest := "", path
	if path, found := strings.CutPrefix(path, "/apis/"); found {
		group, rest, _ = strings.Cut(path, "/")
	}
	if _, path, found := strings.Cut(rest, "/namespaces/"); found {
		namespace, _, _ = strings.Cut(path, "/")
	}
	switch {
	case group == "authorization.k8s.io": // reviews are posted, and change nothing
		return other, namespace
	case method != http.MethodGet:
		return written, namespace
	case group == "metrics.k8s.io":
		return scraped, namespace
	case group == "custom.metrics.k8s.io", group == "external.metrics.k8s.io":
		return relayed, namespace
	}
	return other, namespace
}
