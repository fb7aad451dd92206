// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// wish is a registration in short: "secret/east", what it asks for and leads to.
type wish struct {
	object string
	name   string // default: the object's name
	uid    string // as the cluster told it
	id     string // as the source declares it
	was    string // the uid that it is established under
	away   bool   // it does not answer at present
	fault  fleet.Reason
}

func (w wish) key() registration.Key {
	kind, object, _ := strings.Cut(w.object, "/")
	if kind == "karmada" {
		return fromKarmada(object)
	}
	return fromSecret(object)
}

func fromSecret(object string) registration.Key {
	return registration.Key{Rank: 0, Source: "secret", Object: object}
}

func fromKarmada(object string) registration.Key {
	return registration.Key{Rank: 1, Source: "karmada", Object: object}
}

func judge(wishes []wish) map[string]string {
	regs := map[registration.Key]registration.Registration{}
	claims := make([]claim, 0, len(wishes))
	for _, w := range wishes {
		reg := registration.Registration{Name: cmp.Or(w.name, w.key().Object), DeclaredID: types.UID(w.id)}
		if w.fault != "" {
			reg.Faults = []registration.Fault{{Reason: w.fault, Message: "no"}}
		}
		regs[w.key()] = reg
		e := entry{key: w.key(), reg: reg, uid: types.UID(w.uid), health: health{ready: !w.away}}
		c := e.claim(identity{uid: types.UID(w.was)}, false)
		c.describe = w.object
		claims = append(claims, c)
	}
	names := registration.Names(regs, nil)
	refusals := rule(claims, names)
	got := map[string]string{}
	for _, w := range wishes {
		got[w.object] = names[w.key()]
		if refusal := refusals[w.key()]; refusal != nil {
			got[w.object] += " " + refusal.Error()
		}
	}
	return got
}

func TestRule(t *testing.T) {
	const exec, pull, invalid fleet.Reason = "ExecNotAllowed", "PullMode", "InvalidName"
	tests := map[string]struct {
		wishes []wish
		want   map[string]string
	}{
		"each its own cluster and name": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/west", uid: "2"}},
			map[string]string{"secret/east": "east", "karmada/west": "west"},
		},
		"unknown identities are not one identity": {
			[]wish{{object: "secret/east"}, {object: "karmada/west"}},
			map[string]string{"secret/east": "east", "karmada/west": "west"},
		},
		"one cluster under two names: the Secret's is used": {
			[]wish{{object: "secret/zulu", uid: "1"}, {object: "karmada/alpha", uid: "1"}},
			map[string]string{
				"secret/zulu": "zulu",
				"karmada/alpha": "alpha Duplicate: leads to the same cluster as secret/zulu (kube-system has uid 1 in both), which is used under " +
					"the name zulu",
			},
		},
		"one cluster, two Secrets: the lesser is used": {
			[]wish{{object: "secret/b", uid: "1"}, {object: "secret/a", uid: "1"}},
			map[string]string{
				"secret/a": "a",
				"secret/b": "b Duplicate: leads to the same cluster as secret/a (kube-system has uid 1 in both), which is used under the name a",
			},
		},
		"one cluster, one name": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/east", uid: "1"}},
			map[string]string{
				"secret/east": "east",
				"karmada/east": "karmada.east Duplicate: leads to the same cluster as secret/east (kube-system has uid 1 in both), which is used " +
					"under the name east",
			},
		},
		"one name, two clusters: the later source loses": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/east", uid: "2"}},
			map[string]string{
				"secret/east": "east",
				"karmada/east": "karmada.east NameConflict: the name east is held by secret/east, which leads to another cluster; give one of them " +
					"another name (Secrets: annotation fleetscale.io/cluster-name)",
			},
		},
		"one name, two Secrets": {
			[]wish{{object: "secret/a", name: "east", uid: "1"}, {object: "secret/b", name: "east", uid: "2"}},
			map[string]string{
				"secret/a": "east",
				"secret/b": "secret.b NameConflict: the name east is held by secret/a, which leads to another cluster; give one of them another " +
					"name (Secrets: annotation fleetscale.io/cluster-name)",
			},
		},
		"one name, and its holder was never contacted": {
			[]wish{{object: "secret/east"}, {object: "karmada/east", uid: "2"}},
			map[string]string{
				"secret/east": "east",
				"karmada/east": "karmada.east NameConflict: the name east is held by secret/east, which was never contacted, so nobody can tell " +
					"whether both lead to one cluster; give one of them another name (Secrets: annotation fleetscale.io/cluster-name)",
			},
		},
		"one name, and its loser was never contacted: it has reasons of its own": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/east"}},
			map[string]string{"secret/east": "east", "karmada/east": "karmada.east"},
		},
		"what Karmada declares counts for nothing before contact": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/west", id: "1"}, {object: "karmada/alpha", id: "1", away: true}},
			map[string]string{"secret/east": "east", "karmada/west": "west", "karmada/alpha": "alpha"},
		},
		"nor does it count for a registration with faults": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/west", id: "1", fault: exec}},
			map[string]string{"secret/east": "east", "karmada/west": "west"},
		},
		"what the cluster says outweighs what Karmada declares": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/west", id: "1", uid: "2"}},
			map[string]string{"secret/east": "east", "karmada/west": "west"},
		},
		"a refused registration keeps its name, which may be another cluster's": {
			[]wish{{object: "secret/east", fault: exec}, {object: "karmada/east", uid: "1"}},
			map[string]string{
				"secret/east": "east",
				"karmada/east": "karmada.east NameConflict: the name east is held by secret/east, which was never contacted, so nobody can tell " +
					"whether both lead to one cluster; give one of them another name (Secrets: annotation fleetscale.io/cluster-name)",
			},
		},
		"a refused registration does not keep another from its cluster": {
			[]wish{{object: "karmada/alpha", id: "1", fault: exec}, {object: "karmada/beta", uid: "1"}},
			map[string]string{
				"karmada/alpha": "alpha",
				"karmada/beta":  "beta",
			},
		},
		"a pull-mode Cluster registered by a Secret of its name is a duplicate": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/east", id: "1", fault: pull}},
			map[string]string{
				"secret/east": "east",
				"karmada/east": "karmada.east Duplicate: leads to the same cluster as secret/east (kube-system has uid 1 in both), which is used " +
					"under the name east",
			},
		},
		"a pull-mode Cluster registered by a Secret too is a duplicate": {
			[]wish{{object: "secret/west", uid: "1"}, {object: "karmada/east", id: "1", fault: pull}},
			map[string]string{
				"secret/west": "west",
				"karmada/east": "east Duplicate: leads to the same cluster as secret/west (kube-system has uid 1 in both), which is used under the " +
					"name west",
			},
		},
		"refused ones keep their names while nobody else asks for them": {
			[]wish{{object: "secret/east", fault: exec}, {object: "karmada/west", fault: pull}},
			map[string]string{"secret/east": "east", "karmada/west": "west"},
		},
		"names that are none do not become names": {
			[]wish{{object: "secret/a.b", fault: invalid}, {object: "karmada/a.b", fault: invalid}},
			map[string]string{"secret/a.b": "secret.a.b", "karmada/a.b": "karmada.a.b"},
		},
		"a cluster is used by who is established, not by who would come first": {
			[]wish{{object: "karmada/zulu", uid: "1", was: "1"}, {object: "secret/alpha", uid: "1"}},
			map[string]string{
				"karmada/zulu": "zulu",
				"secret/alpha": "alpha Duplicate: leads to the same cluster as karmada/zulu (kube-system has uid 1 in both), which is used under " +
					"the name zulu",
			},
		},
		"whoever is established and away keeps the cluster": {
			[]wish{{object: "karmada/zulu", was: "1", away: true}, {object: "secret/alpha", uid: "1"}},
			map[string]string{
				"karmada/zulu": "zulu",
				"secret/alpha": "alpha Duplicate: leads to the same cluster as karmada/zulu (kube-system has uid 1 in both), which is used under " +
					"the name zulu",
			},
		},
		"whoever is established and has faults keeps the cluster": {
			[]wish{{object: "karmada/zulu", was: "1", fault: exec}, {object: "secret/alpha", uid: "1"}},
			map[string]string{
				"karmada/zulu": "zulu",
				"secret/alpha": "alpha Duplicate: leads to the same cluster as karmada/zulu (kube-system has uid 1 in both), which is used under " +
					"the name zulu",
			},
		},
		"whoever was another cluster is not believed to be one that is taken": {
			[]wish{{object: "karmada/prod", uid: "1", was: "1"}, {object: "secret/dev", uid: "1", was: "2"}},
			map[string]string{
				"karmada/prod": "prod",
				"secret/dev": "dev IdentityConflict: the cluster was 2 and now tells the uid 1 of kube-system, which belongs to karmada/prod, " +
					"listed as prod; if both lead to one cluster, remove one of the registrations; otherwise find out why this one tells the identity " +
					"of another",
			},
		},
		"and keeps its own, for when it comes back": {
			[]wish{{object: "karmada/prod", uid: "1", was: "1"}, {object: "secret/dev", uid: "1", was: "2"}, {object: "secret/spare", uid: "2"}},
			map[string]string{
				"karmada/prod": "prod",
				"secret/dev": "dev IdentityConflict: the cluster was 2 and now tells the uid 1 of kube-system, which belongs to karmada/prod, " +
					"listed as prod; if both lead to one cluster, remove one of the registrations; otherwise find out why this one tells the identity " +
					"of another",
				"secret/spare": "spare Duplicate: leads to the same cluster as secret/dev (kube-system has uid 2 in both), which is used under the " +
					"name dev",
			},
		},
		"whoever finds another cluster free moves, and frees the former one": {
			[]wish{{object: "secret/a", uid: "2", was: "1"}, {object: "secret/b", uid: "1"}},
			map[string]string{"secret/a": "a", "secret/b": "b"},
		},
		"what one frees another may move to": {
			[]wish{{object: "secret/a", uid: "2", was: "1"}, {object: "secret/b", uid: "3", was: "2"}, {object: "secret/c", uid: "1"}},
			map[string]string{"secret/a": "a", "secret/b": "b", "secret/c": "c"},
		},
		"whoever tells so from the beginning goes before whoever moves": {
			[]wish{{object: "secret/a", uid: "2", was: "1"}, {object: "secret/b", uid: "2"}},
			map[string]string{
				"secret/a": "a IdentityConflict: the cluster was 1 and now tells the uid 2 of kube-system, which belongs to secret/b, listed as b; " +
					"if both lead to one cluster, remove one of the registrations; otherwise find out why this one tells the identity of another",
				"secret/b": "b",
			},
		},
		"whoever is away does not move": {
			[]wish{{object: "secret/a", uid: "2", was: "1", away: true}, {object: "secret/b", uid: "1"}},
			map[string]string{
				"secret/a": "a",
				"secret/b": "b Duplicate: leads to the same cluster as secret/a (kube-system has uid 1 in both), which is used under the name a",
			},
		},
		"a pull-mode Cluster is no duplicate of one that was another before": {
			[]wish{{object: "secret/dev", uid: "1", was: "2"}, {object: "karmada/east", id: "1", fault: pull}},
			map[string]string{"secret/dev": "dev", "karmada/east": "east"},
		},
		"a cluster is used by whom its name was left, not by who lost his": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/east", uid: "2"}, {object: "karmada/zulu", uid: "2"}},
			map[string]string{
				"secret/east":  "east",
				"karmada/zulu": "zulu",
				"karmada/east": "karmada.east Duplicate: leads to the same cluster as karmada/zulu (kube-system has uid 2 in both), which is used " +
					"under the name zulu",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for range 10 { // maps have no order: no run may differ
				if diff := gocmp.Diff(tc.want, judge(tc.wishes)); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}
