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
// HorizontalPodAutoscaler, with what came of it; one for each other write, and
// then for each other request, of users of the groups in their places; and none
// for anything else.
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
// questions for metrics is told too. recordedWrites is for those of whose writes it is
// told what was stored.
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
	recordedWrites = `- level: RequestResponse
  userGroups: %s
  verbs: [create, update, patch, delete]
  omitStages: [RequestReceived, ResponseStarted, Panic]
`
)

func (c *Cluster) auditLog() string { return filepath.Join(c.dir(), "audit.log") }

// auditFlags have the API server keep that log.
func (b *bringUp) auditFlags() ([]string, error) {
	metrics, err := ruleFor(b.plan.recorded, recordedMetrics)
	writes, errWrites := ruleFor(b.plan.recordedWrites, recordedWrites)
	rest, errRest := ruleFor(b.plan.recorded, recordedRule)
	if err := errors.Join(err, errWrites, errRest); err != nil {
		return nil, fmt.Errorf("writing the audit policy: %w", err)
	}
	policy := filepath.Join(b.dir(), "audit-policy.yaml")
	if err := os.WriteFile(policy, fmt.Appendf(nil, auditPolicy, metrics, writes+rest), 0o644); err != nil {
		return nil, fmt.Errorf("writing the audit policy: %w", err)
	}
	const most = "1024" // MiB: beyond it the log is rotated
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + b.auditLog(), "--audit-log-maxsize=" + most}, nil
}

// ruleFor is a rule for users of these groups; without any it is none.
func ruleFor(groups []string, rule string) (string, error) {
	if len(groups) == 0 {
		return "", nil
	}
	list, err := json.Marshal(groups)
	return fmt.Sprintf(rule, list), err
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
