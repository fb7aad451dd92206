// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Hub has the VerticalPodAutoscalers of the hub. They are watched as those of members are, and not by an informer: the hub need not
// serve the kind, may do so later, and may refuse it.
type Hub struct {
	hub  hubMember
	vpas *mirror.Mirror[*vpa.VerticalPodAutoscaler, vpaRecord]
	// whole: all namespaces are watched as one.
	whole bool
}

// NewHub asks the hub by this client, for each list until the timeout, for what is in these namespaces. The caller runs it.
func NewHub(config *rest.Config, client *http.Client, timeout time.Duration, scope tenancy.Scope) (*Hub, error) {
	kinds := runtime.NewScheme()
	metav1.AddToGroupVersion(kinds, schema.GroupVersion{Version: "v1"}) // a refusal, and an event of a watch
	if err := vpa.AddToScheme(kinds); err != nil {
		return nil, fmt.Errorf("preparing to read VerticalPodAutoscalers of the hub: %w", err)
	}
	config = rest.CopyConfig(config)
	config.GroupVersion, config.APIPath = &vpa.SchemeGroupVersion, "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(kinds).WithoutConversion()
	brief := *client
	brief.Timeout = timeout
	h := &Hub{vpas: newVPAs(scope), hub: hubMember{reading: connection.NewReading()}, whole: scope.Everywhere()}
	for to, by := range map[*rest.Interface]*http.Client{&h.hub.lists: &brief, &h.hub.watches: client} {
		made, err := rest.RESTClientForConfigAndClient(config, by)
		if err != nil {
			return nil, fmt.Errorf("preparing to read VerticalPodAutoscalers of the hub: %w", err)
		}
		*to = made
	}
	return h, nil
}

// Run watches what is asked for, until ctx ends.
func (h *Hub) Run(ctx context.Context) error { return h.vpas.Run(ctx) }

// VPAs returns those of a namespace, from what is watched. That is all namespaces, where all are in scope: so a hub that does not
// serve the kind, or refuses it, is asked no more often the more namespaces there are.
func (h *Hub) VPAs(ctx context.Context, namespace string) VPAs {
	if !h.whole {
		return vpasOf(h.vpas.Ask(ctx, h.hub, namespace))
	}
	answer := h.vpas.Ask(ctx, h.hub, metav1.NamespaceAll)
	begin, _ := slices.BinarySearchFunc(answer.Objects, namespace, func(r vpaRecord, namespace string) int {
		return strings.Compare(r.Namespace, namespace)
	})
	answer.Objects = answer.Objects[begin:]
	if end := slices.IndexFunc(answer.Objects, func(r vpaRecord) bool { return r.Namespace != namespace }); end >= 0 {
		answer.Objects = answer.Objects[:end]
	}
	return vpasOf(answer)
}

// hubMember is the hub, as what is mirrored. It is never said to be silent: without it nobody asks.
type hubMember struct {
	lists, watches rest.Interface
	reading        *connection.Reading
}

var _ mirror.Member = hubMember{}

func (hubMember) Name() string                  { return "the hub" }
func (hubMember) State() member.State           { return member.State{Ready: true} }
func (hubMember) Silence() error                { return nil }
func (h hubMember) Client() rest.Interface      { return h.lists }
func (h hubMember) WatchClient() rest.Interface { return h.watches }

func (h hubMember) Reading() *connection.Reading { return h.reading }
