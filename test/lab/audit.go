// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditPolicy keeps a line for each question for metrics of any of the three APIs,
// which is there before the question is answered; one for each write of a
// HorizontalPodAutoscaler, with what came of it; one for each other request of
// users of the groups in its place; and none for anything else.
const auditPolicy = `# SPDX-License-Identifier: Apache-2.0
apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
rules:
%[1]s- level: Metadata
  resources: [{group: metrics.k8s.io}, {group: custom.metrics.k8s.io}, {group: external.metrics.k8s.io}]
  omitStages: [ResponseStarted, ResponseComplete, Panic]
- level: RequestResponse
  verbs: [create, update, patch, delete]
  resources: [{group: autoscaling, resources: [horizontalpodautoscalers]}]
  omitStages: [RequestReceived, ResponseStarted, Panic]
%[2]s- level: None
`

// recordedMetrics and recordedRule are for the users of some groups: what came of their
// questions for metrics is told too.
const (
	recordedMetrics = `- level: Metadata
  userGroups: %s
  resources: [{group: metrics.k8s.io}, {group: custom.metrics.k8s.io}, {group: external.metrics.k8s.io}]
  omitStages: [ResponseStarted, Panic]
`
	recordedRule = `- level: Metadata
  userGroups: %s
  omitStages: [RequestReceived, ResponseStarted, Panic]
`
)

func (c *Cluster) auditLog() string { return filepath.Join(c.dir(), "audit.log") }

// auditFlags have the API server keep that log.
func (b *bringUp) auditFlags() ([]string, error) {
	metrics, rule := "", ""
	if len(b.plan.recorded) > 0 {
		groups, err := json.Marshal(b.plan.recorded)
		if err != nil {
			return nil, fmt.Errorf("writing the audit policy: %w", err)
		}
		metrics, rule = fmt.Sprintf(recordedMetrics, groups), fmt.Sprintf(recordedRule, groups)
	}
	policy := filepath.Join(b.dir(), "audit-policy.yaml")
	if err := os.WriteFile(policy, fmt.Appendf(nil, auditPolicy, metrics, rule), 0o644); err != nil {
		return nil, fmt.Errorf("writing the audit policy: %w", err)
	}
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + b.auditLog()}, nil
}

// Question is a request for metrics: usage, custom or external ones.
type Question struct {
	// User asked it.
	User string
	// URI is its path with its query.
	URI string
}

// Questions returns the requests for metrics that the cluster's API server has got so far, in their order.
func (c *Cluster) Questions() ([]Question, error) {
	events, err := c.audited(auditv1.StageRequestReceived)
	var all []Question
	for i := range events {
		all = append(all, Question{User: events[i].User.Username, URI: events[i].RequestURI})
	}
	return all, err
}

// audited are the lines of one stage, in their order.
func (c *Cluster) audited(stage auditv1.Stage) ([]auditv1.Event, error) {
	data, err := os.ReadFile(c.auditLog())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nobody asked yet
	}
	if err != nil {
		return nil, fmt.Errorf("reading what %s was asked: %w", c.Name, err)
	}
	var all []auditv1.Event
	for line := range bytes.Lines(data) {
		var event auditv1.Event
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it is being written
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("reading what %s was asked: %w", c.Name, err)
		}
		if event.Stage == stage {
			all = append(all, event)
		}
	}
	return all, nil
}
