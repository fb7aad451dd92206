// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"net/http"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Request is one that the API server got. A watch is one once it has ended.
type Request struct {
	// User sent it.
	User string
	// Verb is that of the API, such as list; for what is no resource, the method.
	Verb string
	// Group, Resource and Subresource are empty for what is no resource.
	Group, Resource, Subresource string
	// URI is its path with its query.
	URI string
	// Begun is when the API server got it.
	Begun time.Time
	// Code is that of the answer.
	Code int32
}

// Requests returns those of the users in [Hub.Recorded] that have been answered
// so far, in the order of that.
func (c *Cluster) Requests() ([]Request, error) {
	return c.answered(func(*auditv1.Event) bool { return true })
}

// Refused returns those of the users in [Hub.Recorded] to which the API server said that they may not do that, metrics included.
func (c *Cluster) Refused() ([]Request, error) {
	return c.answered(func(e *auditv1.Event) bool {
		return e.ResponseStatus != nil && e.ResponseStatus.Code == http.StatusForbidden
	})
}

func (c *Cluster) answered(chosen func(*auditv1.Event) bool) ([]Request, error) {
	events, err := c.audited(auditv1.StageResponseComplete)
	all := make([]Request, 0, len(events))
	for i := range events {
		e := &events[i]
		if !chosen(e) {
			continue
		}
		r := Request{User: e.User.Username, Verb: e.Verb, URI: e.RequestURI, Begun: e.RequestReceivedTimestamp.Time}
		if e.ObjectRef != nil {
			r.Group, r.Resource, r.Subresource = e.ObjectRef.APIGroup, e.ObjectRef.Resource, e.ObjectRef.Subresource
		}
		if e.ResponseStatus != nil {
			r.Code = e.ResponseStatus.Code
		}
		all = append(all, r)
	}
	return all, err
}
