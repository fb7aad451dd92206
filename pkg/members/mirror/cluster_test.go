// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

func team(i int) string { return fmt.Sprintf("team-%02d", i) }

// teams is a member with so many namespaces of one object, and one that nobody asks for.
func teams(n int) *fakeMember {
	m := newFakeMember("east", "nobody/a")
	for i := range n {
		m.put(team(i)+"/a", "0")
	}
	return m
}

// expectTeams asks for all.
func (r *running) expectTeams(m *fakeMember, n int, but string) {
	r.t.Helper()
	for i := range n {
		r.expect(m, team(i), strings.TrimSpace(team(i)+"/a=0 "+but))
	}
}

// ofAll tells the requests for all namespaces, and how many others there were.
func (m *fakeMember) ofAll() (whole []string, others int) {
	for _, request := range m.asked() {
		if strings.HasPrefix(request, "namespaces/") {
			others++
		} else {
			whole = append(whole, request)
		}
	}
	return whole, others
}

func forbidAll(r *http.Request) (*http.Response, error) {
	if namespaceOf(r) != "" {
		return nil, nil
	}
	return memberstest.Refusal(apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", errors.New("no"))), nil
}

func TestFewNamespacesAreFollowedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := teams(fewNamespaces)
		r := start(t)
		r.expectTeams(east, fewNamespaces, "")
		pass(4 * time.Minute)
		r.expectTeams(east, fewNamespaces, "")
		fleettest.Same(t, "watches", fewNamespaces, east.watched())
		if whole, _ := east.ofAll(); len(whole) > 0 {
			t.Errorf("all namespaces were asked for: %q", whole)
		}
	})
}

func TestManyNamespacesAreFollowedAtOnce(t *testing.T) {
	const many = 60
	synctest.Test(t, func(t *testing.T) {
		east := teams(many)
		r := start(t)
		r.expectTeams(east, many, "")
		pass(0)
		whole, others := east.ofAll()
		if want := []string{"configmaps limit=500", "configmaps watch=true"}; !slices.Equal(whole, want) || others > 2*(fewNamespaces+1) {
			t.Errorf("asked for %q, and %d times for one namespace", whole, others)
		}
		pass(time.Minute)
		fleettest.Same(t, "watches", 1, east.watched())
		east.put("team-07/b", "1")
		east.remove("team-08/a")
		east.put("new/a", "1")
		pass(0)
		r.expect(east, "team-07", "team-07/a=0 team-07/b=1")
		r.expect(east, "team-08", "")
		r.expect(east, "new", "new/a=1")
		r.expect(east, "empty", "")
		expectRequests(t, east)
		pass(6 * time.Minute)
		fleettest.Same(t, "watches that nobody asked for", 0, east.watched())
	})
}

// While the list of all is on its way, or if it does not come, what is known of single namespaces is as good.
func TestNamespacesThatAreKnownWaitForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := teams(fewNamespaces + 1)
		east.Handle = func(r *http.Request) (*http.Response, error) {
			if namespaceOf(r) == "" {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return nil, nil
		}
		r := start(t)
		r.expectTeams(east, fewNamespaces+1, "")
		begun := time.Now()
		pass(2 * time.Minute)
		r.expectTeams(east, fewNamespaces+1, "")
		if took := time.Since(begun); took > 2*time.Minute {
			t.Errorf("answers took %v", took-2*time.Minute)
		}
	})
}

func TestWhereAllNamespacesAreForbidden(t *testing.T) {
	const many = 40
	synctest.Test(t, func(t *testing.T) {
		east := teams(many)
		east.Handle = forbidAll
		r := start(t)
		r.expectTeams(east, many, "")
		for range 4 {
			pass(time.Minute)
			r.expectTeams(east, many, "")
		}
		fleettest.Same(t, "watches", many, east.watched())
		if whole, _ := east.ofAll(); len(whole) > 4*60/7 {
			t.Errorf("asked %d times in 4 minutes for what is forbidden", len(whole))
		}
		east.Set(func() { east.Handle = nil }) // it is granted
		for range 4 {
			pass(time.Minute)
			r.expectTeams(east, many, "")
		}
		fleettest.Same(t, "watches once it is granted", 1, east.watched())
		east.Set(func() { east.Handle = forbidAll }) // and withdrawn
		east.breakWatches(true)
		pass(2 * time.Minute)
		r.expectTeams(east, many, "")
		pass(time.Second)
		fleettest.Same(t, "watches once it is withdrawn", many, east.watched())
	})
}

// A question that comes while it is not yet known that all namespaces are forbidden waits for that, and is answered.
func TestAllNamespacesAreForbiddenLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const few = fewNamespaces + 1
		east, known := teams(few+1), make(chan struct{})
		east.Handle = func(r *http.Request) (*http.Response, error) {
			if namespaceOf(r) == all {
				<-known
			}
			return forbidAll(r)
		}
		r := start(t)
		r.expectTeams(east, few, "")
		answer := make(chan string, 1)
		go func() { answer <- tell(r.Ask(t.Context(), east, team(few))) }()
		synctest.Wait()
		select {
		case got := <-answer:
			t.Errorf("answered %q before it was known", got)
		default:
		}
		close(known)
		if got, want := <-answer, team(few)+"/a=0"; got != want {
			t.Errorf("answered %q, want %q", got, want)
		}
	})
}

// Who may list all namespaces and not watch them is still told what is known of single ones.
func TestAllNamespacesCanNotBeWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := teams(fewNamespaces + 1)
		east.Handle = func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("watch") == "" {
				return nil, nil
			}
			return forbidAll(r)
		}
		r := start(t)
		for range 20 {
			r.expectTeams(east, fewNamespaces+1, "")
			pass(7 * time.Second)
		}
	})
}

// A member that refuses us for a moment keeps what was seen of it, and is not asked about each namespace.
func TestAMemberOfManyNamespacesRefusesUsForAMoment(t *testing.T) {
	const many = 40
	synctest.Test(t, func(t *testing.T) {
		east := teams(many)
		r := start(t)
		r.expectTeams(east, many, "")
		pass(time.Minute + time.Second)
		r.expectTeams(east, many, "")
		east.Set(func() { east.Silent, east.success = &fleet.Silence{Reason: fleet.ReasonForbidden}, time.Now() })
		east.breakWatches(true)
		pass(15 * time.Second)
		r.expectTeams(east, many, "Forbidden")
	})
}

func TestASilentMemberOfManyNamespaces(t *testing.T) {
	const many = 40
	synctest.Test(t, func(t *testing.T) {
		east := teams(many)
		r := start(t)
		r.expectTeams(east, many, "")
		pass(time.Minute)
		r.expectTeams(east, many, "")
		east.Set(func() { east.Silent, east.success = &fleet.Silence{Reason: fleet.ReasonTimeout}, time.Now() })
		east.breakWatches(true)
		east.asked()
		for range 3 {
			pass(time.Minute)
			r.expectTeams(east, many, "Timeout")
		}
		if _, others := east.ofAll(); others > 0 {
			t.Errorf("asked %d times for one namespace, which would find the member as silent", others)
		}
		east.Set(func() { east.Silent, east.success = nil, time.Time{} })
		pass(5 * time.Second)
		r.expectTeams(east, many, "")
		expectRequests(t, east, "configmaps limit=500", "configmaps watch=true")
	})
}

// Who asks for all has all followed at once, and only for as long: those who ask for one namespace never wait for it.
func TestAllIsFollowedWhileItIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := teams(3)
		r := start(t)
		watches := func(when string, want int) {
			t.Helper()
			r.expectTeams(east, 2, "")
			fleettest.Same(t, when+": watches", want, east.watched())
		}
		r.expectTeams(east, 2, "")
		pass(0)
		watches("before", 2)
		r.expect(east, all, east.holds(all))
		pass(time.Minute)
		watches("all are asked for", 1)
		r.expect(east, team(2), "team-02/a=0")
		east.asked()
		east.Set(func() {
			east.Handle = func(r *http.Request) (*http.Response, error) {
				if r.URL.Query().Get("watch") == "" {
					time.Sleep(45 * time.Second) // longer than it takes to see that nobody asks for all any more
				}
				return nil, nil
			}
		})
		for range 20 {
			began := time.Now()
			pass(30 * time.Second)
			r.expectTeams(east, 2, "")
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("answers took %v", took-30*time.Second)
			}
		}
		watches("nobody asks for all any more", 2)
		if whole, others := east.ofAll(); len(whole) > 0 || others > 3*2 { // the third is no longer asked for
			t.Errorf("asked for %q, and %d times for one namespace", whole, others)
		}
		east.put("team-01/a", "1")
		pass(0)
		r.expect(east, team(1), "team-01/a=1")
	})
}

// Where there are no longer many, they are followed one by one again.
func TestManyNamespacesBecomeFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := teams(fewNamespaces + 1)
		r := start(t)
		r.expectTeams(east, fewNamespaces+1, "")
		for range 7 {
			pass(time.Minute)
			r.expectTeams(east, 3, "")
		}
		fleettest.Same(t, "watches", 3, east.watched())
	})
}

// Who asks for one namespace is answered though all may no longer be seen, which somebody else asks for.
func TestAllThatIsAskedForIsForbiddenLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := teams(2)
		r := start(t)
		r.expect(east, all, east.holds(all))
		r.expectTeams(east, 2, "")
		east.Set(func() { east.Handle = forbidAll })
		east.breakWatches(true)
		for range 4 {
			pass(30 * time.Second)
			r.ask(east, all)
		}
		r.expectTeams(east, 2, "")
		if a := r.ask(east, all); a.Known || a.Silence == nil || a.Silence.Reason != fleet.ReasonForbidden {
			t.Errorf("all of it: %s", tell(a))
		}
	})
}

// Whatever is asked for, and whatever happens, answers are what the member has, once it is quiet.
func TestManyNamespacesThatChange(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			east := newFakeMember("east")
			r := start(t)
			for range 300 {
				name := team(random.IntN(30)) + "/" + string(rune('a'+random.IntN(4)))
				switch random.IntN(10) {
				case 0:
					east.breakWatches(random.IntN(2) == 0)
				case 1:
					pass(time.Duration(random.IntN(90)) * time.Second)
				case 2, 3:
					if east.objects[keyNamed(name)] != nil {
						east.remove(name)
					}
				case 4, 5, 6:
					r.ask(east, team(random.IntN(30)))
				default:
					east.put(name, fmt.Sprint(random.IntN(1000)))
				}
			}
			pass(time.Minute)
			for i := range 30 {
				r.expect(east, team(i), east.holds(team(i)))
			}
			r.expect(east, all, east.holds(all))
		})
	}
}

// holds is the answer to be expected for a namespace, or for all.
func (m *fakeMember) holds(namespace string) string {
	var words []string
	for key, o := range m.objects {
		if namespace == all || namespace == key.Namespace {
			words = append(words, key.Namespace+"/"+key.Name+"="+o.Data["value"])
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}
