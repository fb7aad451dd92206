// SPDX-License-Identifier: Apache-2.0

package memberapi

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/grants"
)

// unknown stands where nothing is known.
const unknown = "<unknown>"

func columns() []metav1.TableColumnDefinition {
	column := func(name, description string, priority int32) metav1.TableColumnDefinition {
		return metav1.TableColumnDefinition{Name: name, Type: "string", Description: description, Priority: priority}
	}
	name := column("Name", "Name of the cluster.", 0)
	name.Format = "name"
	return []metav1.TableColumnDefinition{
		name,
		column("State", "State, and Cordoned or Drained.", 0),
		column("Reason", "Why it is not ready; empty when it is.", 0),
		column("Source", "Source and name of the registration.", 0),
		column("Version", "Version of Kubernetes.", 0),
		column("Metrics", "Metrics APIs that it serves.", 0),
		{Name: "Pods", Type: "integer", Description: "Pods whose cpu and memory are in memory."},
		column("Age", "Time since it last answered.", 0),
		column("Clock", "Its clock minus ours.", 1),
		column("Rights", "Credentials that work, and how many rights others lack.", 1),
		column("Token", "Until a token expires.", 1),
		column("Message", "What is wrong, and what to do.", 1),
	}
}

func tableOf(object, options runtime.Object) *metav1.Table {
	table := &metav1.Table{}
	if o, ok := options.(*metav1.TableOptions); !ok || !o.NoHeaders {
		table.ColumnDefinitions = columns()
	}
	now := time.Now()
	switch m := object.(type) {
	case *v1alpha1.MemberList:
		table.ResourceVersion = m.ResourceVersion
		for i := range m.Items {
			table.Rows = append(table.Rows, rowOf(&m.Items[i], now))
		}
	case *v1alpha1.Member:
		table.ResourceVersion = m.ResourceVersion
		table.Rows = append(table.Rows, rowOf(m, now))
	}
	return table
}

func rowOf(m *v1alpha1.Member, now time.Time) metav1.TableRow {
	return metav1.TableRow{Cells: cells(m, now), Object: runtime.RawExtension{Object: m}}
}

func cells(m *v1alpha1.Member, now time.Time) []any {
	s := &m.Status
	state, reason := string(s.State), s.Reason
	if s.Standing != "" {
		state += "," + s.Standing
	}
	if s.State == v1alpha1.MemberReady {
		reason = ""
	}
	return []any{
		m.Name, state, reason, path.Join(s.Source.Name, s.Source.ObjectName), orUnknown(s.KubernetesVersion), metricsCell(s),
		int64(s.MeasuredPods), ageCell(s.LastAnswerTime, now), clockCell(s.ClockOffsetMilliseconds), rightsCell(s),
		tokenCell(s.ControllerManager, now), messageCell(s),
	}
}

func orUnknown(text string) string {
	if text == "" {
		return unknown
	}
	return text
}

// metricsCell is the first word of each API.
func metricsCell(s *v1alpha1.MemberStatus) string {
	if s.KubernetesVersion == "" && len(s.MetricsAPIs) == 0 {
		return unknown
	}
	words := make([]string, 0, len(s.MetricsAPIs))
	for _, api := range s.MetricsAPIs {
		word, _, _ := strings.Cut(api, ".")
		words = append(words, word)
	}
	if len(words) == 0 {
		return "<none>"
	}
	return strings.Join(words, ",")
}

func ageCell(at *metav1.Time, now time.Time) string {
	if at == nil {
		return "<never>"
	}
	return duration.HumanDuration(now.Sub(at.Time))
}

func clockCell(milliseconds *int64) string {
	if milliseconds == nil {
		return unknown
	}
	return fmt.Sprintf("%+.1fs", float64(*milliseconds)/1000)
}

// rightsCell are the credentials that work, and those that are accepted and lack rights; who writes may have lost theirs, or got them back,
// where nobody tells of it.
func rightsCell(s *v1alpha1.MemberStatus) string {
	var cell []string
	add := func(right string, missing []string) {
		if n := grants.Count(missing); n > 0 {
			cell = append(cell, fmt.Sprintf("%s (%d missing)", right, n))
		} else if slices.Contains(s.Rights, right) {
			cell = append(cell, right)
		}
	}
	add(rightRead, s.MissingRights)
	switch v := s.ControllerManager; {
	case v == nil:
	case v.Stale:
		cell = append(cell, unknown)
	default:
		add(rightWrite, v.MissingRights)
	}
	return strings.Join(cell, ",")
}

func tokenCell(v *v1alpha1.ControllerManagerView, now time.Time) string {
	switch {
	case v == nil, v.Stale:
		return unknown
	case v.TokenExpiry == nil:
		return "<none>"
	case !now.Before(v.TokenExpiry.Time):
		return "expired"
	}
	return duration.HumanDuration(v.TokenExpiry.Sub(now))
}

// messageCell is what is wrong with the credential that writes, where nothing else is, and then which rights are missing.
func messageCell(s *v1alpha1.MemberStatus) string {
	if v := s.ControllerManager; s.Message == "" && v != nil {
		switch {
		case v.Stale:
			return "writing: no controller-manager has told of it for minutes: is one running?"
		case v.Message != "":
			return "writing: " + v.Message
		case len(s.MissingRights) == 0 && len(v.MissingRights) > 0:
			return "writing: " + denied(v.MissingRights)
		}
	}
	if s.Message == "" && len(s.MissingRights) > 0 {
		return "reading: " + denied(s.MissingRights)
	}
	return s.Message
}

// mostDenied is how many rights a message names.
const mostDenied = 3

func denied(rights []string) string {
	return "the cluster denies " + strings.Join(grants.Few(rights, mostDenied), ", ")
}
