// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// AutoscalerWrite is a write of a HorizontalPodAutoscaler that the cluster has
// accepted; those of its status are none.
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
			e.ResponseStatus == nil || e.ResponseStatus.Code >= http.StatusBadRequest {
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
