// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard/dashboardtest"
)

const evil = `</script><script>alert(1)</script>`

// hubOf has two members, a FederatedHPA of either that is well and that waits, and rules.
func hubOf(t *testing.T) (*dashboardtest.Hub, *rest.Config) {
	t.Helper()
	hub := &dashboardtest.Hub{}
	now := time.Now()
	for _, name := range []string{"east", "west"} {
		hub.Put(dashboardtest.Members, dashboardtest.Member(name, 4, now))
	}
	held := dashboardtest.FederatedHPA("shop", "cart", now, 63, 2, "east", "west")
	dashboardtest.Hold(held, "west")
	held.Status.Conditions[2].Message = evil
	hub.Put(dashboardtest.FederatedHPAs, held)
	hub.Put(dashboardtest.FederatedHPAs, dashboardtest.FederatedHPA("pay", "api", now, 60, 2, "east"))
	hub.Put(dashboardtest.Crons, dashboardtest.Rules("shop", "morning", "cart", "30 8 * * *"))
	hub.Put(dashboardtest.Events, dashboardtest.Event("shop", v1alpha1.FederatedHPAKind, "cart", "ClusterUnreachable", evil, now))
	hub.Put(dashboardtest.Events, dashboardtest.Event("shop", v1alpha1.FederatedHPAKind, "till", "Other", "of another", now))
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	return hub, &rest.Config{Host: server.URL}
}

// started serves a page, and returns its address.
func started(t *testing.T, hub *rest.Config, namespace string) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Run(ctx, Options{Hub: hub, Namespace: namespace, Out: in})
		in.Close()
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	said := bufio.NewReader(out)
	line, err := said.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	return regexp.MustCompile(`http://\S+`).FindString(line)
}

func get(t *testing.T, address string, change ...func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range change {
		to(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

// messages reads what a page is told.
type messages struct {
	t    *testing.T
	from *bufio.Scanner
}

func listen(t *testing.T, address string) *messages {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if got := answer.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("Content-Type %s", got)
	}
	return listenTo(t, answer.Body)
}

func listenTo(t *testing.T, stream io.Reader) *messages {
	t.Helper()
	m := &messages{t, bufio.NewScanner(stream)}
	m.from.Buffer(nil, 1<<24)
	return m
}

// until reads messages until one is as it should be, and returns that.
func (m *messages) until(is func(kind string, told *changes) bool) *changes {
	m.t.Helper()
	kind := ""
	for m.from.Scan() {
		line := m.from.Text()
		if name, found := strings.CutPrefix(line, "event: "); found {
			kind = name
		}
		if data, found := strings.CutPrefix(line, "data: "); found {
			told := &changes{}
			if err := json.Unmarshal([]byte(data), told); err != nil {
				m.t.Fatal(err)
			}
			if is(kind, told) {
				return told
			}
		}
	}
	m.t.Fatalf("the stream ended: %v", m.from.Err())
	return nil
}

func read(_ string, told *changes) bool { return len(told.Loading) == 0 }

func TestPage(t *testing.T) {
	_, config := hubOf(t)
	address := started(t, config, "shop")
	answer, body := get(t, address)
	if answer.StatusCode != http.StatusOK || !strings.Contains(body, "<title>fleetscale</title>") {
		t.Errorf("%d: %s", answer.StatusCode, body)
	}
	for name, want := range headers {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for file, kind := range map[string]string{"main.js": "text/javascript; charset=utf-8", "style.css": "text/css; charset=utf-8"} {
		if answer, _ := get(t, address+file); answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != kind {
			t.Errorf("%s: %d %s", file, answer.StatusCode, answer.Header.Get("Content-Type"))
		}
	}
	listen(t, address).until(read)
	_, body = get(t, address+"autoscaler?id=fhpa/shop/cart")
	var d detail
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		t.Fatal(err, body)
	}
	if d.State != "Held" || len(d.Coming) != comingOfRule || len(d.Events) != 1 || d.Events[0].Note != evil || d.EventsTrouble != "" ||
		!strings.Contains(d.Explanation, "clusters cannot be seen, so nothing is scaled down") {
		t.Errorf("%+v", d)
	}
	if answer, _ := get(t, address+"autoscaler?id=fhpa/shop/nothing"); answer.StatusCode != http.StatusNotFound {
		t.Errorf("one that is not there: %d", answer.StatusCode)
	}
}

// Who was not given the address, or comes by another name, reads nothing, and nobody writes.
func TestOnlyWhoKnowsTheAddress(t *testing.T) {
	_, config := hubOf(t)
	address := started(t, config, "shop")
	origin := strings.Join(strings.Split(address, "/")[:3], "/")
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for name, tc := range map[string]struct {
		address string
		change  func(*http.Request)
		want    int
	}{
		"no token":                      {origin + "/", host(""), http.StatusForbidden},
		"another token":                 {origin + "/ABCDEFGHIJKLMNOPQRSTUVWXYZ/stream", host(""), http.StatusForbidden},
		"a part of it":                  {strings.TrimSuffix(address, "/")[:len(address)-3] + "/", host(""), http.StatusForbidden},
		"a file without it":             {origin + "/main.js", host(""), http.StatusForbidden},
		"a name that was led here":      {address, host("evil.example.org"), http.StatusForbidden},
		"one that begins like this":     {address, host("localhost.evil.example.org:80"), http.StatusForbidden},
		"an address of another machine": {address, host("192.0.2.1:80"), http.StatusForbidden},
		"this machine":                  {address, host("localhost:7777"), http.StatusOK},
		"this machine by IPv6":          {address, host("[::1]:7777"), http.StatusOK},
		"a write":                       {address, func(r *http.Request) { r.Method = http.MethodPost }, http.StatusMethodNotAllowed},
		"a question of another page":    {address, func(r *http.Request) { r.Method = http.MethodOptions }, http.StatusMethodNotAllowed},
		"a file above it":               {address + "../serve.go", host(""), http.StatusNotFound},
		"no slash at its end":           {strings.TrimSuffix(address, "/"), host("127.0.0.1"), http.StatusOK},
		"an unknown file":               {address + "serve.go", host(""), http.StatusNotFound},
	} {
		answer, body := get(t, tc.address, tc.change)
		if answer.StatusCode != tc.want || tc.want != http.StatusOK && strings.Contains(body, "fleetscale</title>") {
			t.Errorf("%s: %d, want %d: %s", name, answer.StatusCode, tc.want, body)
		}
		if answer.Header.Get("Access-Control-Allow-Origin") != "" || answer.Header.Get("Content-Security-Policy") != policy {
			t.Errorf("%s: headers %v", name, answer.Header)
		}
	}
	if second := started(t, config, "shop"); second[strings.LastIndex(second[:len(second)-1], "/"):] ==
		address[strings.LastIndex(address[:len(address)-1], "/"):] {
		t.Error("two starts have one token")
	}
}

// What changes on the hub is told: what is new, what is another, what is gone.
func TestStream(t *testing.T) {
	hub, config := hubOf(t)
	page := listen(t, started(t, config, "shop"))
	first := page.until(func(kind string, _ *changes) bool { return kind == "all" })
	if len(first.Loading) == 0 {
		if len(first.Members) != 2 || len(first.Autoscalers) != 3 {
			t.Errorf("%d members and %d autoscalers", len(first.Members), len(first.Autoscalers))
		}
	} else {
		page.until(read)
	}
	well := dashboardtest.FederatedHPA("shop", "cart", time.Now(), 63, 2, "east", "west")
	hub.Put(dashboardtest.FederatedHPAs, well)
	page.until(func(_ string, told *changes) bool {
		return len(told.Autoscalers) > 0 && told.Autoscalers[0].ID == "fhpa/shop/cart" && told.Autoscalers[0].State == "Active"
	})
	hub.Delete(dashboardtest.FederatedHPAs, "pay", "api")
	page.until(func(_ string, told *changes) bool { return fmt.Sprint(told.GoneAutoscalers) == "[fhpa/pay/api]" })
	silent := dashboardtest.Member("west", 4, time.Now())
	silent.Status.State, silent.Status.Reason = membersv1alpha1.MemberSilent, "Timeout"
	hub.Put(dashboardtest.Members, silent)
	page.until(func(_ string, told *changes) bool {
		return len(told.Members) == 1 && told.Members[0].Name == "west" && told.Members[0].State == "Silent"
	})
}

// Pages are bounded, as each has memory of its own.
func TestStreamsAreBounded(t *testing.T) {
	_, config := hubOf(t)
	address := started(t, config, "shop")
	for range mostStreams {
		listen(t, address)
	}
	if answer, _ := get(t, address+"stream"); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", answer.StatusCode)
	}
}

// What may not be listed, or is not there, is said on the page, and the rest is shown.
func TestRefusals(t *testing.T) {
	const ours = "/apis/autoscaling.karmada.io/v1alpha1/"
	for name, tc := range map[string]struct {
		refuse  map[string]int
		about   string
		want    string
		members int
		rows    int
	}{
		"members": {map[string]int{"/apis/members.fleetscale.io/v1alpha1/members": http.StatusForbidden}, "Members",
			"You may not list them; the ClusterRole fleetscale-members-reader has that right.", 0, 3},
		"members of a hub that is none": {map[string]int{"/apis/members.fleetscale.io/v1alpha1/members": http.StatusNotFound}, "Members",
			"The hub does not serve members.fleetscale.io", 0, 3},
		"members without an adapter": {map[string]int{"/apis/members.fleetscale.io/v1alpha1/members": http.StatusServiceUnavailable}, "Members",
			"Nobody serves members.fleetscale.io at present", 0, 3},
		"autoscalers of all namespaces": {map[string]int{ours + "federatedhpas": http.StatusForbidden}, "FederatedHPAs",
			"Those of namespace shop only: you may not list them in all.", 2, 2},
		"autoscalers": {
			map[string]int{ours + "federatedhpas": http.StatusForbidden, ours + "namespaces/shop/federatedhpas": http.StatusForbidden},
			"FederatedHPAs", "You may list them neither in all namespaces nor in shop.", 2, 1},
		"a kind that is not there": {map[string]int{ours + "multidimpodautoscalers": http.StatusNotFound}, "MultidimPodAutoscalers",
			"The hub does not know this kind.", 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			hub, config := hubOf(t)
			for path, code := range tc.refuse {
				hub.Refuse(path, code)
			}
			file := filepath.Join(t.TempDir(), "page.html")
			if err := Run(t.Context(), Options{Hub: config, Namespace: "shop", Once: file, Out: io.Discard}); err != nil {
				t.Fatal(err)
			}
			data := dataOf(t, file)
			if len(data.Fleet.Notices) != 1 || data.Fleet.Notices[0].About != tc.about || !strings.HasPrefix(data.Fleet.Notices[0].Text, tc.want) {
				t.Errorf("notices %v", data.Fleet.Notices)
			}
			if len(data.Fleet.Members) != tc.members || len(data.Fleet.Autoscalers) != tc.rows {
				t.Errorf("%d members and %d autoscalers, want %d and %d", len(data.Fleet.Members), len(data.Fleet.Autoscalers), tc.members, tc.rows)
			}
		})
	}
}

// An object that would take hours to decode is named, and harms nothing else.
func TestUnreadable(t *testing.T) {
	hub, config := hubOf(t)
	hub.PutFields(dashboardtest.FederatedHPAs, map[string]any{
		"metadata": map[string]any{"namespace": "shop", "name": "bomb"},
		"spec": map[string]any{"metrics": []any{map[string]any{"type": "External", "external": map[string]any{
			"target": map[string]any{"type": "Value", "value": "1e-2147483648"}}}}},
	})
	file := filepath.Join(t.TempDir(), "page.html")
	if err := Run(t.Context(), Options{Hub: config, Once: file, Out: io.Discard}); err != nil {
		t.Fatal(err)
	}
	data := dataOf(t, file)
	if worst := data.Fleet.Autoscalers[0]; worst.ID != "fhpa/shop/bomb" || worst.State != "Unreadable" || worst.Why == "" {
		t.Errorf("the worst is %+v", worst)
	}
	if len(data.Fleet.Autoscalers) != 4 {
		t.Errorf("%d autoscalers", len(data.Fleet.Autoscalers))
	}
}

var dataElement = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

func dataOf(t *testing.T, file string) stored {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var data stored
	found := dataElement.FindSubmatch(text)
	if found == nil {
		t.Fatal("the file has no data")
	}
	if err := json.Unmarshal(found[1], &data); err != nil {
		t.Fatal(err)
	}
	return data
}

// A file needs nothing beside it, and no text of others ends what it stands in.
func TestOnce(t *testing.T) {
	_, config := hubOf(t)
	file := filepath.Join(t.TempDir(), "page.html")
	var out bytes.Buffer
	if err := Run(t.Context(), Options{Hub: config, Once: file, Out: &out}); err != nil || out.String() != "wrote "+file+"\n" {
		t.Fatal(err, out.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "</script>"); n != 2 || strings.Contains(string(text), evil) {
		t.Errorf("%d scripts end, want 2", n)
	}
	markup := regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(string(text), "")
	if found := regexp.MustCompile(`(?i)(src|href)="[^#"]|url\(|@import`).FindString(markup); found != "" {
		t.Errorf("it loads something: %s", found)
	}
	data := dataOf(t, file)
	if d := data.Details["fhpa/shop/cart"]; len(data.Details) != 3 || d.State != "Held" ||
		d.Conditions[2].Message != evil || len(d.Series.At) != 1 {
		t.Errorf("%d pages; of cart %+v", len(data.Details), d)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := Run(t.Context(), Options{Hub: config, Once: filepath.Join(file, "below"), Out: &out}); err == nil {
		t.Error("a file that cannot be written is no error")
	}
}
