// SPDX-License-Identifier: Apache-2.0

package federatedhpatest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Life is what happens to a hub, and to its members, by chance.
type Life struct {
	Hub   *Hub
	R     *rand.Rand     // the chance
	Count map[string]int // how often it happened
	calm  bool
	trace []string
}

// NewLife has no hub yet.
func NewLife(r *rand.Rand) *Life { return &Life{R: r, Count: map[string]int{}} }

// Did notes what happened.
func (l *Life) Did(what string, args ...any) {
	l.trace = append(l.trace, l.Hub.Clock.Now().Format(time.TimeOnly)+" "+fmt.Sprintf(what, args...))
}

// Perhaps is an error, once in n times, unless all is calm. The lock is held.
func (l *Life) Perhaps(r *rand.Rand, what string, n int) error {
	if l.calm || r.IntN(n) > 0 {
		return nil
	}
	l.Count[what]++
	return errors.New(what)
}

// RefuseStatus is why a status is not written, now and then.
func (l *Life) RefuseStatus() error {
	if err := l.Perhaps(l.R, "the status was edited", 30); err != nil {
		return apierrors.NewConflict(FederatedHPAs, Web.Name, err)
	}
	return l.Perhaps(l.R, "the hub refuses", 40)
}

// Fail ends the test, and tells what happened last.
func (l *Life) Fail(what string, args ...any) {
	l.Hub.T.Helper()
	spec, _ := json.Marshal(l.Hub.Stored(Web).Spec)
	l.Hub.T.Fatalf("%s\n%s\n%s", fmt.Sprintf(what, args...), spec, strings.Join(l.trace[max(0, len(l.trace)-25):], "\n"))
}

// Rest has all be calm, and continues until nothing was written in so many reconciles. There may be no more than the most.
func (l *Life) Rest(quiet, most int, reconcile func(), writes func() int) {
	l.calm = true
	for reconciles, still := 0, 0; still < quiet; reconciles++ {
		before := writes()
		reconcile()
		if still++; writes() != before {
			still = 0
		}
		if reconciles > most {
			l.Fail("something is written forever")
		}
	}
}

// Lives holds that what often happens did in so many lives, or in a few where tests are to be short; in many what is rare did, too.
func Lives(t *testing.T, few, many uint64, live func(*testing.T, uint64) *Life, often, rare []string) {
	count := map[string]int{}
	if testing.Short() {
		many, rare = few, nil
	}
	for number := range many {
		ok := t.Run(fmt.Sprint(number), func(t *testing.T) {
			for what, n := range live(t, number).Count {
				count[what] += n
			}
		})
		if !ok {
			return
		}
	}
	t.Log(count)
	for _, what := range slices.Concat(often, rare) {
		if count[what] == 0 {
			t.Errorf("%s: it never happened", what)
		}
	}
}
