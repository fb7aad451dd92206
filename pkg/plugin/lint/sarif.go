// SPDX-License-Identifier: Apache-2.0

package lint

import "path/filepath"

// The part of SARIF 2.1.0 that is written: https://docs.oasis-open.org/sarif/sarif/v2.1.0/.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID string `json:"id"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// Every result of SARIF has a rule: these are for what has none of admission's.
const (
	ruleSurprise = "Surprise"
	ruleUnusable = "Unusable"
)

func (r *Report) sarif(version string) *sarifLog {
	run := sarifRun{
		Tool:    sarifTool{sarifDriver{Name: "kubectl-fleetscale lint", Version: version, Rules: []sarifRule{}}},
		Results: []sarifResult{},
	}
	seen := map[string]bool{}
	add := func(rule, level, text, file string, line int) {
		if !seen[rule] {
			seen[rule] = true
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{rule})
		}
		where := sarifPhysical{Artifact: sarifArtifact{filepath.ToSlash(file)}}
		if line > 0 {
			where.Region = &sarifRegion{line}
		}
		run.Results = append(run.Results, sarifResult{rule, level, sarifText{text}, []sarifLocation{{where}}})
	}
	for _, u := range r.Unusable {
		add(ruleUnusable, string(Error), u.Message, u.File, u.Line)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		rule := f.Rule
		if rule == "" {
			rule = ruleSurprise
		}
		add(rule, string(f.Severity), f.object()+": "+f.Message, f.File, f.Line)
	}
	return &sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}
