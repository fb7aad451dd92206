// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/sim"
)

func TestAnyServerIsMeasured(t *testing.T) {
	m := newFleet(t, 1).Members()[0]
	if err := m.Run(sim.Workload{Namespace: shop, Name: "web", Replicas: 7}); err != nil {
		t.Fatal(err)
	}
	for name, pid := range map[string]measure.Process{"one of this machine": measure.Process(os.Getpid()), "one that is elsewhere": 0} {
		t.Run(name, func(t *testing.T) {
			s := server(t, m)
			s.PID = pid
			const short = 5 * time.Millisecond
			section, err := listsOf(t.Context(), s, []string{shop}, plan{Rounds: 2, For: short, Settle: short, Clients: []int{1, 3}}, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			rows := section.Tables[0].Rows
			if len(rows) != 4 || rows[3][1] != "7" || rows[3][3] != "3" || !strings.Contains(rows[0][8], "(") {
				t.Errorf("%v", rows)
			}
			if known := rows[0][7] != "–"; known != (pid != 0) {
				t.Errorf("its CPU is told as %s", rows[0][7])
			}
			m.Behave(sim.Conduct{Failing: 1})
			defer m.Behave(sim.Conduct{})
			if _, err := listsOf(t.Context(), s, []string{shop}, plan{Rounds: 1, Clients: []int{1}}, io.Discard); err == nil {
				t.Error("a server that fails was measured")
			}
		})
	}
}
