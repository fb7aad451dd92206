// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

func optional(o *Options[*corev1.ConfigMap, *thing]) { o.Optional = true }

// unserved is the answer of an API server to a resource that it does not know.
func unserved(*http.Request) (*http.Response, error) {
	return memberstest.Respond(http.StatusNotFound, runtime.ContentTypeJSON, []byte("404 page not found\n")), nil
}

// mostUntilServed is how long it may take until a resource is seen that is served from now on.
const mostUntilServed = servedPoll * 3 / 2

func TestOptionalResourceComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", "shop/a")
		east.Handle = unserved
		r := start(t, optional)
		r.expect(east, "shop", "")
		for range 60 {
			pass(time.Minute)
			if a := r.expect(east, "shop", ""); time.Since(a.AsOf) > mostUntilServed {
				t.Fatalf("as of %v ago", time.Since(a.AsOf))
			}
		}
		if n := len(east.asked()); n < 45 || n > 80 {
			t.Errorf("%d requests in an hour", n)
		}

		t.Log("it comes")
		east.Set(func() { east.Handle = nil })
		pass(mostUntilServed)
		r.expect(east, "shop", "shop/a=0")
		east.put("shop/b", "1")
		pass(0)
		r.expect(east, "shop", "shop/a=0 shop/b=1")

		pass(3 * time.Minute) // and the waits are short again

		t.Log("it goes")
		east.Set(func() { east.Handle = unserved })
		east.breakWatches(false)
		for range 50 {
			if a := r.ask(east, "shop"); !a.Known || a.Silence != nil {
				t.Fatalf("known %t, silent: %v", a.Known, a.Silence)
			}
			pass(100 * time.Millisecond)
		}
		r.expect(east, "shop", "")

		t.Log("and then nobody may see it")
		east.Set(func() {
			east.Handle = failing(apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", errors.New("no rights")))
		})
		pass(mostUntilServed)
		r.expect(east, "shop", "Forbidden")
	})
}

func TestOptionalResourceThatNobodyMaySee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", "shop/a")
		east.Handle = failing(apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", errors.New("no rights")))
		r := start(t, optional)
		r.expect(east, "shop", "unknown Forbidden")
		east.Set(func() { east.Handle = nil })
		pass(2*longestWait + time.Second)
		r.expect(east, "shop", "shop/a=0")
	})
}

// Pages of a list that were read before the resource went are not part of one that is read when it is back.
func TestOptionalResourceGoesBetweenPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		for i := range pageSize + 1 {
			east.put(fmt.Sprintf("shop/c%04d", i), "1")
		}
		east.Handle = func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Has("continue") {
				return unserved(r)
			}
			return nil, nil
		}
		r := start(t, optional)
		r.expect(east, "shop", "")
		east.Set(func() {
			clear(east.objects)
			east.Handle = nil
		})
		east.put("shop/new", "2")
		pass(mostUntilServed)
		for _, request := range east.asked()[2:] {
			if strings.Contains(request, "continue") {
				t.Errorf("the list is continued: %s", request)
			}
		}
		pass(10 * time.Minute) // it is forgotten, and asked for again
		r.expect(east, "shop", "shop/new=2")
	})
}

// Where many namespaces are asked for, one request asks whether it is served now.
func TestOptionalResourceOfManyNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		east.Handle = unserved
		r := start(t, optional)
		for minute := range 20 {
			for i := range fewNamespaces + 1 {
				r.expect(east, fmt.Sprint("n", i), "")
			}
			pass(time.Minute)
			if minute == 9 {
				east.asked()
			}
		}
		if n := len(east.asked()); n > 20 {
			t.Errorf("%d requests in ten minutes", n)
		}
	})
}

// That it was not served once says nothing about a watch that does not begin later.
func TestOptionalResourceIsSilentLikeAnyOther(t *testing.T) {
	now := time.Now()
	f := newFeed(&Options[*corev1.ConfigMap, *thing]{Optional: true}, newFakeMember("east"), "shop", nil, nil)
	f.lacks(now)
	if later := f.silence(now.Add(time.Minute)); later != nil {
		t.Errorf("silent while it is not served: %v", later)
	}
	f.listed(nil, newHolding[*thing](connection.NewReading(), func() {}), now)
	if later := f.silence(now.Add(time.Minute)); later == nil || later.Reason != fleet.ReasonStale {
		t.Errorf("silent: %v, want Stale", later)
	}
}

// Of any other resource it is a bad answer.
func TestResourceThatMustBeServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", "shop/a")
		east.Handle = unserved
		start(t).expect(east, "shop", "unknown BadAnswer")
	})
}
