// SPDX-License-Identifier: Apache-2.0

// Package control sets what simulated members do, and tells what they were
// asked, by plain HTTP: for who is not in their process.
//
//	GET /members                  names, addresses and how often each was asked
//	GET /members/NAME/requests    how often it was asked what
//	PUT /members/NAME/conduct     {"latency": "2s", "failing": 0.1}; {} makes it behave; * is all members
package control

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/test/sim"
)

// Conduct is a [sim.Conduct] in JSON. Times are written as 1m30s.
type Conduct struct {
	Latency            metav1.Duration `json:"latency"`
	Jitter             metav1.Duration `json:"jitter"`
	Failing            float64         `json:"failing"`
	Code               int             `json:"code"`
	Hang               bool            `json:"hang"`
	Garbage            bool            `json:"garbage"`
	Under              string          `json:"under"`
	Away               bool            `json:"away"`
	Flap               metav1.Duration `json:"flap"`
	ForeignCertificate bool            `json:"foreignCertificate"`
}

func (c Conduct) sim() sim.Conduct {
	return sim.Conduct{
		Latency: c.Latency.Duration, Jitter: c.Jitter.Duration, Failing: c.Failing, Code: c.Code, Hang: c.Hang, Garbage: c.Garbage,
		Under: c.Under,
		Away:  c.Away, Flap: c.Flap.Duration, ForeignCertificate: c.ForeignCertificate,
	}
}

func (c Conduct) validate() error {
	switch {
	case c.Failing < 0 || c.Failing > 1:
		return fmt.Errorf("failing: must be from 0 to 1, got %v", c.Failing)
	case c.Code != 0 && (c.Code < 400 || c.Code > 599):
		return fmt.Errorf("code: must be from 400 to 599, got %d", c.Code)
	case c.Latency.Duration < 0 || c.Jitter.Duration < 0 || c.Flap.Duration < 0:
		return fmt.Errorf("latency, jitter and flap: must be 0 or more")
	}
	return nil
}

// Member is what is told of one.
type Member struct {
	Name     string `json:"name"`
	URL      string `json:"url"`
	Requests int    `json:"requests"`
}

// Requests is a kind of request, and how often it came.
type Requests struct {
	Verb        string `json:"verb"`
	Group       string `json:"group,omitempty"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource,omitempty"`
	Times       int    `json:"times"`
}

// Handler controls the members of a fleet.
func Handler(fleet *sim.Fleet) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /members", func(w http.ResponseWriter, _ *http.Request) {
		var all []Member
		for _, m := range fleet.Members() {
			all = append(all, Member{m.Name(), m.URL(), m.Requests().Total()})
		}
		tell(w, all)
	})
	mux.HandleFunc("GET /members/{name}/requests", func(w http.ResponseWriter, r *http.Request) {
		for _, m := range named(fleet, w, r) {
			tell(w, sorted(m.Requests()))
		}
	})
	mux.HandleFunc("PUT /members/{name}/conduct", func(w http.ResponseWriter, r *http.Request) {
		conduct, err := read(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, m := range named(fleet, w, r) {
			m.Behave(conduct)
		}
	})
	return mux
}

func read(r *http.Request) (sim.Conduct, error) {
	var c Conduct
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return sim.Conduct{}, fmt.Errorf("reading the conduct: %w", err)
	}
	return c.sim(), c.validate()
}

// named are the members meant; where there is none that is answered.
func named(fleet *sim.Fleet, w http.ResponseWriter, r *http.Request) []*sim.Member {
	name, all := r.PathValue("name"), fleet.Members()
	if name == "*" && r.Method == http.MethodPut {
		return all
	}
	i := slices.IndexFunc(all, func(m *sim.Member) bool { return m.Name() == name })
	if i < 0 {
		http.Error(w, fmt.Sprintf("there is no member %q", name), http.StatusNotFound)
		return nil
	}
	return all[i : i+1]
}

func sorted(t sim.Tally) []Requests {
	all := []Requests{}
	for r, times := range t {
		all = append(all, Requests{r.Verb, r.Group, r.Resource, r.Subresource, times})
	}
	slices.SortFunc(all, func(a, b Requests) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Subresource, b.Subresource),
			cmp.Compare(a.Verb, b.Verb))
	})
	return all
}

func tell(w http.ResponseWriter, what any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(what) // the client may have gone
}
