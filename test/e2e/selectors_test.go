// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// The cluster is selected as if it were a label of the pods, alone and with others.
func TestLabelSelectors(t *testing.T) {
	e := whole(t)
	for selector, want := range map[string][]string{
		"fleetscale.io/cluster=member1":                       podsOf("member1"),
		"fleetscale.io/cluster in (member1,member3)":          podsOf("member1", "member3"),
		"fleetscale.io/cluster!=member1":                      podsOf("member2", "member3"),
		"fleetscale.io/cluster notin (member1,member2)":       podsOf("member3"),
		"fleetscale.io/cluster":                               podsOf(allMembers()...),
		"!fleetscale.io/cluster":                              nil,
		"fleetscale.io/cluster=elsewhere":                     nil,
		"app=only":                                            {"member1/only-member1", "member2/only-member2", "member3/only-member3"},
		"app=web,fleetscale.io/cluster=member2":               {"member2/web-0", "member2/web-1"},
		"app notin (web,cart),fleetscale.io/cluster!=member2": {"member1/only-member1", "member3/only-member3"},
	} {
		for _, path := range []string{shopPath, allPath} {
			v := e.query(t, path+"?labelSelector="+url.QueryEscape(selector))
			if v.Code != http.StatusOK {
				t.Errorf("%s at %s: %d %s", selector, path, v.Code, v.Message)
			}
			fleettest.Same(t, fmt.Sprintf("%s at %s", selector, path), want, v.Pods)
		}
	}
}

// Only the members that the selector leaves are asked, and the coverage says so.
func TestCoverageIsOfThoseWhoWereAsked(t *testing.T) {
	e := whole(t)
	for selector, want := range map[string]string{
		"": "answered=member1,member2,member3",
		"fleetscale.io/cluster in (member1,member2)": "answered=member1,member2",
	} {
		v := e.query(t, shopPath+"?labelSelector="+url.QueryEscape(selector))
		if got := v.Coverage.Header(); got != want {
			t.Errorf("the coverage of %q is %q, want %q", selector, got, want)
		}
	}
}

func TestFieldSelectors(t *testing.T) {
	e := whole(t)
	for selector, want := range map[string][]string{
		"metadata.name=web-1":        {"member1/web-1", "member2/web-1", "member3/web-1"},
		"metadata.name=only-member2": {"member2/only-member2"},
		"metadata.namespace=shop,metadata.name!=web-1": slices.DeleteFunc(podsOf(allMembers()...),
			func(pod string) bool { return strings.HasSuffix(pod, "/web-1") }),
		"metadata.namespace=elsewhere":                  nil,
		"metadata.namespace!=shop,metadata.name=web-11": nil,
	} {
		for _, path := range []string{shopPath, allPath} {
			v := e.query(t, path+"?fieldSelector="+url.QueryEscape(selector))
			if v.Code != http.StatusOK {
				t.Errorf("%s at %s: %d %s", selector, path, v.Code, v.Message)
			}
			fleettest.Same(t, fmt.Sprintf("%s at %s", selector, path), want, v.Pods)
		}
	}
}

// What cannot be selected by is refused and not ignored.
func TestOtherFieldSelectorsAreRefused(t *testing.T) {
	e := whole(t)
	for _, path := range []string{shopPath, allPath, v1beta1 + "/nodes", v1 + "/namespaces/" + shop + "/pods"} {
		v := e.query(t, path+"?fieldSelector=spec.nodeName%3Dmember1-node1")
		if v.Code != http.StatusBadRequest {
			t.Errorf("GET %s by spec.nodeName: %d %s, want 400", path, v.Code, v.Message)
		}
	}
	if v := e.query(t, v1beta1+"/nodes?fieldSelector=metadata.name%3Dmember1-node1"); v.Code != http.StatusOK || len(v.items) != 1 {
		t.Errorf("nodes by metadata.name: %d %s, %d items; want 200 and 1", v.Code, v.Message, len(v.items))
	}
}
