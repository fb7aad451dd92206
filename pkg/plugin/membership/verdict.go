// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Said is what the programs on the hub say of a member.
type Said struct {
	// State is one word, such as Ready, Joining or Silent; empty: they do not know it yet.
	State string
	// Reason and Message say why, as in docs/members.md.
	Reason, Message string
	// ControllerManager is what that says, by the credential that writes; empty: nothing.
	ControllerManager View
	// Partly: only the adapter can be asked.
	Partly bool `json:"-"`
}

// View is one program's word.
type View struct{ State, Reason, Message string }

// ready is the state of a member that the hub's programs reach.
const ready = "Ready"

// String is what people read.
func (s Said) String() string {
	text := View{s.State, s.Reason, s.Message}.String()
	if c := s.ControllerManager; s.State == ready && c.State != "" && c.State != ready {
		text += ", for the controller-manager " + c.String()
	}
	return text
}

// String is what people read.
func (v View) String() string {
	switch {
	case v.State == "":
		return "the hub's programs do not know it yet"
	case v.Reason == "" || v.Reason == v.State:
		return v.State
	case v.Message == "":
		return v.State + " (" + v.Reason + ")"
	}
	return v.State + " (" + v.Reason + ": " + v.Message + ")"
}

// reached reports whether the programs reach a member that the adapter has been reaching for so long. With a credential that writes
// the controller-manager has to as well, unless it says nothing for so long that there is none.
func (s Said) reached(writes bool, since, silence time.Duration) bool {
	switch c := s.ControllerManager; {
	case s.State != ready:
		return false
	case !writes, s.Partly:
		return true
	case c.State == "":
		return since >= silence
	default:
		return c.State == ready
	}
}

// errUnserved: the hub does not serve the API.
var errUnserved = errors.New("not served")

// says asks the hub's programs of a member: by the API of members, or, where the adapter does not serve that, by whether the member
// answered for its nodes' metrics.
func (h *Hub) says(ctx context.Context, name string) (Said, error) {
	said, err := h.asMember(ctx, name)
	if !errors.Is(err, errUnserved) {
		return said, err
	}
	said, err = h.asAnswered(ctx, name)
	said.Partly = true
	if err != nil || said.State == ready {
		return said, err
	}
	return h.asWarned(ctx, name, said), nil
}

func (h *Hub) asMember(ctx context.Context, name string) (Said, error) {
	var member struct{ Status Said }
	data, err := h.typed.CoreV1().RESTClient().Get().AbsPath("/apis/members.fleetscale.io/v1alpha1/members/" + name).Do(ctx).Raw()
	var status apierrors.APIStatus
	switch {
	case apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name == name:
		return Said{}, nil
	case apierrors.IsNotFound(err):
		return Said{}, errUnserved
	case err != nil:
		return Said{}, fmt.Errorf("asking the hub for the member %s: %w", name, err)
	}
	return member.Status, json.Unmarshal(data, &member)
}

// asAnswered reads from the coverage of an answer whether the member was part of it.
func (h *Hub) asAnswered(ctx context.Context, name string) (Said, error) {
	client, err := rest.HTTPClientFor(h.config)
	if err != nil {
		return Said{}, err
	}
	url := h.typed.CoreV1().RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/nodes").
		Param("labelSelector", "fleetscale.io/cluster="+name).URL()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url.String(), http.NoBody)
	if err != nil {
		return Said{}, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return Said{}, fmt.Errorf("asking the hub whether %s answers: %w", name, err)
	}
	defer func() { _ = answer.Body.Close() }()
	header := answer.Header.Get(fleet.CoverageHeader)
	if header == "" && answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusServiceUnavailable {
		return Said{}, fmt.Errorf("the hub says neither by members.fleetscale.io nor by metrics.k8s.io (%d) whether it reaches %s: is the "+
			"metrics-adapter installed?", answer.StatusCode, name)
	}
	if header == "" && answer.StatusCode == http.StatusOK {
		return h.asEstablished(ctx, name) // somebody else serves that API
	}
	coverage, err := fleet.ParseCoverage(header)
	if err != nil {
		return Said{}, err
	}
	return covered(coverage, name), nil
}

// asEstablished reads from the record of identities whether the member was Ready since it was registered.
func (h *Hub) asEstablished(ctx context.Context, name string) (Said, error) {
	record, err := h.typed.CoreV1().ConfigMaps(h.places.Identities).Get(ctx, identitiesName, metav1.GetOptions{})
	if err != nil {
		return Said{}, fmt.Errorf("the hub serves neither members.fleetscale.io nor metrics.k8s.io of fleetscale yet, and whether it reaches %s "+
			"is not recorded: %w", name, err)
	}
	for _, r := range recorded(record.Data) {
		if r.name == name && r.secretOf() != "" {
			return Said{State: ready}, nil
		}
	}
	return Said{}, nil
}

// covered is what a coverage says of a member.
func covered(c fleet.Coverage, name string) Said {
	if slices.Contains(c.Answered, name) || slices.Contains(c.Absent, name) {
		return Said{State: ready}
	}
	for _, s := range c.Silent {
		if s.Cluster == name {
			return Said{State: "Silent", Reason: string(s.Reason)}
		}
	}
	return Said{}
}

// asWarned adds what the last Event on the registration warns of.
func (h *Hub) asWarned(ctx context.Context, name string, said Said) Said {
	s, err := h.typed.CoreV1().Secrets(h.places.Registrations).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return said
	}
	list, err := h.typed.CoreV1().Events(s.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "type=Warning,involvedObject.name=" + s.Name + ",involvedObject.uid=" + string(s.UID), Limit: 500,
	})
	if err != nil || len(list.Items) == 0 {
		return said
	}
	last := slices.MaxFunc(list.Items, func(a, b corev1.Event) int { return lastSeen(a).Compare(lastSeen(b)) })
	said.State, said.Reason, said.Message = cmp.Or(said.State, "Joining"), last.Reason, last.Message
	return said
}

func lastSeen(e corev1.Event) time.Time {
	latest := e.LastTimestamp.Time
	if e.EventTime.After(latest) {
		latest = e.EventTime.Time
	}
	return latest
}

const (
	// askAgain is how often the hub is asked while a member joins.
	askAgain = time.Second
	// settled is after how long a member that had another credential before is Ready by the new one: until then it may be by the former
	// one, for a period of the programs and the timeout of a request to a member.
	settled = 15 * time.Second
	// unpublished is for how long a controller-manager that runs says nothing of a member that is new: it publishes every five seconds.
	unpublished = 10 * time.Second
)

// awaited is what is waited for.
type awaited struct {
	name string
	// again: the programs reached the member before what was just written.
	again bool
	// writes: the controller-manager has to reach it too.
	writes bool
	// timeout is how long it may take, for one that was reached before after it has settled.
	timeout time.Duration
	// tell is called with each change.
	tell func(Said)
}

// awaitReady returns when the hub's programs reach the member.
func (h *Hub) awaitReady(ctx context.Context, a awaited) error {
	var last Said
	var trouble error
	begin := time.Now()
	since, most := begin, a.timeout
	if a.again {
		most += h.settled
	}
	err := wait.PollUntilContextTimeout(ctx, h.askAgain, most, true, func(ctx context.Context) (bool, error) {
		said, err := h.says(ctx, a.name)
		if ctx.Err() != nil {
			return false, nil // the time is over; what was known before counts
		}
		if trouble = err; err != nil {
			return false, nil // asked again
		}
		if said != last {
			if said.State != last.State {
				since = time.Now()
			}
			last = said
			a.tell(said)
		}
		return said.reached(a.writes, time.Since(since), h.unpublished) && (!a.again || time.Since(begin) >= h.settled), nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case trouble != nil && last == (Said{}):
		return fmt.Errorf("not known to be Ready after %v: %w", a.timeout, trouble)
	}
	return fmt.Errorf("not Ready after %v: %s", a.timeout, last)
}
