// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	shop     = "shop"
	shopPods = 4 // of each member
)

const shopManifest = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 2
  serviceName: web
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
---
apiVersion: v1
kind: Pod
metadata: {name: only-CLUSTER, labels: {app: only}}
spec: {containers: [{name: only, image: only}]}
---
apiVersion: v1
kind: Pod
metadata: {name: cart, labels: {app: cart}}
spec: {containers: [{name: cart, image: cart}, {name: proxy, image: proxy}]}
`

// openShop makes the pods that all tests read. Each member has its own load,
// so that figures tell where they come from.
func (e *env) openShop(ctx context.Context, member *lab.Cluster, n int) error {
	cpu := resource.MustParse(fmt.Sprintf("%dm", 100*n))
	memory := resource.MustParse(fmt.Sprintf("%dMi", 100*n))
	if err := member.SetUsage(ctx, lab.Usage{Namespace: shop, CPU: &cpu, Memory: &memory}); err != nil {
		return err
	}
	if err := e.bePresent(ctx, member); err != nil {
		return err
	}
	return e.Apply(ctx, member, shop, strings.ReplaceAll(shopManifest, "CLUSTER", member.Name))
}

// presence is a metric that every member has, custom and external.
const presence = "presence"

// bePresent has a member tell of itself by that metric.
func (e *env) bePresent(ctx context.Context, member *lab.Cluster) error {
	one := resource.MustParse("1")
	return errors.Join(
		member.SetFigure(ctx, lab.Figure{Namespace: shop, Resource: "services", Object: "web", Metric: presence, Value: one}),
		member.SetSeries(ctx, lab.Series{Metric: presence, Labels: map[string]string{"of": member.Name}, Value: one}))
}

// podsOf returns what a member has in shop, as CLUSTER/NAME.
func podsOf(members ...string) []string {
	var pods []string
	for _, member := range members {
		for _, name := range []string{"cart", "only-" + member, "web-0", "web-1"} {
			pods = append(pods, member+"/"+name)
		}
	}
	return pods
}
