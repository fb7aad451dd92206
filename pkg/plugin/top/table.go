// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Columns say what a table has beside clusters and usage.
type Columns struct {
	// Of is what is counted or named: Pods or nodes.
	Of string
	// Summed is for rows of clusters; a last one has the sum of all.
	Summed, Namespaces, Containers bool
}

// Table is rows for people, in the units of kubectl top.
func Table(rows []Usage, has Columns) *metav1.Table {
	table := &metav1.Table{}
	column := func(name string) {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string"})
	}
	if has.Summed {
		column("Cluster")
		column(has.Of)
		rows = append(rows[:len(rows):len(rows)], total(rows))
	} else {
		if has.Namespaces {
			column("Namespace")
		}
		column("Name")
		if has.Containers {
			column("Container")
		}
		column("Cluster")
	}
	column("CPU(cores)")
	column("Memory(bytes)")
	for _, row := range rows {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: has.cells(row)})
	}
	return table
}

func total(rows []Usage) Usage {
	whole := Whole(rows)
	whole.Cluster = "(all)"
	return whole
}

func (has Columns) cells(row Usage) []any {
	var cells []any
	cluster := cmp.Or(row.Cluster, "-")
	if has.Summed {
		cells = append(cells, cluster, row.Count)
	} else {
		if has.Namespaces {
			cells = append(cells, row.Namespace)
		}
		cells = append(cells, row.Name)
		if has.Containers {
			cells = append(cells, row.Container)
		}
		cells = append(cells, cluster)
	}
	return append(cells, fmt.Sprintf("%dm", row.CPUMilli), fmt.Sprintf("%dMi", row.MemoryBytes>>20))
}
