// SPDX-License-Identifier: Apache-2.0

package doctor

import "slices"

// Severity is how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // something does not work, or ends soon
	Warning Severity = "warning" // it works, and may surprise
)

// Finding is one thing that is wrong.
type Finding struct {
	Severity Severity `json:"severity"`
	// Cluster is the member that is concerned; empty: the hub.
	Cluster string `json:"cluster,omitempty"`
	// Object is what is concerned, as in "APIService v1.metrics.k8s.io"; empty: nothing by itself.
	Object string `json:"object,omitempty"`
	// What is wrong. It may repeat words of members and tenants.
	What string `json:"what"`
	// Fix is a command that repairs it, or tells more where people have to decide.
	Fix string `json:"fix"`
}

// Result is what came of a check.
type Result string

// The results, the worst first.
const (
	Failed     Result = "failed"     // there are errors
	Warned     Result = "warned"     // there are warnings only
	NotChecked Result = "notChecked" // nothing is wrong as far as could be seen
	Skipped    Result = "skipped"    // nobody asked for it
	Passed     Result = "passed"
)

// Check is one question about the fleet, and its answer.
type Check struct {
	Group  string `json:"group"`
	Name   string `json:"name"`
	About  string `json:"about"`
	Result Result `json:"result"`
	// NotChecked is what could not be seen, and what that needs.
	NotChecked []string `json:"notChecked,omitempty"`
	// Skipped is what to give to have it checked, or checked wholly.
	Skipped  string    `json:"skipped,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
}

// Report is the answers to all questions.
type Report struct {
	Checks []Check `json:"checks"`
}

// Count returns how many checks have a result.
func (r *Report) Count(result Result) int {
	n := 0
	for i := range r.Checks {
		if r.Checks[i].Result == result {
			n++
		}
	}
	return n
}

// Whole reports whether everything could be seen.
func (r *Report) Whole() bool {
	return !slices.ContainsFunc(r.Checks, func(c Check) bool { return len(c.NotChecked) > 0 })
}

// verdict is the answer to a question while it is found.
type verdict struct {
	notChecked []string
	skipped    string
	findings   []Finding
}

func (v *verdict) add(f Finding) { v.findings = append(v.findings, f) }

// unknown notes what could not be seen, once.
func (v *verdict) unknown(why string) {
	if !slices.Contains(v.notChecked, why) {
		v.notChecked = append(v.notChecked, why)
	}
}

// known returns a part of the picture; false: it is not known, which is noted.
func known[T any](v *verdict, r Read[T]) (T, bool) {
	if r.Unknown != "" {
		v.unknown(r.Unknown)
	}
	return r.Value, r.Unknown == ""
}

func (v *verdict) result() Result {
	switch {
	case slices.ContainsFunc(v.findings, func(f Finding) bool { return f.Severity == Error }):
		return Failed
	case len(v.findings) > 0:
		return Warned
	case len(v.notChecked) > 0:
		return NotChecked
	case v.skipped != "":
		return Skipped
	}
	return Passed
}

// Judge answers all questions by the picture.
func Judge(p *Picture) *Report {
	r := &Report{}
	for _, q := range questions() {
		var v verdict
		q.judge(&v, p)
		r.Checks = append(r.Checks, Check{
			Group: q.group, Name: q.name, About: q.about, Result: v.result(), NotChecked: v.notChecked, Skipped: v.skipped, Findings: v.findings,
		})
	}
	return r
}

// question is a check before it is made.
type question struct {
	group, name, about string
	judge              func(*verdict, *Picture)
}

// questions are all of them, in the order in which they are reported: what others depend on is first.
func questions() []question {
	const hub, members, autoscalers = "hub", "members", "autoscalers"
	return []question{
		{hub, "namespaces", "the namespaces of deploy/ exist", namespaces},
		{hub, "kinds", "the hub keeps every field of our kinds", kinds},
		{hub, "rights", "the programs have the rights of deploy/", rights},
		{hub, "programs", "those that run on the hub are available", programs},
		{hub, "apiservices", "metrics and members are served by the metrics-adapter", apiServices},
		{hub, "webhook", "autoscalers are completed and judged before they are stored", webhook},
		{hub, "leader", "one controller-manager works", leader},
		{hub, "rivals", "Karmada's controllers and webhooks of the same kinds are off", rivals},
		{members, "registrations", "each Secret of a registration is where it is read", registrations},
		{members, "reached", "the metrics-adapter reaches each member", reached},
		{members, "written", "the controller-manager reaches each member", written},
		{members, "granted", "their credentials have the rights that the programs need", granted},
		{members, "metrics", "each member has metrics of cpu and memory", metricsServers},
		{members, "clocks", "their clocks are the hub's", clocks},
		{members, "tokens", "tokens are renewed before they expire", tokens},
		{members, "identities", "our identities in members have the rights of deploy/member*", identities},
		{autoscalers, "readable", "none holds a quantity that nobody can parse", readable},
		{autoscalers, "targets", "no workload has two autoscalers", targets},
		{autoscalers, "statuses", "each does its work", statuses},
		{autoscalers, "sizes", "new Pods get their sizes in each cluster", sizes},
		{autoscalers, "leftovers", "none is left in members by an owner that is gone", leftovers},
	}
}
