// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

// write is one request of a client, the number-th of its kind.
type write struct {
	number   int
	resource string // of which kind
	update   bool
	faulty   bool // in a way that the schema lets pass
}

// period is after how many writes the same come again. One in ten is faulty, in
// turns of each kind.
const period = 40

// writes are, in turns, what is created and updated of each kind.
func writes(number int) write {
	return write{
		number:   number,
		resource: []string{federated, cron}[number%4/2],
		update:   number%2 == 1,
		faulty:   number%period%11 == 0,
	}
}

// creations are of each kind, and none of them is faulty.
func creations(number int) write {
	return write{number: number, resource: []string{federated, cron}[number%2]}
}

const (
	federated = "federatedhpas"
	cron      = "cronfederatedhpas"
)

// unlike is the number of what is stored at first: no later write is like it.
const unlike = -1

const group = "/apis/autoscaling.karmada.io/v1alpha1/namespaces/"

func (w write) method() string {
	if w.update {
		return http.MethodPut
	}
	return http.MethodPost
}

func (w write) path(namespace string) string {
	path := group + namespace + "/" + w.resource
	if w.update {
		path += "/" + stored
	}
	return path
}

// stored is the name of those that are updated.
const stored = "stored"

// label is that of all that is written, by which it is deleted.
const label = "fleetscale.io/bench"

// What people write, more or less.
const (
	federatedHPA = `{"apiVersion":"autoscaling.karmada.io/v1alpha1","kind":"FederatedHPA",` +
		`"metadata":{"name":"NAME","namespace":"NAMESPACE","labels":{"` + label + `":"webhook"}VERSION},"spec":{` +
		`"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"NAME"},"maxReplicas":MAXIMUM,` +
		`"metrics":[{"type":"Resource","resource":{"name":"RESOURCE","target":{"type":"Utilization","averageUtilization":60}}},` +
		`{"type":"Pods","pods":{"metric":{"name":"requests_per_second"},"target":{"type":"AverageValue","averageValue":"100"}}}],` +
		`"behavior":{"scaleDown":{"stabilizationWindowSeconds":300,"policies":[{"type":"Percent","value":10,"periodSeconds":60}]}}}}`
	cronFederatedHPA = `{"apiVersion":"autoscaling.karmada.io/v1alpha1","kind":"CronFederatedHPA",` +
		`"metadata":{"name":"NAME","namespace":"NAMESPACE","labels":{"` + label + `":"webhook"}VERSION},"spec":{` +
		`"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"cron-NAME"},"rules":[` +
		`{"name":"morning","schedule":"MINUTE 8 * * *","targetReplicas":MAXIMUM,"timeZone":"Europe/Berlin"},` +
		`{"name":"evening","schedule":"30 18 * * *","targetReplicas":2,"timeZone":"Europe/Berlin"}]}}`
)

// object returns what is written. Updates are of that version of what is stored, and
// change the spec, or the hub would not ask about them.
func (w write) object(namespace, name, version string) []byte {
	if w.update {
		name = stored
	}
	if version != "" {
		version = `,"resourceVersion":"` + version + `"`
	}
	text, minute, resource := federatedHPA, "30", "cpu"
	if w.resource == cron {
		text = cronFederatedHPA
	}
	if w.faulty {
		minute, resource = "61", "gpu"
	}
	const least, kinds = 4, 50
	maximum := fmt.Sprint(least + w.number%kinds)
	return []byte(strings.NewReplacer("NAMESPACE", namespace, "NAME", name, "VERSION", version, "MAXIMUM", maximum, "MINUTE", minute,
		"RESOURCE", resource).Replace(text))
}

// admitted returns what is wrong with the hub's answer if nothing checks for faults.
func (w write) admitted(code int, body []byte) error {
	want := http.StatusCreated
	if w.update {
		want = http.StatusOK
	}
	if code != want {
		return fmt.Errorf("%s: %d, want %d: %s", w, code, want, body)
	}
	return nil
}

// judged returns what is wrong with the hub's answer if our webhook was asked: what is
// faulty is refused by it, with the field, and the rest has its defaults.
func (w write) judged(code int, body []byte) error {
	if !w.faulty {
		return cmp.Or(w.admitted(code, body), w.holds(body, map[string]string{federated: `"minReplicas":1`, cron: `"suspend":false`}[w.resource]))
	}
	if code != http.StatusUnprocessableEntity {
		return fmt.Errorf("%s: %d, want %d: %s", w, code, http.StatusUnprocessableEntity, body)
	}
	by := strings.TrimSuffix(w.resource, "s") + `.fleetscale.io\" denied the request`
	return cmp.Or(w.holds(body, by), w.holds(body, w.field()))
}

// field is the faulty one.
func (w write) field() string {
	return map[string]string{federated: `"field":"spec.metrics[0].resource.name"`, cron: `"field":"spec.rules[0].schedule"`}[w.resource]
}

func (w write) holds(body []byte, want string) error {
	if !bytes.Contains(body, []byte(want)) {
		return fmt.Errorf("%s: the answer lacks %s: %s", w, want, body)
	}
	return nil
}

// String names it in a complaint.
func (w write) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", map[bool]string{true: "faulty", false: "valid"}[w.faulty], w.method(), w.resource))
}
