// SPDX-License-Identifier: Apache-2.0

package crontab

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

const layout = "Mon 2006-01-02 15:04"

// Table is the plan for people; namespaces are shown where there may be several.
func Table(runs []Run, now time.Time, namespaces bool) *metav1.Table {
	columns := []string{"Name", "Rule", "In", "At", "Zone", "Local", "Sets", "Target", "Notes"}
	if namespaces {
		columns = append([]string{"Namespace"}, columns...)
	}
	table := &metav1.Table{}
	for _, name := range columns {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string"})
	}
	for i := range runs {
		r := &runs[i]
		in, at, local := "never", "-", "-"
		if r.At != nil {
			in, at, local = duration.HumanDuration(r.At.Sub(now)), r.At.Format(layout), r.Local.Format(layout+" MST")
		}
		cells := []any{r.Name, r.Rule, in, at, r.Zone, local, orNone(r.Sets), r.Target, orNone(strings.Join(r.Notes, "; "))}
		if namespaces {
			cells = append([]any{r.Namespace}, cells...)
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
	}
	return table
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
