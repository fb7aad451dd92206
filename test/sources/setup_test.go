// SPDX-License-Identifier: Apache-2.0

// Package sources_test holds each source of registrations to what it promises, with a hub and a member that are real clusters: as the
// account that deploy/ makes for a program, with the rights that deploy/ grants it, a cluster that another project registers becomes a
// member, counts once, and is kept when its credentials change.
package sources_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"

	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// lifetime of tokens outlasts any test.
	lifetime = 24 * time.Hour
	// memberName is that of the only member.
	memberName = "east"
	// shop is a namespace of the member.
	shop = "shop"
)

// env is what all tests share: a hub that knows of all sources, and a member that nobody has registered.
type env struct {
	*fixture.Fleet
	member *lab.Cluster
	client kubernetes.Interface // of the member
}

// shared is one env for all tests.
var shared = fixture.Shared[*env]{Name: "sources", Start: setUp}

func TestMain(m *testing.M) {
	shared.Main(m)
}

func setUp(ctx context.Context, dir string) (*env, error) {
	e := &env{}
	return e, fixture.Raise(ctx, dir, lab.Options{
		Members: []lab.Member{{Name: memberName, Nodes: 1, WithoutMetricsServer: true, WithoutTestAdapter: true}},
	}, nil, e.raise)
}

func (e *env) raise(ctx context.Context, f *fixture.Fleet, _ map[string]string) (err error) {
	e.Fleet = f
	if e.member, err = e.Cluster(memberName); err != nil {
		return err
	}
	if e.client, err = e.member.Client(); err != nil {
		return err
	}
	if err := e.CreateNamespace(ctx, e.member, shop); err != nil {
		return err
	}
	return errors.Join(e.InstallHub(ctx, e.Hub()), e.InstallControllers(ctx, e.Hub()))
}

// afterwards is a context for what is put right when a test has ended.
func afterwards(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// feed applies manifests to the hub.
func (e *env) feed(t *testing.T, manifests string) {
	t.Helper()
	if _, err := e.Feed(t.Context(), manifests, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

// ask runs kubectl, for the hub unless the arguments name another context.
func (e *env) ask(t *testing.T, args ...string) {
	t.Helper()
	if _, err := e.Ask(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
}

// account makes an account in the member that may do everything, as projects have that manage clusters, and returns a token of it.
func (e *env) account(t *testing.T, name string) (token string) {
	t.Helper()
	e.ask(t, "--context", memberName, "-n", "kube-system", "create", "serviceaccount", name)
	e.ask(t, "--context", memberName, "create", "clusterrolebinding", name, "--clusterrole=cluster-admin",
		"--serviceaccount=kube-system:"+name)
	t.Cleanup(func() { e.revoke(afterwards(t), t, name) })
	token, err := e.member.ServiceAccountToken(t.Context(), "kube-system", name, lifetime)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// revoke takes the account away, and with it its tokens.
func (e *env) revoke(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	_, err := e.Ask(ctx, "--context", memberName, "-n", "kube-system", "delete", "--ignore-not-found", "serviceaccount/"+name)
	_, bindingErr := e.Ask(ctx, "--context", memberName, "delete", "--ignore-not-found", "clusterrolebinding/"+name)
	if err := errors.Join(err, bindingErr); err != nil {
		t.Error(err)
	}
}

// runs creates a Pod in the member.
func (e *env) runs(t *testing.T, name string) {
	t.Helper()
	_, err := e.client.CoreV1().Pods(shop).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.client.CoreV1().Pods(shop).Delete(afterwards(t), name, *metav1.NewDeleteOptions(0)); err != nil {
			t.Error(err)
		}
	})
}

// program is what a program of ours knows of the members.
type program struct {
	*member.Registry

	pods    *pods.Store
	metrics *prometheus.Registry
	hub     *rest.Config // as its account
}

// start has a program know the members, by its flags, as its account.
func (e *env) start(t *testing.T, account string, access registration.Access, args ...string) *program {
	t.Helper()
	options := command.NewMemberOptions()
	flags := pflag.NewFlagSet(account, pflag.ContinueOnError)
	options.AddFlags(flags)
	args = append(args, "--allow-local-members", "--member-probe-period=1s")
	if err := errors.Join(flags.Parse(args), options.Validate()); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := e.Hub().AccountKubeconfig(t.Context(), fixture.SystemNamespace, account, lifetime)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	hub := kubernetes.NewForConfigOrDie(config)
	events := record.NewBroadcaster(record.WithContext(t.Context()))
	t.Cleanup(events.Shutdown)
	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: hub.CoreV1().Events("")})
	p := &program{pods: pods.New(pods.Options{}), metrics: prometheus.NewRegistry(), hub: config}
	p.Registry = member.New(options.Registry(member.Options{
		Hub: hub, HubDynamic: dynamic.NewForConfigOrDie(config),
		Registrations:   registration.Options{Access: access, WriteNamespace: fixture.RegistrationNamespace},
		DiscoveryPeriod: time.Second, Metrics: member.NewMetrics(p.metrics),
		Recorder: events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: account}),
	}))
	memberstest.Run(memberstest.Logged(t), t, p.Run)
	memberstest.Run(memberstest.Logged(t), t, p.pods.Run)
	return p
}

// registered waits until these registrations, and no others, have these reasons: "secret.east=Ready".
func (p *program) registered(t *testing.T, want ...string) {
	t.Helper()
	slices.Sort(want)
	memberstest.Eventually(t, strings.Join(want, " "), func() string { return p.registrations(t) })
}

func (p *program) registrations(t *testing.T) string {
	t.Helper()
	families, err := p.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, family := range families {
		if family.GetName() != "fleetscale_cluster_registration_info" {
			continue
		}
		for _, one := range family.GetMetric() {
			said := map[string]string{}
			for _, label := range one.GetLabel() {
				said[label.GetName()] = label.GetValue()
			}
			all = append(all, said["registration"]+"="+said["reason"])
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// only returns the one member there is.
func (p *program) only(t *testing.T) *member.Member {
	t.Helper()
	all := p.Members()
	if len(all) != 1 || all[0].Name() != memberName {
		t.Fatalf("the members are %v, want only %s", all, memberName)
	}
	return all[0]
}

// runs returns the member's Pods as they are known without asking anybody, or waiting.
func (p *program) runs(t *testing.T, m *member.Member) string {
	t.Helper()
	l := p.pods.Ask(t.Context(), m, shop, labels.Everything())
	if !l.Known {
		return "unknown"
	}
	var names []string
	for _, pod := range l.Pods {
		names = append(names, pod.Name)
	}
	return strings.Join(names, " ")
}
