// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	"sigs.k8s.io/yaml"
)

// API is an aggregated API whose server listens on a port of localhost.
type API struct {
	// Group and Version are what is served, such as metrics.k8s.io and v1beta1.
	Group, Version string
	// Namespace and Service name the Service to make. The namespace must exist.
	// The server's certificate must hold SERVICE.NAMESPACE.svc.
	Namespace, Service string
	// Port is that of the server, on localhost.
	Port int
	// CABundle verifies the server's certificate, PEM.
	CABundle []byte
}

const apiTimeout = time.Minute

// RegisterAPI makes the cluster's API server pass the API on to its server,
// and returns when it says that it can. An API of that name is taken over.
//
// The Service is of type ExternalName, because endpoints may not be loopback
// addresses, and the APIService has the real port.
func (c *Cluster) RegisterAPI(ctx context.Context, api API) error {
	service, err := yaml.Marshal(api.service())
	if err != nil {
		return fmt.Errorf("encoding service %s: %w", api.Service, err)
	}
	apiService, err := yaml.Marshal(api.apiService())
	if err != nil {
		return fmt.Errorf("encoding APIService %s: %w", api.name(), err)
	}
	if err := c.apply(ctx, string(service), string(apiService)); err != nil {
		return err
	}
	return c.awaitAPI(ctx, api.name())
}

func (a API) name() string { return a.Version + "." + a.Group }

func (a API) service() map[string]any {
	return map[string]any{
		"apiVersion": "v1",
		"kind":       "Service",
		"metadata":   map[string]any{"name": a.Service, "namespace": a.Namespace},
		"spec":       map[string]any{"type": "ExternalName", "externalName": "localhost"},
	}
}

func (a API) apiService() map[string]any {
	return map[string]any{
		"apiVersion": apiregistrationv1.SchemeGroupVersion.String(),
		"kind":       "APIService",
		"metadata":   map[string]any{"name": a.name()},
		"spec": map[string]any{
			"group":                a.Group,
			"version":              a.Version,
			"groupPriorityMinimum": 100,
			"versionPriority":      100,
			"caBundle":             a.CABundle,
			"service":              map[string]any{"namespace": a.Namespace, "name": a.Service, "port": a.Port},
		},
	}
}

func (c *Cluster) awaitAPI(ctx context.Context, name string) error {
	config, err := c.RESTConfig()
	if err != nil {
		return err
	}
	client, err := aggregator.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", c.Name, err)
	}
	last := "no answer"
	err = wait.PollUntilContextTimeout(ctx, applyInterval, apiTimeout, true, func(ctx context.Context) (bool, error) {
		service, err := client.ApiregistrationV1().APIServices().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			last = err.Error()
			return false, nil
		}
		var available bool
		available, last = availability(service)
		return available, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for APIService %s in %s: %w: %s", name, c.Name, err, last)
	}
	return nil
}

func availability(service *apiregistrationv1.APIService) (available bool, why string) {
	for _, condition := range service.Status.Conditions {
		if condition.Type == apiregistrationv1.Available {
			return condition.Status == apiregistrationv1.ConditionTrue, condition.Message
		}
	}
	return false, "it has no condition Available yet"
}
