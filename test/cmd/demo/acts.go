// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	east = "east"
	west = "west"
	shop = "shop"
)

// workloads has pods whose names differ from cluster to cluster, and web-0,
// which is in both.
const workloads = `apiVersion: apps/v1
kind: Deployment
metadata: {name: cart}
spec:
  replicas: 2
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec: {containers: [{name: cart, image: cart}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 1
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
`

// deploy puts the same workloads into both clusters, with a different load.
func (s *stage) deploy(ctx context.Context) error {
	s.title("The same workloads in both clusters")
	s.say("A Deployment cart and a StatefulSet web. Both clusters get a pod web-0; west has more to do.")
	if err := s.createNamespace(ctx); err != nil {
		return err
	}
	load := map[string]string{east: "120m", west: "340m"}
	for _, cluster := range []string{east, west} {
		if err := s.use(ctx, load[cluster], cluster); err != nil {
			return err
		}
		if err := s.apply(ctx, cluster, shop, "shop", workloads); err != nil {
			return err
		}
	}
	return s.await(ctx, "metrics-server measures a pod twice before it tells of it, so the first figures take half a minute",
		func(ctx context.Context) error {
			for _, member := range s.fleet.Members() {
				said, err := s.fleet.Ask(ctx, top(member.Name)...)
				if err != nil {
					return err
				}
				if got := len(rows(said.Stdout)); got != 3 {
					return fmt.Errorf("cluster %s has figures of %d pods and not of 3", member.Name, got)
				}
			}
			return nil
		})
}

func top(context string) []string {
	return []string{"--context", context, "top", "pods", "-n", shop}
}

// compare shows that the fleet's figures are those of its members.
func (s *stage) compare(ctx context.Context) error {
	s.title("One kubectl top for the whole fleet")
	said := map[string]fixture.Said{}
	err := s.await(ctx, "asking until no cluster measures again between two questions", func(ctx context.Context) error {
		for _, cluster := range []string{east, west, "hub"} {
			answer, err := s.fleet.Ask(ctx, top(cluster)...)
			if err != nil {
				return err
			}
			said[cluster] = answer
		}
		return equalRows(said["hub"].Stdout, said[east].Stdout+said[west].Stdout)
	})
	if err != nil {
		return err
	}
	for _, line := range []struct{ text, cluster string }{
		{"What east says of itself:", east},
		{"What west says of itself:", west},
		{"What the hub says: the pods of both, with the same figures. web-0 is there twice.", "hub"},
	} {
		s.say("%s", line.text)
		s.command(top(line.cluster)...)
		s.print(said[line.cluster])
		s.say("")
	}
	s.say("Compared line by line: all %d figures of the hub are those of the members.", 2*len(rows(said["hub"].Stdout)))
	return nil
}

// tellApart shows which pod is whose.
func (s *stage) tellApart(ctx context.Context) error {
	s.title("Which pod is whose")
	s.say("kubectl get has a column for it:")
	if err := s.show(ctx, shows("CLUSTER", east, west), "get", "podmetrics", "-n", shop); err != nil {
		return err
	}
	s.say("The cluster can be selected like a label:")
	return s.show(ctx, each(shows("web-0"), hides(west)), "get", "podmetrics", "-n", shop, "-l", "fleetscale.io/cluster="+east)
}

// freeze shows what a cluster that hangs does to the others: nothing.
func (s *stage) freeze(ctx context.Context) error {
	s.title("West hangs")
	s.say("Its API server keeps its connections and answers nothing (SIGSTOP).")
	before, err := s.fleet.Ask(ctx, top("hub")...)
	if err != nil {
		return err
	}
	if err := s.onWest((*lab.Cluster).Freeze); err != nil {
		return err
	}
	s.say("Namespaces that somebody asks for are answered from memory. Nobody has to wait, and for a minute nothing is missing:")
	same := func(said fixture.Said) error { return sameNames(said.Stdout, before.Stdout) }
	if err := s.show(ctx, each(hides("Warning"), same), "top", "pods", "-n", shop); err != nil {
		return err
	}
	s.say("All namespaces at once are asked of the members. West's part is missing, and that is said:")
	return s.show(ctx, each(shows("Warning", west, "1 of 2 clusters did not answer"), lists(3)), "top", "pods", "-A")
}

// thaw shows that the fleet is whole again by itself.
func (s *stage) thaw(ctx context.Context) error {
	s.title("West is back")
	s.say("It continues where it stopped (SIGCONT). Nothing else has to be done:")
	if err := s.onWest((*lab.Cluster).Thaw); err != nil {
		return err
	}
	return s.show(ctx, each(hides("Warning"), lists(6)), "top", "pods", "-A")
}

// rows are the lines of a table without its header and without padding, in order.
func rows(table string) []string {
	var all []string
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "NAME" && fields[0] != "NAMESPACE" {
			all = append(all, strings.Join(fields, " "))
		}
	}
	slices.Sort(all)
	return all
}
