// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// A member hangs. What is known without it is served; what would be wrong
// without it is not, unless the asker says that a part will do, or nobody has
// heard of the member for long.
func TestFrozenMemberAndItsMetrics(t *testing.T) {
	e := whole(t)
	const grace = 3 * time.Second
	brief, err := e.StartAdapter(t.Context(), e.Hub(), "adapter-of-little-grace",
		append(adapterFlags(), "--member-grace="+grace.String())...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = brief.Stop() })
	m := e.tellOfFrost(t)
	for _, server := range []*fixture.Adapter{e.adapter, brief} { // each knows what the member had last
		for path, want := range m.whole() {
			hearsFrom(t, directly(t, server), "all is whole at first: "+path, path, whollyTells(want...))
		}
	}
	e.lists(t, customV1beta2, "services/"+m.only, true)
	e.lists(t, externalV1beta1, m.only, true)
	e.freeze(t, "member2")

	e.hears(t, "a sum is refused", serviceMetric(m.service), refuses(http.StatusServiceUnavailable, m.service, "member2", "Timeout",
		"fleetscale.io/partial"))
	e.hears(t, "pods are told of without the member", podsMetric(m.service),
		tellsWithout("member2", "Timeout", "member1/web-0 1", "member3/web-0 4"))
	t.Run("a part is served to those who want it", func(t *testing.T) { e.servesParts(t, m) })
	t.Run("what the others have is whole", func(t *testing.T) { e.servesCovered(t, m) })
	t.Run("who does not ask the member misses nothing", func(t *testing.T) {
		e.wants(t, serviceMetric(m.service, "fleetscale.io/cluster!=member2"), whollyTells("web 5"))
		e.wants(t, serviceMetric(m.service, "fleetscale.io/cluster=member2"), refuses(http.StatusServiceUnavailable, "member2", "Timeout"))
	})
	t.Run("its metrics stay listed", func(t *testing.T) {
		e.lists(t, customV1beta2, "services/"+m.only, true)
		e.lists(t, externalV1beta1, m.only, true)
	})
	t.Run("its metrics may yet be there", func(t *testing.T) {
		e.hears(t, "of an object", serviceMetric(m.only), refuses(http.StatusServiceUnavailable, "member2", "Timeout"))
		e.hears(t, "external", externalMetric(m.only), refuses(http.StatusServiceUnavailable, "member2", "Timeout"))
	})
	t.Run("nobody waits for it", func(t *testing.T) { e.answersAtOnce(t) })
	t.Run("after the grace it is left out", func(t *testing.T) {
		for path, want := range map[string][]string{
			serviceMetric(m.service):                            {"web 5"},
			serviceMetric(m.service, "fleetscale.io/merge=avg"): {"web 2500m"},
			serviceMetric(m.service, "fleetscale.io/merge=min"): {"web 1"},
			externalMetric(m.each):                              {"of=member1 1", "of=member3 1"},
		} {
			hearsFrom(t, directly(t, brief), path, path, tellsWithout("member2", "Timeout", want...))
		}
		hearsFrom(t, directly(t, brief), "nobody else has it", serviceMetric(m.only), refuses(http.StatusNotFound, m.only, "member1", "member3"))
	})

	e.thaw(t, "member2")
	for path, want := range m.whole() {
		e.hears(t, "it is whole again: "+path, path, whollyTells(want...))
	}
	e.recovers(t)
}

// frost names the metrics of that test.
type frost struct {
	service string // of a service and a pod that all members have
	all     string // external: the same series in all members
	each    string // external: a series of each member
	only    string // of the member that freezes
}

func (e *env) tellOfFrost(t *testing.T) frost {
	t.Helper()
	m := frost{service: "frozen_rps", all: "frozen_queue", each: "frozen_queues", only: "frozen_only"}
	values := figure{"member1": "1", "member2": "2", "member3": "4"}
	e.tell(t, "services", "web", m.service, values)
	e.tell(t, "pods", "web-0", m.service, values)
	e.tell(t, "services", "web", m.only, figure{"member2": "1"})
	e.tellSeries(t, "member2", m.only, map[string]string{"name=mail": "1"})
	for _, member := range allMembers() {
		e.tellSeries(t, member, m.all, map[string]string{"name=mail": "42"})
		e.tellSeries(t, member, m.each, map[string]string{"of=" + member: "1"})
	}
	return m
}

// whole returns what is told while nobody is silent, by path.
func (m frost) whole() map[string][]string {
	return map[string][]string{
		serviceMetric(m.service):                            {"web 7"},
		serviceMetric(m.service, "fleetscale.io/merge=avg"): {"web 2334m"}, // rounded up
		podsMetric(m.service):                               {"member1/web-0 1", "member2/web-0 2", "member3/web-0 4"},
		externalMetric(m.all):                               {"name=mail 42"},
		externalMetric(m.each):                              {"of=member1 1", "of=member2 1", "of=member3 1"},
		serviceMetric(m.only):                               {"web 1"},
		externalMetric(m.only):                              {"name=mail 1"},
	}
}

// servesParts is about the key and the header that allow a part, and about what
// is not served in part even so.
func (e *env) servesParts(t *testing.T, m frost) {
	const allow = "fleetscale.io/partial=allow"
	hub := config(t, e.Hub())
	for path, want := range map[string][]string{
		serviceMetric(m.service):                            {"web 5"},
		serviceMetric(m.service, "fleetscale.io/merge=max"): {"web 4"},
		externalMetric(m.each):                              {"of=member1 1", "of=member3 1"},
	} {
		byKey := path + "%2C" + allow
		if !containsAll(path, []string{"?"}) {
			byKey = path + "?labelSelector=" + allow + "&metricLabelSelector=" + allow
		}
		hearsFrom(t, hub, "not allowed: "+path, path, refuses(http.StatusServiceUnavailable, "member2", "Timeout"))
		hearsFrom(t, hub, "by key: "+path, byKey, tellsWithout("member2", "Timeout", want...))
		hearsFrom(t, allowing(hub, "allow"), "by header: "+path, path, tellsWithout("member2", "Timeout", want...))
	}
	for _, word := range []string{"avg", "min"} {
		e.hears(t, word+" is never of a part", serviceMetric(m.service, "fleetscale.io/merge="+word, allow),
			refuses(http.StatusServiceUnavailable, word, "member2", "Timeout"))
	}
}

// servesCovered is about series that the silent member had, and others have.
func (e *env) servesCovered(t *testing.T, m frost) {
	e.hears(t, "the queue of all is whole", externalMetric(m.all), func(v told) error {
		if err := tellsWithout("member2", "Timeout", "name=mail 42")(v); err != nil {
			return err
		}
		return isCovered(v, "member2")
	})
	e.hears(t, "a largest one that was asked for may be larger", externalMetric(m.all, "fleetscale.io/merge=max"),
		refuses(http.StatusServiceUnavailable, "member2", "Timeout"))
}

// answersAtOnce holds that the fleet's answers do not wait for a member which
// is known to be silent.
func (e *env) answersAtOnce(t *testing.T) {
	const most = memberTimeout / 2
	e.hears(t, "the member is known to be silent", podsMetric("never_asked_before"), tellsWithout("member2", "Timeout"))
	for _, metric := range []string{"never_1", "never_2", "never_3"} {
		begin := time.Now()
		v := e.listen(t, podsMetric(metric))
		if took := time.Since(begin); took > most {
			t.Errorf("the first answer for %s took %v, want at most %v: %+v", metric, took, most, v)
		}
	}
}
