// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"
)

const (
	// mostStreams bounds how many pages are open at one time.
	mostStreams = 16
	// shortest is the time between two messages: many objects change together.
	shortest = 250 * time.Millisecond
	// alive is how often a browser is told that there is nothing to tell, and what time it is.
	alive = 10 * time.Second
	// patience bounds how long a browser may take to read a message.
	patience = 30 * time.Second
)

// changes are what is another in a snapshot than in the one before.
type changes struct {
	Now         int64    `json:"now"`
	Loading     []string `json:"loading"`
	Notices     []notice `json:"notices"`
	Members     []member `json:"members"`
	Autoscalers []row    `json:"autoscalers"`
	// Gone are members and autoscalers that are no longer there.
	GoneMembers     []string `json:"goneMembers"`
	GoneAutoscalers []string `json:"goneAutoscalers"`
}

// changesOf compares two snapshots.
func changesOf(before, now *snapshot) changes {
	c := changes{Now: now.Now, Loading: now.Loading, Notices: now.Notices}
	c.Members, c.GoneMembers = differ(before.Members, now.Members, func(m *member) string { return m.Name })
	c.Autoscalers, c.GoneAutoscalers = differ(before.Autoscalers, now.Autoscalers, func(r *row) string { return r.ID })
	return c
}

// empty reports whether nothing is another but the time.
func (c *changes) empty(before *snapshot) bool {
	return len(c.Members)+len(c.Autoscalers)+len(c.GoneMembers)+len(c.GoneAutoscalers) == 0 &&
		slices.Equal(before.Loading, c.Loading) && slices.Equal(before.Notices, c.Notices)
}

func differ[T any](before, now []T, name func(*T) string) (changed []T, gone []string) {
	changed, gone = []T{}, []string{}
	was := make(map[string]*T, len(before))
	for i := range before {
		was[name(&before[i])] = &before[i]
	}
	for i := range now {
		old, known := was[name(&now[i])]
		if !known || !reflect.DeepEqual(*old, now[i]) {
			changed = append(changed, now[i])
		}
		delete(was, name(&now[i]))
	}
	for left := range was {
		gone = append(gone, left)
	}
	slices.Sort(gone)
	return changed, gone
}

// stream tells a browser what there is, and then what changes, as Server-Sent Events.
func (s *site) stream(w http.ResponseWriter, r *http.Request) {
	if s.streams.Add(1) > mostStreams {
		s.streams.Add(-1)
		http.Error(w, "Too many of these pages are open.", http.StatusServiceUnavailable)
		return
	}
	defer s.streams.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	to := teller{w: w, control: http.NewResponseController(w)}
	before, changed := s.seen.look()
	if to.tell("all", before) != nil {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-time.After(alive):
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(shortest):
		}
		var now snapshot
		now, changed = s.seen.look()
		c := changesOf(&before, &now)
		if c.empty(&before) && now.Now-before.Now < alive.Milliseconds() {
			continue
		}
		if to.tell("changes", c) != nil {
			return
		}
		before = now
	}
}

// teller writes messages to one browser.
type teller struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (t teller) tell(event string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := t.control.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(t.w, "event: %s\ndata: %s\n\n", event, text); err != nil {
		return err
	}
	return t.control.Flush()
}
