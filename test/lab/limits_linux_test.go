// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/test/lab/internal/cgroup"
)

func TestLimits(t *testing.T) {
	const group = "node/kubepods/pod1/c1/"
	version1 := func(quota, memory string) map[string]string {
		return map[string]string{
			"cpu/" + group + "cpu.cfs_quota_us": quota, "cpu/" + group + "cpu.cfs_period_us": "50000\n",
			"memory/" + group + "memory.limit_in_bytes": memory, "memory/node/memory.limit_in_bytes": "1\n",
		}
	}
	version2 := func(cpu, memory string) map[string]string {
		return map[string]string{"unified/" + group + "cpu.max": cpu, "unified/" + group + "memory.max": memory}
	}
	tests := map[string]struct {
		files   map[string]string
		want    Limits
		wantErr string
	}{
		"version 1":       {version1("30000\n", "134217728\n"), Limits{600, 134217728}, ""},
		"version 1, none": {version1("-1\n", "9223372036854771712\n"), Limits{}, ""},
		"version 1, no number": {version1("many\n", "1\n"), Limits{},
			`reading cpu.cfs_quota_us: strconv.ParseInt: parsing "many": invalid syntax`},
		"version 1, no group":   {map[string]string{"cpu/c2/x": "", "memory/c2/x": ""}, Limits{}, `no cgroup is called "c1"`},
		"version 2":             {version2("30000 50000\n", "134217728\n"), Limits{600, 134217728}, ""},
		"version 2, none":       {version2("max 100000\n", "max\n"), Limits{}, ""},
		"version 2, empty file": {version2("max 100000\n", ""), Limits{}, "memory.max is empty"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range tc.files {
				path := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			hierarchies := []cgroup.Hierarchy{
				{Controllers: []string{"cpu", "cpuacct"}, Mount: filepath.Join(dir, "cpu")},
				{Controllers: []string{"memory"}, Mount: filepath.Join(dir, "memory")},
				{Controllers: []string{"pids"}, Mount: filepath.Join(dir, "pids")},
			}
			if unified := filepath.Join(dir, "unified"); tc.files["unified/"+group+"cpu.max"] != "" {
				hierarchies = []cgroup.Hierarchy{{Unified: true, Mount: unified}}
			}
			got, err := limitsIn(hierarchies, "c1")
			if (err != nil || tc.wantErr != "") && fmt.Sprint(err) != tc.wantErr {
				t.Fatalf("limitsIn: error = %v, want %s", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}
