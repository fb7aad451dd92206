// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/union"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/metrics/legacyregistry"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"k8s.io/metrics/pkg/apis/external_metrics"
	apimetrics "sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver/metrics"

	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/grants"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberview"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
	"github.com/fleetscale/fleetscale/pkg/members/relay"
	"github.com/fleetscale/fleetscale/pkg/members/usage"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/apiguard"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/historyapi"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/memberapi"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

const program = "fleetscale-metrics-adapter"

// hub holds the clients of the hub.
type hub struct {
	config     *rest.Config
	core       kubernetes.Interface
	dynamic    dynamic.Interface
	aggregator aggregator.Interface
}

// run wires the parts and serves until ctx ends.
func run(ctx context.Context, o *Options) error {
	h, err := newHub(o.Hub.Kubeconfig)
	if err != nil {
		return fmt.Errorf("preparing to reach the hub: %w", err)
	}
	told := NewMetrics(legacyregistry.Registerer())
	events, recorder := newRecorder()
	defer events.Shutdown()

	registry, err := newRegistry(o, h, recorder, told.members)
	if err != nil {
		return err
	}
	kept := memory.New(o.Usage.MaxKeptBytes.Value(), told.kept)
	store, asked := newStore(o, registry, kept, told.usage), newRelay(o, registry, kept, told.relay)
	keeper := newKeeper(o, h, told.certificate)
	if keeper != nil {
		o.Serving.Secure.ServerCert.GeneratedCert = served{keeper}
	}
	published := &memberview.Seen{}
	members := newMembers(registry, store, published)
	server, err := newServer(o, registry, store, asked, members, newHistory(o, h.core, published.Records))
	if err != nil {
		return err
	}
	if keeper != nil {
		if err := server.AddReadyzChecks(healthz.NamedCheck("certificate", func(*http.Request) error { return keeper.Ready() })); err != nil {
			return fmt.Errorf("adding the readiness checks: %w", err)
		}
	}
	guard := apiguard.NewGuard(apiguard.GuardOptions{
		Client:   h.aggregator,
		APIs:     o.Hub.APIs,
		Service:  types.NamespacedName{Namespace: o.Hub.ServiceNamespace, Name: o.Hub.ServiceName},
		Period:   o.Hub.APIServiceCheckPeriod,
		Metrics:  told.apiservices,
		Recorder: recorder,
	})

	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: h.core.CoreV1().Events("")})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return registry.Run(ctx) })
	group.Go(func() error { store.Run(ctx); return nil })
	group.Go(func() error { asked.Run(ctx); return nil })
	group.Go(func() error { guard.Run(ctx); return nil })
	group.Go(func() error { members.Run(ctx); return nil })
	group.Go(func() error {
		published.Follow(ctx, h.dynamic, o.Members.IdentitiesNamespace, members.Changed)
		return nil
	})
	if keeper != nil {
		group.Go(func() error { keeper.Run(ctx); return nil })
	}
	group.Go(func() error { return server.PrepareRun().RunWithContext(ctx) })
	return group.Wait()
}

func newHub(kubeconfig string) (*hub, error) {
	config, err := command.HubConfig(kubeconfig, program)
	if err != nil {
		return nil, err
	}
	h := &hub{config: config}
	if h.core, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if h.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	h.aggregator, err = aggregator.NewForConfig(config)
	return h, err
}

func newRecorder() (record.EventBroadcaster, record.EventRecorder) {
	events := record.NewBroadcaster()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(known); err != nil {
			panic(err) // the libraries' types do not fit each other
		}
	}
	return events, events.NewRecorder(known, corev1.EventSource{Component: program})
}

func newRegistry(o *Options, h *hub, recorder record.EventRecorder, metrics *member.Metrics) (*member.Registry, error) {
	var metricsServer *rest.Config
	if o.Hub.MetricsServer != "" {
		var err error
		if metricsServer, err = o.Hub.metricsServerConfig(); err != nil {
			return nil, err
		}
	}
	way, err := command.HubEndpoint(h.config)
	if err != nil {
		return nil, fmt.Errorf("preparing to reach members through the hub: %w", err)
	}
	needs, err := grants.NeededByAdapter(o.Namespaces.Scope().Names())
	if err != nil {
		return nil, err
	}
	return member.New(o.Members.Registry(member.Options{
		Hub:              h.core,
		HubDynamic:       h.dynamic,
		HubMetricsServer: metricsServer,
		Inspect:          true,
		Needs:            needs,
		Registrations:    registration.Options{Access: registration.Read, Hub: way},
		Connections:      connection.Options{UserAgent: h.config.UserAgent},
		Recorder:         recorder,
		Metrics:          metrics,
	})), nil
}

// metricsServerConfig returns how the hub's own metrics-server is reached, past the hub's API server.
func (o *HubOptions) metricsServerConfig() (*rest.Config, error) {
	if _, err := os.Stat(o.MetricsServerTokenFile); err != nil {
		return nil, fmt.Errorf("--hub-metrics-server-token-file: %w", err)
	}
	config := &rest.Config{Host: o.MetricsServer, BearerTokenFile: o.MetricsServerTokenFile}
	if o.MetricsServerCAFile == "" {
		return config, nil
	}
	data, err := os.ReadFile(o.MetricsServerCAFile)
	if err != nil {
		return nil, fmt.Errorf("--hub-metrics-server-ca-file: %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(data) {
		return nil, errors.New("--hub-metrics-server-ca-file: the certificate authority holds no PEM certificate")
	}
	config.CAData = data
	return config, nil
}

// counted tells the members that count, as they are asked.
func counted[S any](registry *member.Registry, as func(*member.Member) S) func() []S {
	return func() (all []S) {
		for _, m := range registry.Counted() {
			all = append(all, as(m))
		}
		return all
	}
}

func newStore(o *Options, registry *member.Registry, kept *memory.Memory, metrics *usage.Metrics) *usage.Store {
	store := usage.New(usage.Options{
		Members:   counted(registry, func(m *member.Member) usage.Source { return m }),
		Period:    o.Usage.ScrapePeriod,
		MaxAge:    o.Usage.MaxAge,
		IdleAfter: o.Usage.IdleAfter,
		Timeout:   o.Members.Timeout,
		MaxHot:    o.Usage.MaxHotNamespaces,
		Scope:     o.Namespaces.Scope(),
		Memory:    kept,
		Metrics:   metrics,
	})
	registry.OnChange(store.MembersChanged)
	return store
}

func newRelay(o *Options, registry *member.Registry, kept *memory.Memory, metrics *relay.Metrics) *relay.Relay {
	r := relay.New(relay.Options{
		Members:         counted(registry, func(m *member.Member) relay.Source { return m }),
		Timeout:         o.Members.Timeout,
		KeepFor:         o.Relay.AnswerTTL,
		IdleAfter:       max(o.Usage.IdleAfter, 2*o.Relay.Grace), // who is silent for long must not be forgotten sooner
		DiscoveryPeriod: o.Relay.DiscoveryPeriod,
		Memory:          kept,
		Custom:          slices.Contains(o.Hub.APIs, custom_metrics.GroupName),
		External:        slices.Contains(o.Hub.APIs, external_metrics.GroupName),
		Metrics:         metrics,
	})
	registry.OnChange(r.MembersChanged)
	return r
}

func newServer(o *Options, registry *member.Registry, store *usage.Store, asked *relay.Relay, members *memberapi.Store,
	history *historyapi.History) (*genericapiserver.GenericAPIServer, error) {
	config := metricsadapter.NewConfig()
	if err := o.Serving.applyTo(config, o.Hub.Kubeconfig); err != nil {
		return nil, err
	}
	if err := apimetrics.RegisterMetrics(legacyregistry.Register); err != nil {
		return nil, fmt.Errorf("registering the freshness histogram: %w", err)
	}
	adapter := metricsadapter.New(metricsadapter.Options{
		APIs:           o.Hub.APIs,
		Usage:          store,
		Relay:          asked,
		Members:        members,
		History:        history,
		MemberGrace:    o.Relay.Grace,
		Clusters:       func() ([]string, string) { return clusters(registry) },
		Drained:        func(name string) bool { return drained(registry, name) },
		Scope:          o.Namespaces.Scope(),
		LocalUsers:     o.Hub.LocalUsers,
		MaxAnswerBytes: o.Usage.MaxAnswerBytes.Value(),
	})
	server, err := adapter.NewServer(config)
	if err != nil {
		return nil, err
	}
	contacted := healthz.NamedCheck("members-contacted", func(*http.Request) error { return registry.Settled() })
	authorities := healthz.NamedCheck("client-authorities-known",
		func(*http.Request) error { return authoritiesKnown(config.SecureServing.ClientCA) })
	if err := server.AddReadyzChecks(contacted, authorities); err != nil {
		return nil, fmt.Errorf("adding the readiness checks: %w", err)
	}
	return server, nil
}

// authoritiesKnown is nil once the authorities of client certificates are known.
// The library reads them from the hub while it serves already, and until then
// treats the hub's API server as anonymous.
func authoritiesKnown(clientCA dynamiccertificates.CAContentProvider) error {
	if clientCA != nil && len(clientCA.CurrentCABundleContent()) == 0 {
		return errors.New("waiting for the hub's authorities of client certificates (ConfigMap " +
			"kube-system/extension-apiserver-authentication)")
	}
	return nil
}

// clusters are the names of the members that count, and which of them is the hub.
func clusters(registry *member.Registry) (names []string, hub string) {
	members := registry.Counted()
	names = make([]string, 0, len(members))
	for _, m := range members {
		names = append(names, m.Name())
		if m.IsHub() {
			hub = m.Name()
		}
	}
	return names, hub
}

// drained is true for a registered cluster whose registration drains it.
func drained(registry *member.Registry, name string) bool {
	return slices.ContainsFunc(registry.Members(), func(m *member.Member) bool {
		return m.Name() == name && m.Standing() == taints.Drained
	})
}

// applyTo sets where the server listens and whom it trusts. The hub
// authenticates and authorizes clients.
func (o *ServingOptions) applyTo(c *genericapiserver.Config, kubeconfig string) error {
	if err := o.Secure.ApplyTo(&c.SecureServing, &c.LoopbackClientConfig); err != nil {
		return fmt.Errorf("preparing to serve: %w", err)
	}
	if o.Authentication.RemoteKubeConfigFile == "" {
		o.Authentication.RemoteKubeConfigFile = kubeconfig
	}
	if o.Authorization.RemoteKubeConfigFile == "" {
		o.Authorization.RemoteKubeConfigFile = kubeconfig
	}
	o.Authentication.WithCustomRoundTripper(command.WithUserAgent(program))
	o.Authorization.WithCustomRoundTripper(command.WithUserAgent(program))
	if err := o.Authentication.ApplyTo(&c.Authentication, c.SecureServing, c.OpenAPIConfig); err != nil {
		return fmt.Errorf("preparing to authenticate clients by the hub: %w", err)
	}
	if proxies := c.Authentication.RequestHeaderConfig; proxies != nil {
		c.Authentication.Authenticator = union.New(group.NewAuthenticatedGroupAdder(newFrontProxies(proxies)), c.Authentication.Authenticator)
	}
	if err := o.Authorization.ApplyTo(&c.Authorization); err != nil {
		return fmt.Errorf("preparing to authorize clients by the hub: %w", err)
	}
	c.Authorization.Authorizer = wholeFirst(c.Authorization.Authorizer)
	if err := o.Audit.ApplyTo(c); err != nil {
		return fmt.Errorf("preparing the audit log: %w", err)
	}
	return nil
}
