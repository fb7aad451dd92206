// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
)

var karmadaVersion = schema.GroupVersion{Group: "cluster.karmada.io", Version: "v1alpha1"}

// throughHubAnnotation on a Cluster, "true", has the hub pass on what the cluster is asked, as the program that asks. Who is let in there
// then depends on the identity that the program has on the hub.
const throughHubAnnotation = "fleetscale.io/through-hub"

// karmada are the Clusters of a Karmada control plane.
type karmada struct{ options Options }

func (k karmada) Name() string { return "karmada" }

func (k karmada) Watch() Watch {
	return Watch{What: "Karmada's Clusters", Resource: karmadaVersion.WithResource("clusters")}
}

func (k karmada) Read(u *unstructured.Unstructured) Object {
	c := &karmadaCluster{policy: k.options.Policy, hub: k.options.Hub}
	c.unreadable = decode(u, c, reasonInvalidCluster)
	return c
}

// karmadaCluster is what is read of a Karmada Cluster, and nothing else of it.
type karmadaCluster struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec karmadaSpec `json:"spec"`

	policy     Policy
	hub        Endpoint
	unreadable []Fault
}

type karmadaSpec struct {
	SyncMode                    string            `json:"syncMode"`
	APIEndpoint                 string            `json:"apiEndpoint"`
	SecretRef                   karmadaSecretRef  `json:"secretRef"`
	ImpersonatorSecretRef       karmadaSecretRef  `json:"impersonatorSecretRef"`
	InsecureSkipTLSVerification bool              `json:"insecureSkipTLSVerification"`
	ProxyURL                    string            `json:"proxyURL"`
	ProxyHeader                 map[string]string `json:"proxyHeader"`
	Provider                    string            `json:"provider"`
	Region                      string            `json:"region"`
	Zone                        string            `json:"zone"` // deprecated in favour of zones
	Zones                       []string          `json:"zones"`
	Taints                      []corev1.Taint    `json:"taints"`
}

type karmadaSecretRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// unreported is true of a cluster in mode Pull, whose agent asks Karmada, unless the agent has reported how to reach it, which it does
// by default.
func (s karmadaSpec) unreported() bool {
	return s.SyncMode == "Pull" && (s.APIEndpoint == "" || !s.SecretRef.valid())
}

// proxied is true when Karmada itself can reach the cluster as whoever asks it to.
func (s karmadaSpec) proxied() bool { return s.APIEndpoint != "" && s.ImpersonatorSecretRef.valid() }

// throughHub is true of a cluster that is asked through the hub: since its annotation has it so, or since there is no other way.
func (c *karmadaCluster) throughHub() bool {
	return c.hub.Config != nil && (c.Annotations[throughHubAnnotation] == "true" || c.Spec.unreported() && c.Spec.proxied())
}

// valid is true when there may be a Secret of that name.
func (r karmadaSecretRef) valid() bool {
	return len(validation.IsDNS1123Label(r.Namespace)) == 0 && len(validation.IsDNS1123Subdomain(r.Name)) == 0
}

func (c *karmadaCluster) Credentials() Reference {
	if ref := c.Spec.SecretRef; ref.valid() && !c.Spec.unreported() && !c.throughHub() {
		return Reference{Namespace: ref.Namespace, Name: ref.Name, By: "spec.secretRef names", Keys: [2]string{"token", "caBundle"}}
	}
	return Reference{}
}

func (c *karmadaCluster) Register(creds Credentials) Registration {
	r := registrationOf(karmadaVersion.WithKind("Cluster"), &c.ObjectMeta, reasonInvalidCluster)
	r.Topology = c.Spec.topology(r.Topology)
	own, ignored := countedTaints(c.Spec.Taints)
	r.Taints, r.Warnings = append(r.Taints, own...), append(r.Warnings, ignored...)
	r.Faults = slices.Concat(c.unreadable, checkName(r.Name, "join the cluster under another name"), r.Faults, c.faults())
	switch {
	case r.Refused():
	case c.throughHub():
		r.Endpoint = c.hub.below(karmadaVersion.Group, karmadaVersion.Version, "clusters", c.Name, "proxy")
	case creds.Awaiting != "":
		r.Awaiting = creds.Awaiting
	case creds.Data == nil:
		r.Faults = []Fault{faultf(ReasonMissingCredentials, "%s does not exist", c.Credentials())}
	default:
		r.Endpoint, r.Faults = c.Spec.endpoint(creds.Data)
	}
	return r
}

// topology returns what the spec says of the place, and else what any registration may.
func (s karmadaSpec) topology(t Topology) Topology {
	t.Provider = cmp.Or(s.Provider, t.Provider)
	t.Region = cmp.Or(s.Region, t.Region)
	if s.Zone != "" {
		t.Zones = []string{s.Zone}
	}
	if len(s.Zones) > 0 {
		t.Zones = s.Zones
	}
	return t
}

// faults returns those that need no credentials to be seen.
func (c *karmadaCluster) faults() []Fault {
	s := c.Spec
	through := c.throughHub()
	switch {
	case through && !s.proxied():
		return []Fault{faultf(reasonInvalidCluster,
			"the annotation %s needs spec.apiEndpoint and spec.impersonatorSecretRef, by which Karmada reaches the cluster: "+
				"join it again, with an agent that reports KubeImpersonator; or take the annotation away", throughHubAnnotation)}
	case !through && s.unreported():
		return []Fault{faultf(reasonPullMode,
			"the Cluster's syncMode is Pull, and its agent reports no apiEndpoint with a secretRef; "+
				"if Karmada or the hub can reach its API server, run karmada-agent with "+
				"--report-secrets=KubeCredentials,KubeImpersonator, or register the cluster with a Secret labelled %s=true as well",
			MemberLabel)}
	}
	var faults []Fault
	server, ok := parseServer(s.APIEndpoint)
	if !ok {
		faults = append(faults, faultf(reasonInvalidCluster, "spec.apiEndpoint must be the address of an API server"))
	}
	if _, ok := parseProxy(s.ProxyURL); !ok {
		faults = append(faults, faultf(reasonInvalidCluster, "spec.proxyURL must be an http, https or socks5 URL"))
	}
	if !through && !s.SecretRef.valid() {
		faults = append(faults, faultf(ReasonMissingCredentials, "spec.secretRef names no Secret"))
	}
	if !c.policy.AllowInsecure && (s.InsecureSkipTLSVerification || ok && server.Scheme == "http") {
		faults = append(faults, faultf(reasonInsecureNotAllowed,
			"the API server's certificate would not be verified (spec.insecureSkipTLSVerification, or an http address); give its certificate "+
				"authority as caBundle, or allow it with --allow-insecure-member-tls"))
	}
	return faults
}

// endpoint joins a spec without faults and the data of its Secret.
func (s karmadaSpec) endpoint(data map[string][]byte) (Endpoint, []Fault) {
	name := s.SecretRef.Namespace + "/" + s.SecretRef.Name
	server, _ := parseServer(s.APIEndpoint)
	proxy, _ := parseProxy(s.ProxyURL)
	config := &rest.Config{
		Host:            server.String(),
		BearerToken:     strings.TrimSpace(string(data["token"])),
		TLSClientConfig: rest.TLSClientConfig{CAData: data["caBundle"]},
	}
	var faults []Fault
	if config.BearerToken == "" {
		faults = append(faults, faultf(ReasonMissingCredentials, "Secret %s has no key token", name))
	}
	if s.InsecureSkipTLSVerification {
		setInsecure(config)
	} else if len(config.CAData) == 0 {
		faults = append(faults, faultf(ReasonMissingCredentials, "Secret %s has no key caBundle", name))
	}
	for _, text := range certificateFaults(config.TLSClientConfig) {
		faults = append(faults, faultf(ReasonMissingCredentials, "Secret %s: %s", name, text))
	}
	if len(faults) > 0 {
		return Endpoint{}, faults
	}
	return Endpoint{Config: config, Proxy: proxy, ProxyHeader: s.proxyHeader()}, nil
}

// proxyHeader splits Karmada's comma-separated values.
func (s karmadaSpec) proxyHeader() map[string][]string {
	header := make(map[string][]string, len(s.ProxyHeader))
	for name, list := range s.ProxyHeader {
		for value := range strings.SplitSeq(list, ",") {
			header[name] = append(header[name], strings.TrimSpace(value))
		}
	}
	return header
}
