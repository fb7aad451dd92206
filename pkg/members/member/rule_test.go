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
	ca     string // that vouched for it
	way    string // to it
	same   string // the annotation
	was    string // the uid that it is established under
	wasCA  string // that vouched for that
	wasWay string // to that
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

// judged returns what becomes of each wish, and who is established then.
func judged(wishes []wish) (got, established map[string]string) {
	regs := map[registration.Key]registration.Registration{}
	before := records{}
	for _, w := range wishes {
		reg := registration.Registration{Name: cmp.Or(w.name, w.key().Object), SameAs: w.same}
		if w.fault != "" {
			reg.Faults = []registration.Fault{{Reason: w.fault, Message: "no"}}
		}
		regs[w.key()] = reg
		if w.was != "" {
			before[types.UID(w.was)] = holder{Registration: keyText(w.key()), Name: reg.Name, proof: proof{w.wasCA, w.wasWay}}
		}
	}
	names := registration.Names(regs, nil)
	claims := make([]claim, 0, len(wishes))
	for _, w := range wishes {
		e := entry{
			key: w.key(), reg: regs[w.key()], member: &Member{name: names[w.key()]}, uid: types.UID(w.uid), proof: proof{w.ca, w.way},
			health: health{ready: !w.away},
		}
		c := e.claim()
		c.describe = w.object
		claims = append(claims, c)
	}
	refusals, after := judge(claims, before)
	got, established = map[string]string{}, map[string]string{}
	for _, w := range wishes {
		got[w.object] = names[w.key()]
		if refusal := refusals[w.key()]; refusal != nil {
			got[w.object] += " " + refusal.Error()
		}
	}
	for uid, r := range after {
		established[string(uid)] = r.Registration
	}
	return got, established
}

// spare is the refusal of one that is proved to be the cluster that another is used for.
func spare(uid, of, name string) string {
	return " Duplicate: leads to the same cluster as " + of + " (kube-system has uid " + uid + " in both), which is used under the name " +
		name
}

// refused is the refusal of one that tells what belongs to another.
func refused(was, uid, of, name string) string {
	if was != "" {
		was = "was " + was + " and now "
	}
	return " IdentityConflict: the cluster " + was + "tells the uid " + uid + " of kube-system, which belongs to " + of + ", listed as " +
		name +
		"; if both lead to one cluster, remove one of the registrations, or give the one that is to yield the annotation fleetscale.io/same-as " +
		"with the name of the other; otherwise find out why this one tells the identity of another"
}

func TestRule(t *testing.T) {
	const exec, pull, invalid fleet.Reason = "ExecNotAllowed", "PullMode", "InvalidName"
	const never = "secret/east, which was never contacted, so nobody can tell whether both lead to one cluster; give one of them " +
		"another name (Secrets: annotation fleetscale.io/cluster-name)"
	tests := map[string]struct {
		wishes      []wish
		want        map[string]string
		established map[string]string // not compared if nil
	}{
		"each its own cluster and name": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/west", uid: "2"}},
			map[string]string{"secret/east": "east", "karmada/west": "west"},
			map[string]string{"1": "secret/east", "2": "karmada/west"},
		},
		"unknown identities are not one identity": {
			[]wish{{object: "secret/east"}, {object: "karmada/west"}},
			map[string]string{"secret/east": "east", "karmada/west": "west"},
			map[string]string{},
		},
		"one uid under two names, and nothing proves that it is one cluster: the Secret's is used": {
			[]wish{{object: "secret/zulu", uid: "1"}, {object: "karmada/alpha", uid: "1"}},
			map[string]string{"secret/zulu": "zulu", "karmada/alpha": "alpha" + refused("", "1", "secret/zulu", "zulu")},
			map[string]string{"1": "secret/zulu"},
		},
		"one cluster, as one authority says": {
			[]wish{{object: "secret/zulu", uid: "1", ca: "X", way: "a"}, {object: "karmada/alpha", uid: "1", ca: "X", way: "b"}},
			map[string]string{"secret/zulu": "zulu", "karmada/alpha": "alpha" + spare("1", "secret/zulu", "zulu")},
			map[string]string{"1": "secret/zulu"},
		},
		"one cluster, as it is at one address": {
			[]wish{{object: "secret/b", uid: "1", ca: "X", way: "a"}, {object: "secret/a", uid: "1", ca: "Y", way: "a"}},
			map[string]string{"secret/a": "a", "secret/b": "b" + spare("1", "secret/a", "a")}, nil,
		},
		"one cluster, as the registration says that yields": {
			[]wish{{object: "secret/a", uid: "1", ca: "X"}, {object: "secret/b", uid: "1", ca: "Y", same: "a"}},
			map[string]string{"secret/a": "a", "secret/b": "b" + spare("1", "secret/a", "a")}, nil,
		},
		"what a registration says about one that does not tell the uid has no effect": {
			[]wish{{object: "secret/a", uid: "1"}, {object: "secret/b", uid: "2", same: "a"}, {object: "secret/c", same: "a"}},
			map[string]string{"secret/a": "a", "secret/b": "b", "secret/c": "c"}, nil,
		},
		"an authority that vouches for several clusters proves nothing": {
			[]wish{{object: "secret/a", uid: "1", ca: "X"}, {object: "secret/b", uid: "1", ca: "X"}, {object: "secret/c", uid: "2", ca: "X"}},
			map[string]string{"secret/a": "a", "secret/b": "b" + refused("", "1", "secret/a", "a"), "secret/c": "c"}, nil,
		},
		"nor does one that vouched for another": {
			[]wish{{object: "secret/a", uid: "1", ca: "X"}, {object: "secret/b", uid: "1", ca: "X"}, {object: "secret/c", was: "2", wasCA: "X"}},
			map[string]string{"secret/a": "a", "secret/b": "b" + refused("", "1", "secret/a", "a"), "secret/c": "c"}, nil,
		},
		"one cluster, one name": {
			[]wish{{object: "secret/east", uid: "1", way: "a"}, {object: "karmada/east", uid: "1", way: "a"}},
			map[string]string{"secret/east": "east", "karmada/east": "karmada.east" + spare("1", "secret/east", "east")}, nil,
		},
		"one name, two clusters: the later source loses": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/east", uid: "2"}},
			map[string]string{
				"secret/east": "east",
				"karmada/east": "karmada.east NameConflict: the name east is held by secret/east, which leads to another cluster; give one of them " +
					"another name (Secrets: annotation fleetscale.io/cluster-name)",
			},
			map[string]string{"1": "secret/east"},
		},
		"one name, two Secrets": {
			[]wish{{object: "secret/a", name: "east", uid: "1"}, {object: "secret/b", name: "east", uid: "2"}},
			map[string]string{
				"secret/a": "east",
				"secret/b": "secret.b NameConflict: the name east is held by secret/a, which leads to another cluster; give one of them another " +
					"name (Secrets: annotation fleetscale.io/cluster-name)",
			}, nil,
		},
		"one name, and its holder was never contacted": {
			[]wish{{object: "secret/east"}, {object: "karmada/east", uid: "2"}},
			map[string]string{"secret/east": "east", "karmada/east": "karmada.east NameConflict: the name east is held by " + never}, nil,
		},
		"one name, and its loser was never contacted: it has reasons of its own": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/east"}},
			map[string]string{"secret/east": "east", "karmada/east": "karmada.east"}, nil,
		},
		"a refused registration keeps its name, which may be another cluster's": {
			[]wish{{object: "secret/east", fault: exec}, {object: "karmada/east", uid: "1"}},
			map[string]string{"secret/east": "east", "karmada/east": "karmada.east NameConflict: the name east is held by " + never}, nil,
		},
		"a pull-mode Cluster is a duplicate of the one that it names": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/east", same: "east", fault: pull}},
			map[string]string{
				"secret/east": "east",
				"karmada/east": "karmada.east Duplicate: is the same cluster as secret/east, listed as east, as its registration says" +
					" (annotation fleetscale.io/same-as)",
			}, nil,
		},
		"of pull-mode Clusters that name each other, or themselves, none is": {
			[]wish{
				{object: "karmada/a", same: "b", fault: pull},
				{object: "karmada/b", same: "a", fault: pull},
				{object: "karmada/c", same: "c", fault: pull},
			},
			map[string]string{"karmada/a": "a", "karmada/b": "b", "karmada/c": "c"}, nil,
		},
		"refused ones keep their names while nobody else asks for them": {
			[]wish{{object: "secret/east", fault: exec}, {object: "karmada/west", fault: pull}},
			map[string]string{"secret/east": "east", "karmada/west": "west"}, nil,
		},
		"names that are none do not become names": {
			[]wish{{object: "secret/a.b", fault: invalid}, {object: "karmada/a.b", fault: invalid}},
			map[string]string{"secret/a.b": "secret.a.b", "karmada/a.b": "karmada.a.b"}, nil,
		},
		"a cluster is used by who is established, not by who would come first": {
			[]wish{{object: "karmada/zulu", uid: "1", way: "a", was: "1"}, {object: "secret/alpha", uid: "1", way: "a"}},
			map[string]string{"karmada/zulu": "zulu", "secret/alpha": "alpha" + spare("1", "karmada/zulu", "zulu")},
			map[string]string{"1": "karmada/zulu"},
		},
		"whoever is established and away keeps the cluster, and what it showed": {
			[]wish{
				{object: "karmada/zulu", was: "1", wasCA: "X", away: true},
				{object: "secret/alpha", uid: "1", ca: "X"},
				{object: "secret/beta", uid: "1"},
			},
			map[string]string{
				"karmada/zulu": "zulu", "secret/alpha": "alpha" + spare("1", "karmada/zulu", "zulu"),
				"secret/beta": "beta" + refused("", "1", "karmada/zulu", "zulu"),
			},
			map[string]string{"1": "karmada/zulu"},
		},
		"whoever is established and has faults keeps the cluster": {
			[]wish{{object: "karmada/zulu", was: "1", fault: exec}, {object: "secret/alpha", uid: "1"}},
			map[string]string{"karmada/zulu": "zulu", "secret/alpha": "alpha" + refused("", "1", "karmada/zulu", "zulu")},
			map[string]string{"1": "karmada/zulu"},
		},
		"another authority under an established name is a rotation": {
			[]wish{{object: "secret/a", uid: "1", ca: "Y", was: "1", wasCA: "X"}, {object: "secret/b", uid: "1", ca: "Y"}},
			map[string]string{"secret/a": "a", "secret/b": "b" + spare("1", "secret/a", "a")},
			map[string]string{"1": "secret/a"},
		},
		"whoever was another cluster is not believed to be one that is taken": {
			[]wish{{object: "karmada/prod", uid: "1", ca: "X", was: "1"}, {object: "secret/dev", uid: "1", ca: "Y", was: "2"}},
			map[string]string{"karmada/prod": "prod", "secret/dev": "dev" + refused("2", "1", "karmada/prod", "prod")},
			map[string]string{"1": "karmada/prod", "2": "secret/dev"},
		},
		"and keeps its own, for when it comes back": {
			[]wish{
				{object: "karmada/prod", uid: "1", was: "1"}, {object: "secret/dev", uid: "1", was: "2", wasWay: "d"},
				{object: "secret/liar", uid: "2", way: "e"},
			},
			map[string]string{
				"karmada/prod": "prod", "secret/dev": "dev" + refused("2", "1", "karmada/prod", "prod"),
				"secret/liar": "liar" + refused("", "2", "secret/dev", "dev"),
			},
			map[string]string{"1": "karmada/prod", "2": "secret/dev"},
		},
		"whoever was another cluster, and proves to be one that is taken, is a spare and leaves its own": {
			[]wish{
				{object: "secret/a", uid: "1", ca: "X", was: "1"},
				{object: "secret/b", uid: "1", ca: "X", was: "2"},
				{object: "secret/c", uid: "2"},
			},
			map[string]string{"secret/a": "a", "secret/b": "b" + spare("1", "secret/a", "a"), "secret/c": "c"},
			map[string]string{"1": "secret/a", "2": "secret/c"},
		},
		"but not while it is away": {
			[]wish{{object: "secret/a", uid: "1", ca: "X", was: "1"}, {object: "secret/b", uid: "1", ca: "X", was: "2", away: true}},
			map[string]string{"secret/a": "a", "secret/b": "b" + refused("2", "1", "secret/a", "a")},
			map[string]string{"1": "secret/a", "2": "secret/b"},
		},
		"whoever finds another cluster free moves, and frees the former one": {
			[]wish{{object: "secret/a", uid: "2", was: "1"}, {object: "secret/b", uid: "1"}},
			map[string]string{"secret/a": "a", "secret/b": "b"},
			map[string]string{"2": "secret/a", "1": "secret/b"},
		},
		"what one frees another may move to": {
			[]wish{{object: "secret/a", uid: "2", was: "1"}, {object: "secret/b", uid: "3", was: "2"}, {object: "secret/c", uid: "1"}},
			map[string]string{"secret/a": "a", "secret/b": "b", "secret/c": "c"},
			map[string]string{"2": "secret/a", "3": "secret/b", "1": "secret/c"},
		},
		"two that swap clusters, and one of them proves it": {
			[]wish{{object: "secret/a", uid: "2", ca: "Y", was: "1", wasCA: "X"}, {object: "secret/b", uid: "1", was: "2", wasCA: "Y"}},
			map[string]string{"secret/a": "a", "secret/b": "b"},
			map[string]string{"2": "secret/a", "1": "secret/b"},
		},
		"two that only say so": {
			[]wish{{object: "secret/a", uid: "2", ca: "X", was: "1", wasCA: "X"}, {object: "secret/b", uid: "1", ca: "Y", was: "2", wasCA: "Y"}},
			map[string]string{"secret/a": "a" + refused("1", "2", "secret/b", "b"), "secret/b": "b" + refused("2", "1", "secret/a", "a")},
			map[string]string{"1": "secret/a", "2": "secret/b"},
		},
		"whoever proves to be a cluster takes it while the other is away elsewhere": {
			[]wish{
				{object: "secret/a", uid: "2", was: "1", wasCA: "X"},
				{object: "secret/b", uid: "1", ca: "X"},
				{object: "secret/c", uid: "2", was: "2"},
			},
			map[string]string{"secret/a": "a" + refused("1", "2", "secret/c", "c"), "secret/b": "b", "secret/c": "c"},
			map[string]string{"1": "secret/b", "2": "secret/c"},
		},
		"one that is established yields to the one that it names": {
			[]wish{{object: "secret/a", uid: "1", ca: "X", was: "1", same: "b"}, {object: "secret/b", uid: "1", ca: "Y"}},
			map[string]string{"secret/a": "a" + spare("1", "secret/b", "b"), "secret/b": "b"},
			map[string]string{"1": "secret/b"},
		},
		"also while it is away": {
			[]wish{{object: "secret/a", was: "1", same: "b", away: true}, {object: "secret/b", uid: "1", ca: "Y"}},
			map[string]string{"secret/a": "a", "secret/b": "b"},
			map[string]string{"1": "secret/b"},
		},
		"but not to one that is away": {
			[]wish{{object: "secret/a", uid: "1", was: "1", same: "b"}, {object: "secret/b", uid: "1", ca: "Y", away: true}},
			map[string]string{"secret/a": "a", "secret/b": "b" + refused("", "1", "secret/a", "a")},
			map[string]string{"1": "secret/a"},
		},
		"of two that name each other the established one stays": {
			[]wish{{object: "secret/a", uid: "1", was: "1", same: "b"}, {object: "secret/b", uid: "1", same: "a"}},
			map[string]string{"secret/a": "a", "secret/b": "b" + spare("1", "secret/a", "a")},
			map[string]string{"1": "secret/a"},
		},
		"whoever tells so from the beginning goes before whoever moves": {
			[]wish{{object: "secret/a", uid: "2", was: "1"}, {object: "secret/b", uid: "2"}},
			map[string]string{"secret/a": "a" + refused("1", "2", "secret/b", "b"), "secret/b": "b"},
			map[string]string{"1": "secret/a", "2": "secret/b"},
		},
		"whoever is away does not move": {
			[]wish{{object: "secret/a", uid: "2", was: "1", away: true}, {object: "secret/b", uid: "1"}},
			map[string]string{"secret/a": "a", "secret/b": "b" + refused("", "1", "secret/a", "a")},
			map[string]string{"1": "secret/a"},
		},
		"a cluster is used by whom its name was left, not by who lost his": {
			[]wish{{object: "secret/east", uid: "1"}, {object: "karmada/east", uid: "2", way: "a"}, {object: "karmada/zulu", uid: "2", way: "a"}},
			map[string]string{
				"secret/east": "east", "karmada/zulu": "zulu", "karmada/east": "karmada.east" + spare("2", "karmada/zulu", "zulu"),
			}, nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for range 10 { // maps have no order: no run may differ
				got, established := judged(tc.wishes)
				if diff := gocmp.Diff(tc.want, got); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
				}
				if diff := gocmp.Diff(tc.established, established); tc.established != nil && diff != "" {
					t.Fatalf("established (-want +got):\n%s", diff)
				}
			}
		})
	}
}
