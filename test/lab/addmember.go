// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// AddMember starts one more member in a lab that is up. It may be asked of a
// lab that another process started. It does not join Karmada.
func (l *Lab) AddMember(ctx context.Context, m Member, log io.Writer) (*Cluster, error) {
	if log == nil {
		log = io.Discard
	}
	if err := m.validate(l.names()); err != nil {
		return nil, err
	}
	if m.Pull {
		return nil, fmt.Errorf("member %q: a member that is added does not join Karmada; leave Pull out", m.Name)
	}
	clusters, err := l.bringUp(ctx, log, m.plan())
	if err != nil {
		return nil, errors.Join(err, l.abandon(m))
	}
	c := clusters[0]
	err = changeState(l.dir, func(s *state) error {
		s.Clusters = append(s.Clusters, *c)
		return mergeKubeconfigs(l.Kubeconfig(), s.Clusters)
	})
	if err != nil {
		return nil, err
	}
	l.adopt(c)
	return c, nil
}

// abandon ends what a cluster that did not come up has running.
func (l *Lab) abandon(m Member) error {
	processes, err := l.Processes()
	if err != nil {
		return err
	}
	half := &bringUp{Cluster: &Cluster{Name: m.Name, lab: l}, plan: m.plan()}
	names := half.realNodeNames()
	for _, program := range clusterPrograms() {
		names = append(names, half.processName(program))
	}
	var errs []error
	for _, p := range processes {
		if slices.Contains(names, p.Name) {
			errs = append(errs, p.Kill())
		}
	}
	return errors.Join(errs...)
}

func (l *Lab) names() map[string]bool {
	names := map[string]bool{l.Hub().Name: true}
	for _, member := range l.Members() {
		names[member.Name] = true
	}
	return names
}
