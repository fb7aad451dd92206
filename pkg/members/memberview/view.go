// SPDX-License-Identifier: Apache-2.0

// Package memberview has what the controller-manager sees of the members, by the credentials that write there, told to the metrics
// adapter, which serves it as part of each Member: the leader writes one ConfigMap of the hub, when something changes, and the adapter
// follows it.
package memberview

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/grants"
	"github.com/fleetscale/fleetscale/pkg/members/member"
)

// Name is that of the ConfigMap, which has one entry for each cluster, under its name, and those of the leader itself.
const Name = "fleetscale-members"

// The keys of the leader itself. No cluster is called so: names are label values.
const (
	// renewedKey has when all entries were last found to be true.
	renewedKey = "_renewed"
	// recordKey has where the record of decisions is served, ADDRESS:PORT, or several with a comma in between; without it, it is not.
	recordKey = "_record"
)

const (
	// renewEvery is the time between two renewals: while nothing else changes, one write of a few bytes.
	renewEvery = time.Minute
	// staleAfter is how long the last renewal holds: a leader that ends is replaced sooner.
	staleAfter = 3 * renewEvery
)

// View is one cluster as the controller-manager sees it.
type View struct {
	State  v1alpha1.MemberState `json:"state"`
	Reason string               `json:"reason"`
	// Message is that of when state and reason became what they are.
	Message string `json:"message,omitempty"`
	// Accepted is true when the cluster has accepted the credential that writes, and has not refused it since.
	Accepted bool `json:"accepted,omitempty"`
	// Since is when the cluster became ready, or stopped being so.
	Since time.Time `json:"since,omitzero"`
	// TokenExpiry is when the first token of the registration expires; zero: none does.
	TokenExpiry time.Time `json:"tokenExpiry,omitzero"`
	// MissingRights are those that the cluster denies to the credential that writes, as [member.Traits] has them.
	MissingRights []string `json:"missingRights,omitempty"`
}

const (
	// mostMessage bounds a message, in characters.
	mostMessage = 300
	// mostViews and mostBytes keep all within what one ConfigMap may hold, and mostView bounds one, in bytes.
	mostViews = 4000
	mostBytes = 1 << 20 * 9 / 10
	mostView  = 2048
	// mostRights bounds the rights of one view that are told each by itself.
	mostRights = 8
)

// StateOf returns the word for a state.
func StateOf(s member.State) v1alpha1.MemberState {
	switch {
	case s.Ready:
		return v1alpha1.MemberReady
	case s.Spare():
		return v1alpha1.MemberSpare
	case s.Joining:
		return v1alpha1.MemberJoining
	default:
		return v1alpha1.MemberSilent
	}
}

// viewOf returns the view of a cluster whose first token expires then. before is what is stored of it: a leader that has not asked it for
// rights takes these over.
func viewOf(s member.State, t member.Traits, expiry time.Time, before View) View {
	v := View{
		State: StateOf(s), Reason: string(s.Reason), Message: fleet.Printable(s.Message, mostMessage), Accepted: s.Accepted(),
		Since: s.Since.UTC().Truncate(time.Second), TokenExpiry: expiry.UTC().Truncate(time.Second), MissingRights: before.MissingRights,
	}
	if t.AskedRights {
		v.MissingRights = grants.Few(t.MissingRights, mostRights)
	}
	return v
}

// news is true when the view says something else than an earlier one. Other words for the same reason are none: each probe may have
// others. Nor is since, which a new leader knows only from when it started.
func (v View) news(before View) bool {
	return v.State != before.State || v.Reason != before.Reason || v.Accepted != before.Accepted ||
		!v.TokenExpiry.Equal(before.TokenExpiry) || !slices.Equal(v.MissingRights, before.MissingRights)
}

// encode returns the views as they are stored, by name, with what the leader says of itself. What is no news stays as it is stored. Where
// all are too much, of their rights no more is told than how many are missing; and then the last by name are left out.
func encode(views map[string]View, stored, leader map[string]string) map[string]string {
	before := Decode(stored)
	data := pack(views, before, stored, leader)
	if len(data) == len(views)+len(leader) {
		return data
	}
	counted := make(map[string]View, len(views))
	for name, v := range views {
		v.MissingRights = grants.Few(v.MissingRights, 1)
		counted[name] = v
	}
	return pack(counted, before, stored, leader)
}

// pack leaves out what is too much.
func pack(views, before map[string]View, stored, leader map[string]string) map[string]string {
	data, bytes := make(map[string]string, len(views)+len(leader)), 0
	for key, text := range leader {
		data[key] = text
		bytes += len(key) + len(text)
	}
	for _, name := range slices.Sorted(maps.Keys(views)) {
		text := stored[name]
		if was, known := before[name]; !known || views[name].news(was) {
			encoded, err := json.Marshal(views[name])
			if err != nil {
				continue
			}
			text = string(encoded)
		}
		size := len(name) + len(text)
		if len(text) > mostView || len(data) > mostViews || bytes+size > mostBytes {
			continue
		}
		data[name], bytes = text, bytes+size
	}
	return data
}

// Decode reads what is stored. What cannot be read is left out.
func Decode(data map[string]string) map[string]View {
	views := make(map[string]View, min(len(data), mostViews))
	for name, text := range data {
		var v View
		if name == renewedKey || name == recordKey || len(views) == mostViews || len(text) > mostView ||
			json.Unmarshal([]byte(text), &v) != nil || v.State == "" {
			continue
		}
		v.Reason, v.Message = fleet.Printable(v.Reason, mostReason), fleet.Printable(v.Message, mostMessage)
		v.MissingRights = grants.Few(v.MissingRights, mostRights)
		for i, right := range v.MissingRights {
			v.MissingRights[i] = fleet.Printable(right, grants.MostText)
		}
		views[name] = v
	}
	return views
}

// mostReason bounds a reason, in characters.
const mostReason = 64
