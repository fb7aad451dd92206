// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

var karmadaClusters = schema.GroupVersionResource{Group: "cluster.karmada.io", Version: "v1alpha1", Resource: "clusters"}

// karmadaCluster is what we read of a Karmada Cluster, and nothing else of it.
type karmadaCluster struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec karmadaSpec `json:"spec"`
}

type karmadaSpec struct {
	// ID is the uid of the cluster's namespace kube-system, as Karmada saw it.
	ID                          string            `json:"id"`
	SyncMode                    string            `json:"syncMode"`
	APIEndpoint                 string            `json:"apiEndpoint"`
	SecretRef                   *karmadaSecretRef `json:"secretRef"`
	InsecureSkipTLSVerification bool              `json:"insecureSkipTLSVerification"`
	ProxyURL                    string            `json:"proxyURL"`
	ProxyHeader                 map[string]string `json:"proxyHeader"`
	Provider                    string            `json:"provider"`
	Region                      string            `json:"region"`
	Zone                        string            `json:"zone"` // deprecated in favour of zones
	Zones                       []string          `json:"zones"`
}

type karmadaSecretRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// credentials are what is known of the Secret that a Cluster refers to.
type credentials struct {
	secret *corev1.Secret // nil: it does not exist, or awaiting says more
	// awaiting, unless empty, says why nothing is known yet.
	awaiting string
}

// parseCluster reads a Karmada Cluster with its credentials.
func parseCluster(c *karmadaCluster, creds credentials, policy Policy) registration {
	topology, misplaced := karmadaTopology(c)
	r := registration{
		key: key{fromKarmada, c.Name},
		ref: corev1.ObjectReference{
			APIVersion: karmadaClusters.GroupVersion().String(), Kind: "Cluster", Name: c.Name, UID: c.UID,
		},
		name:       c.Name,
		labels:     c.Labels,
		topology:   topology,
		declaredID: types.UID(c.Spec.ID),
	}
	r.faults = slices.Concat(
		checkName(r.name, "join the cluster under another name"),
		misplaced,
		karmadaSpecFaults(c.Spec, policy),
	)
	switch {
	case r.refused():
	case creds.awaiting != "":
		r.awaiting = creds.awaiting
	default:
		r.endpoint, r.faults = karmadaEndpoint(c.Spec, creds.secret)
	}
	return r
}

// karmadaTopology is what the Cluster's spec says, and where that says nothing what any registration may.
func karmadaTopology(c *karmadaCluster) (Topology, []fault) {
	t, faults := topologyOf(&c.ObjectMeta)
	t.Provider = cmp.Or(c.Spec.Provider, t.Provider)
	t.Region = cmp.Or(c.Spec.Region, t.Region)
	if c.Spec.Zone != "" {
		t.Zones = []string{c.Spec.Zone}
	}
	if len(c.Spec.Zones) > 0 {
		t.Zones = c.Spec.Zones
	}
	return t, faults
}

// karmadaSpecFaults are those that need no credentials to be seen.
func karmadaSpecFaults(spec karmadaSpec, policy Policy) []fault {
	if spec.SyncMode == "Pull" {
		return []fault{faultf(ReasonPullMode,
			"the Cluster's syncMode is Pull: the hub is given no way to its API server; if there is one, register the cluster with a Secret labelled %s=true as well", MemberLabel)}
	}
	var faults []fault
	server, ok := parseServer(spec.APIEndpoint)
	if !ok {
		faults = append(faults, faultf(ReasonInvalidCluster, "spec.apiEndpoint must be the address of an API server"))
	}
	if _, ok := parseProxy(spec.ProxyURL); !ok {
		faults = append(faults, faultf(ReasonInvalidCluster, "spec.proxyURL must be an http, https or socks5 URL"))
	}
	if spec.SecretRef == nil || spec.SecretRef.Name == "" || spec.SecretRef.Namespace == "" {
		faults = append(faults, faultf(ReasonMissingCredentials, "spec.secretRef names no Secret"))
	}
	if !policy.AllowInsecure && (spec.InsecureSkipTLSVerification || ok && server.Scheme == "http") {
		faults = append(faults, faultf(ReasonInsecureNotAllowed,
			"the API server's certificate would not be verified (spec.insecureSkipTLSVerification, or an http address); give its certificate authority as caBundle, or allow it with --allow-insecure-member-tls"))
	}
	return faults
}

// karmadaEndpoint joins a spec without faults and its credentials.
func karmadaEndpoint(spec karmadaSpec, secret *corev1.Secret) (endpoint, []fault) {
	name := spec.SecretRef.Namespace + "/" + spec.SecretRef.Name
	if secret == nil {
		return endpoint{}, []fault{faultf(ReasonMissingCredentials, "Secret %s, which spec.secretRef names, does not exist", name)}
	}
	server, _ := parseServer(spec.APIEndpoint)
	proxy, _ := parseProxy(spec.ProxyURL)
	config := &rest.Config{
		Host:            server.String(),
		BearerToken:     strings.TrimSpace(string(secret.Data["token"])),
		TLSClientConfig: rest.TLSClientConfig{CAData: secret.Data["caBundle"]},
	}
	var faults []fault
	if config.BearerToken == "" {
		faults = append(faults, faultf(ReasonMissingCredentials, "Secret %s has no key token", name))
	}
	if spec.InsecureSkipTLSVerification {
		setInsecure(config)
	} else if len(config.CAData) == 0 {
		faults = append(faults, faultf(ReasonMissingCredentials, "Secret %s has no key caBundle", name))
	}
	for _, text := range certificateFaults(config.TLSClientConfig) {
		faults = append(faults, faultf(ReasonMissingCredentials, "Secret %s: %s", name, text))
	}
	if len(faults) > 0 {
		return endpoint{}, faults
	}
	return endpoint{config: config, proxy: proxy, proxyHeader: proxyHeaders(spec.ProxyHeader)}, nil
}

// proxyHeaders splits Karmada's comma-separated values.
func proxyHeaders(values map[string]string) http.Header {
	if len(values) == 0 {
		return nil
	}
	header := http.Header{}
	for name, list := range values {
		for value := range strings.SplitSeq(list, ",") {
			header.Add(name, strings.TrimSpace(value))
		}
	}
	return header
}
