// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"context"
	"errors"
	"fmt"
	"sync"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	externalv1beta1 "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsscheme "k8s.io/metrics/pkg/client/clientset/versioned/scheme"
	"k8s.io/metrics/pkg/client/custom_metrics"
	customscheme "k8s.io/metrics/pkg/client/custom_metrics/scheme"

	"github.com/fleetscale/fleetscale/pkg/guard"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Client asks the hub's metrics APIs. Many goroutines may use it at once.
type Client struct {
	usage    rest.Interface
	custom   map[schema.GroupVersion]rest.Interface
	external rest.Interface
	mapper   meta.RESTMapper
	convert  *custom_metrics.MetricConverter
	values   *guard.Scheme // what convert reads
	version  *version
	metrics  *Metrics
}

// guards are of the kinds that answers are made of. To learn them takes as long as to ask for many metrics, so that it is done once.
var guards = sync.OnceValue(func() map[*runtime.Scheme]*guard.Scheme {
	all := map[*runtime.Scheme]*guard.Scheme{}
	for _, scheme := range []*runtime.Scheme{metricsscheme.Scheme, kubescheme.Scheme, customscheme.Scheme} {
		all[scheme] = guard.SchemeOf(scheme)
	}
	return all
})

// New returns a client for the hub that config means. The config's rate limits
// hold for each API, and its content types are not used. Mapper knows the hub's
// kinds; it is asked for those of Object metrics, and may not block for long.
func New(config *rest.Config, mapper meta.RESTMapper, metrics *Metrics) (*Client, error) {
	config = rest.CopyConfig(config)
	config.APIPath = "/apis"
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, accept
	config.WarningHandlerWithContext = rest.NoWarnings{} // answers that lack a part are warned of; their coverage says which, and it is read
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	config.Wrap(listen)
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the hub's metrics APIs: %w", err)
	}
	var faults []error
	client := func(version schema.GroupVersion, scheme *runtime.Scheme, codecs serializer.CodecFactory) rest.Interface {
		c := rest.CopyConfig(config)
		c.GroupVersion, c.NegotiatedSerializer = &version, guards()[scheme].Serializer(codecs.WithoutConversion())
		made, err := rest.RESTClientForConfigAndClient(c, httpClient)
		faults = append(faults, err)
		return made
	}
	c := &Client{
		usage:    client(metricsv1beta1.SchemeGroupVersion, metricsscheme.Scheme, metricsscheme.Codecs),
		custom:   map[schema.GroupVersion]rest.Interface{},
		external: client(externalv1beta1.SchemeGroupVersion, kubescheme.Scheme, kubescheme.Codecs),
		mapper:   mapper,
		convert:  custom_metrics.NewMetricConverter(),
		values:   guards()[customscheme.Scheme],
		metrics:  metrics,
	}
	for _, version := range customVersions {
		c.custom[version] = client(version, customscheme.Scheme, customscheme.Codecs)
	}
	c.version = newVersion(c.discover)
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("making clients of the hub's metrics APIs: %w", err)
	}
	return c, nil
}

// Ask asks for a metric. It returns when there is an answer, or that there is none, or ctx ends.
//
// What is answered takes memory in proportion; an answer of more than 128 MiB,
// some 200 000 Pods, is an error.
func (c *Client) Ask(ctx context.Context, q Question) replicas.Metric {
	switch m := &q.Metric; {
	case m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil:
		return c.askUsage(ctx, &q, m.Resource.Name, "")
	case m.Type == autoscalingv2.ContainerResourceMetricSourceType && m.ContainerResource != nil:
		return c.askUsage(ctx, &q, m.ContainerResource.Name, m.ContainerResource.Container)
	case m.Type == autoscalingv2.PodsMetricSourceType && m.Pods != nil:
		return c.askPods(ctx, &q, m.Pods)
	case m.Type == autoscalingv2.ObjectMetricSourceType && m.Object != nil:
		return c.askObject(ctx, &q, m.Object)
	case m.Type == autoscalingv2.ExternalMetricSourceType && m.External != nil:
		return c.askExternal(ctx, &q, m.External)
	default:
		return replicas.Metric{Err: fmt.Errorf("unknown metric source type %q", m.Type)}
	}
}
