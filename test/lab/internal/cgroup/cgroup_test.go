// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHierarchies(t *testing.T) {
	const (
		memory = "31 24 0:27 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory\n"
		cpu    = "32 24 0:28 / /sys/fs/cgroup/cpu rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
		named  = "33 24 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
		second = "34 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
		others = "24 1 0:24 / / rw - ext4 /dev/vda rw\nnot a mount\n"
	)
	version1 := func(at, path string, controllers ...string) Hierarchy {
		return Hierarchy{Controllers: controllers, Mount: "/sys/fs/cgroup/" + at, Own: "/sys/fs/cgroup/" + at + path}
	}
	version2 := Hierarchy{Unified: true, Mount: "/sys/fs/cgroup", Own: "/sys/fs/cgroup/user.slice"}
	tests := map[string]struct {
		groups, mounts string
		want           []Hierarchy
		wantErr        string
	}{
		"version 1": {
			"4:memory:/lab/a\n3:cpu,cpuacct:/\n1:name=systemd:/\n", others + memory + cpu + named,
			[]Hierarchy{version1("memory", "/lab/a", "memory"), version1("cpu", "", "cpu", "cpuacct"), version1("systemd", "", "name=systemd")}, "",
		},
		"version 2": {"0::/user.slice\n", others + second, []Hierarchy{version2}, ""},
		"both, with memory in version 1": {
			"4:memory:/lab\n0::/user.slice\n", memory + second,
			[]Hierarchy{version1("memory", "/lab", "memory")}, "",
		},
		"both, with memory in version 2":  {"1:name=systemd:/\n0::/user.slice\n", named + second, []Hierarchy{version2}, ""},
		"a hierarchy that is not mounted": {"4:memory:/\n5:blkio:/\n", memory, []Hierarchy{version1("memory", "", "memory")}, ""},
		"a part of it is mounted": {
			"4:memory:/docker/x/lab\n", "31 24 0:27 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
			[]Hierarchy{version1("memory", "/lab", "memory")}, "",
		},
		"another part of it is mounted": {
			"4:memory:/lab\n", "31 24 0:27 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
			nil, "no cgroup hierarchy with the controller memory is mounted",
		},
		"none": {"", others, nil, "no cgroup hierarchy with the controller memory is mounted"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parse(tc.groups, tc.mounts)
			if (err != nil || tc.wantErr != "") && fmt.Sprint(err) != tc.wantErr {
				t.Fatalf("parse: error = %v, want %s", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("hierarchies (-want +got):\n%s", diff)
			}
		})
	}
}
