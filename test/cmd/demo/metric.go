// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	rate     = "requests_per_second"
	ratePath = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/" + shop + "/services/web/" + rate
)

// sum shows a custom metric of both clusters: what each says, and what the hub
// makes of it.
func (s *stage) sum(ctx context.Context) error {
	s.title("A custom metric of both clusters")
	s.say("Each cluster counts the requests of its Service web, and tells them through an adapter of its own.")
	for cluster, value := range map[string]string{east: "120", west: "340"} {
		member, err := s.fleet.Cluster(cluster)
		if err != nil {
			return err
		}
		figure := lab.Figure{Namespace: shop, Resource: "services", Object: "web", Metric: rate, Value: resource.MustParse(value)}
		if err := member.SetFigure(ctx, figure); err != nil {
			return err
		}
	}
	var parts resource.Quantity
	for _, cluster := range []string{east, west} {
		part, err := s.showValue(ctx, "--context", cluster, "get", "--raw", ratePath)
		if err != nil {
			return err
		}
		parts.Add(part)
	}
	s.say("\nAsked of the hub, it is the sum. An autoscaler there decides by the requests of both:")
	whole, err := s.showValue(ctx, "get", "--raw", ratePath)
	if err != nil {
		return err
	}
	if whole.Cmp(parts) != 0 {
		return fmt.Errorf("the hub says %s, and its members %s together", &whole, &parts)
	}
	s.say("\nWho asks may choose: sum, avg, max, min, or some of the clusters.")
	largest, err := s.showValue(ctx, "get", "--raw", ratePath+"?metricLabelSelector=fleetscale.io/merge%3Dmax")
	if err != nil {
		return err
	}
	if largest.String() != "340" {
		return fmt.Errorf("the larger of the two is 340; the hub says %s", &largest)
	}
	return nil
}

// showValue asks for a metric of one object until it is told, and shows its value.
func (s *stage) showValue(ctx context.Context, args ...string) (value resource.Quantity, err error) {
	s.command(args...)
	err = s.await(ctx, "asking until there is an answer", func(ctx context.Context) error {
		said, err := s.fleet.Ask(ctx, args...)
		if err != nil {
			return err
		}
		value, err = valueIn(said.Stdout)
		return err
	})
	if err != nil {
		return value, fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
	}
	fmt.Fprintf(s.out, "%s{ ... \"value\": \"%s\" ... }\n", margin, &value)
	return value, nil
}

func valueIn(answer string) (resource.Quantity, error) {
	var list struct {
		Items []struct {
			Value resource.Quantity `json:"value"`
		} `json:"items"`
	}
	if err := json.Unmarshal([]byte(answer), &list); err != nil {
		return resource.Quantity{}, fmt.Errorf("reading %s: %w", answer, err)
	}
	if len(list.Items) != 1 {
		return resource.Quantity{}, fmt.Errorf("%d figures and not one: %s", len(list.Items), answer)
	}
	return list.Items[0].Value, nil
}

// refuse shows that a part of a sum does not pass for the whole.
func (s *stage) refuse(ctx context.Context) error {
	s.say("A sum without west would be too low, and an autoscaler would take pods away. So there is none:")
	args := []string{"get", "--raw", ratePath}
	s.command(args...)
	var complaint string
	err := s.await(ctx, "what west said is served for five seconds", func(ctx context.Context) error {
		said, err := s.fleet.Ask(ctx, args...)
		if err == nil {
			return fmt.Errorf("the hub still answers %s", said.Stdout)
		}
		complaint = strings.TrimSpace(said.Stderr)
		if !strings.Contains(complaint, "ServiceUnavailable") || !strings.Contains(complaint, west) {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s%s\n\n", margin, complaint)
	return nil
}
