// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// AutoscalerWrite is a write of a HorizontalPodAutoscaler that the cluster has
// accepted; those of its status, and dry runs, are none.
type AutoscalerWrite struct {
	Namespace, Name string
	// User wrote it.
	User string
	// Begun and Done are when the API server got the request, and when it had
	// answered it.
	Begun, Done time.Time
	// Stored is what has been there since, in whatever version it was written;
	// nil: nothing.
	Stored *autoscalingv2.HorizontalPodAutoscaler
}

// AutoscalerWrites returns what has been written so far, in the order of Done.
func (c *Cluster) AutoscalerWrites() ([]AutoscalerWrite, error) {
	events, err := c.audited(auditv1.StageResponseComplete)
	if err != nil {
		return nil, err
	}
	var all []AutoscalerWrite
	for i := range events {
		e := &events[i]
		if e.ObjectRef == nil || e.ObjectRef.Resource != "horizontalpodautoscalers" || e.Level != auditv1.LevelRequestResponse ||
			e.ResponseStatus == nil || e.ResponseStatus.Code >= http.StatusBadRequest || isDryRun(e.RequestURI) {
			continue
		}
		w := AutoscalerWrite{
			Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name, User: e.User.Username,
			Begun: e.RequestReceivedTimestamp.Time, Done: e.StageTimestamp.Time,
		}
		if e.Verb != "delete" {
			w.Stored = &autoscalingv2.HorizontalPodAutoscaler{}
			if err := json.Unmarshal(e.ResponseObject.Raw, w.Stored); err != nil {
				return nil, fmt.Errorf("reading what %s stores: %w", c.Name, err)
			}
			w.Name = w.Stored.Name
		}
		all = append(all, w)
	}
	return all, nil
}

// Write is a request that was to change an object, or to have something done with it, and has been answered.
type Write struct {
	// User sent it, from the address Source.
	User, Source string
	// Verb is that of the API, such as update.
	Verb                                          string
	Group, Resource, Subresource, Namespace, Name string
	// Begun and Done are when the API server got it, and when it had answered it.
	Begun, Done time.Time
	// Code is that of the answer.
	Code int32
	// Sent is what was to be stored, as JSON, or the patch. Stored is the answer where the code says that the write was accepted: the
	// object, or its metadata only if that was asked for.
	Sent, Stored []byte
}

// Accepted reports whether the answer says that it was done.
func (w *Write) Accepted() bool { return w.Code < http.StatusBadRequest }

// Writes returns those of the users in [Hub.RecordedWrites] that have been answered so far, and those of HorizontalPodAutoscalers by
// anybody, in the order of Done, whatever came of them; dry runs are none.
func (c *Cluster) Writes() ([]Write, error) {
	events, err := c.audited(auditv1.StageResponseComplete)
	if err != nil {
		return nil, err
	}
	var all []Write
	for i := range events {
		e := &events[i]
		if e.ObjectRef == nil || e.Level != auditv1.LevelRequestResponse || e.ResponseStatus == nil || isDryRun(e.RequestURI) {
			continue
		}
		w := Write{
			User: e.User.Username, Verb: e.Verb, Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource,
			Subresource: e.ObjectRef.Subresource, Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
			Begun: e.RequestReceivedTimestamp.Time, Done: e.StageTimestamp.Time, Code: e.ResponseStatus.Code,
		}
		if e.RequestObject != nil {
			w.Sent = e.RequestObject.Raw
		}
		if len(e.SourceIPs) > 0 {
			w.Source = e.SourceIPs[0]
		}
		if w.Accepted() && e.ResponseObject != nil {
			w.Stored = e.ResponseObject.Raw
			var named metav1.PartialObjectMetadata
			if err := json.Unmarshal(w.Stored, &named); err == nil && e.Verb == "create" && named.Name != "" {
				w.Name = named.Name // the server may have chosen it
			}
		}
		all = append(all, w)
	}
	return all, nil
}

// isDryRun reports whether what was asked for was not to be stored.
func isDryRun(requestURI string) bool {
	asked, err := url.ParseRequestURI(requestURI)
	return err == nil && asked.Query().Has("dryRun")
}
