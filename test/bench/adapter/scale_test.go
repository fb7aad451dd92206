// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// vastly is what is seen of an adapter that reaches everything.
func vastly() vastness {
	return vastness{
		empty: footprint{heap: 10 * mib}, joined: footprint{heap: 60 * mib}, known: footprint{heap: 2000 * mib, resident: 3000 * mib},
		whole: 6, warm: 90, goroutines: 9, sockets: 1, p99: 20, p99Failing: 21,
	}
}

func TestReachesOfScale(t *testing.T) {
	p := plan{Scale: bulk{members: 1000, namespaces: 500, pods: 20, period: time.Minute}}
	for missed, spoil := range map[string]func(*vastness){
		"":                       func(*vastness) {},
		"heap with all Pods":     func(v *vastness) { v.known.heap = 2300 * mib },
		"resident with all Pods": func(v *vastness) { v.known.resident = 4100 * mib },
		"heap for each member":   func(v *vastness) { v.joined.heap = 70 * mib },
		"first whole answer":     func(v *vastness) { v.whole = 11 },
		"all namespaces":         func(v *vastness) { v.warm = 121 },
		"p99 while a tenth of the members fail, of p99": func(v *vastness) { v.p99Failing = 25 },
	} {
		t.Run(missed, func(t *testing.T) {
			v := vastly()
			spoil(&v)
			want := map[string]bool{}
			for _, r := range scaleSection(p, vastly()).Reaches {
				want[r.What] = r.What != missed
			}
			if _, known := want[missed]; missed != "" && !known {
				t.Fatalf("no reach is called %q", missed)
			}
			fleettest.Same(t, "", want, reached(scaleSection(p, v)))
		})
	}
}

func TestScaleIsToldForEachMemberAndPod(t *testing.T) {
	s := scaleSection(plan{Scale: bulk{members: 1000, namespaces: 500, pods: 20}}, vastly())
	var all []string
	for _, row := range s.Tables[0].Rows {
		all = append(all, strings.Join(row, ": "))
	}
	text := strings.Join(append(all, s.Text...), "\n")
	for _, want := range []string{"for each member that has one Pod, KiB: 51", "for each Pod, B: 203", "10000000 Pods in all"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

// Each member of a bulk has its own Pods, in one namespace or in all.
func TestBulkAnswers(t *testing.T) {
	of, err := newBulkAnswers(bulk{members: 20, namespaces: 3, pods: 2, period: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	const path = "/apis/metrics.k8s.io/v1beta1/"
	names := func(member int, path, accept string) (code int, names []string) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		of.of(member).ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			return w.Code, nil
		}
		list, err := stage.DecodePods(w.Body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			names = append(names, item.Namespace+"/"+item.Name)
		}
		return w.Code, names
	}
	_, one := names(7, path+"namespaces/bulk-001/pods", stage.Protobuf)
	fleettest.Same(t, "a namespace", []string{"bulk-001/web-6f7d9c0007-x0000", "bulk-001/web-6f7d9c0007-x0001"}, one)
	_, all := names(12, path+"pods", stage.Protobuf)
	fleettest.Same(t, "all", []string{
		"bulk-000/web-6f7d9c0012-x0000", "bulk-000/web-6f7d9c0012-x0001", "bulk-001/web-6f7d9c0012-x0000",
		"bulk-001/web-6f7d9c0012-x0001", "bulk-002/web-6f7d9c0012-x0000", "bulk-002/web-6f7d9c0012-x0001",
	}, all)
	for what, accept := range map[string]string{"nodes": stage.Protobuf, "pods": stage.JSON} {
		if code, _ := names(0, path+what, accept); code != http.StatusNotFound {
			t.Errorf("%s as %s: %d", what, accept, code)
		}
	}
}
