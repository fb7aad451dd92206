// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

func TestTablesArePrintable(t *testing.T) {
	var out bytes.Buffer
	table := &metav1.Table{
		ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name", Type: "string"}},
		Rows:              []metav1.TableRow{{Cells: []any{"a\x1b[2J\u009b\u202eb\nwest joined"}}},
	}
	if err := PrintTable(&out, table, false); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != fleet.PrintableLines(got) || bytes.Contains(out.Bytes(), []byte("\nwest")) {
		t.Errorf("printed %q", got)
	}
}

func TestWarningsArePrintable(t *testing.T) {
	var out bytes.Buffer
	rest.NewWarningWriter(printable{&out}, rest.WarningWriterOptions{}).HandleWarningHeader(299, "east", "no\u009b2J\x1b")
	if want := "Warning: no\ufffd2J\ufffd\n"; out.String() != want {
		t.Errorf("warned %q, want %q", out.String(), want)
	}
}
