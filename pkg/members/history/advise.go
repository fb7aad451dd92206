// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"time"

	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// Wanted is a container that advice is wanted for.
type Wanted struct {
	Container string
	Options   sizes.Options
	// Last is what was advised before, for the fleet, and LastOf for clusters. Nothing becomes less while a cluster is silent; nor,
	// after a start, for as long as nothing had been saved before it: what was seen then is lost, and may be why it was more.
	Last   sizes.Advice
	LastOf map[string]sizes.Advice
	// Tell has the advice come with what it is made of.
	Tell bool
}

// Advice is how large a container should be.
type Advice struct {
	Container string
	// Fleet is the advice that is the same for all clusters.
	Fleet sizes.Advice
	// Grounds are what that comes from.
	Grounds sizes.Grounds
	// First is when the first sample of CPU was taken in any of the clusters, and Samples is how many there are. Zero: none.
	First   time.Time
	Samples int
	// Told is what the advice is made of, if that was asked for, and Silent that it is held as a cluster is silent.
	Told   sizes.Told
	Silent bool
	// Clusters are those of the last pass, in order of their names.
	Clusters []ClusterAdvice
}

// ClusterAdvice is how large a container should be in one cluster.
type ClusterAdvice struct {
	sizes.Advice

	Cluster string
	// Silent is as in [Fed].
	Silent bool
	// Told is as that of the fleet, and Held: it is held.
	Told sizes.Told
	Held bool
	// First, Last and Samples are as in [sizes.Use].
	First, Last time.Time
	Samples     int
}

// Advise returns advice for each container, from the clusters of the last pass. It is an error if the history has not been
// loaded, or nothing was fed since: then what is known is a part.
func (s *Store) Advise(owner Owner, wanted []Wanted) ([]Advice, error) {
	m, err := s.locked(owner)
	if err != nil {
		return nil, fmt.Errorf("advising on %v: %w", owner, err)
	}
	defer m.mu.Unlock()
	if m.fed.IsZero() {
		return nil, fmt.Errorf("advising on %v: no cluster has been asked since its history was loaded", owner)
	}
	all := make([]Advice, len(wanted))
	parts := make([]sizes.Part, 0, len(m.shares))
	for i := range wanted {
		all[i] = m.advise(&wanted[i], parts)
	}
	return all, nil
}

// advise makes advice for one container. Parts are for its use.
func (m *memory) advise(w *Wanted, parts []sizes.Part) Advice {
	a := Advice{Container: w.Container}
	var nothing sizes.Use
	for _, s := range m.shares {
		if !s.asked {
			continue
		}
		use := &nothing
		if place, found := s.find(w.Container); found {
			use = &s.containers[place].use
		}
		parts = append(parts, sizes.Part{Cluster: s.cluster, Use: use, Silent: s.silent || m.fed.Before(m.caught)})
		a.Samples += use.Samples
		if a.First.IsZero() || !use.First.IsZero() && use.First.Before(a.First) {
			a.First = use.First
		}
	}
	together, silent := sizes.Together(parts)
	a.Fleet, a.Grounds = together.Grounded(w.Options, silent, w.Last)
	if a.Silent = silent; w.Tell {
		a.Told = together.Tell()
	}
	a.Clusters = make([]ClusterAdvice, len(parts))
	for i, p := range parts {
		a.Clusters[i] = ClusterAdvice{
			Advice:  sizes.AdviseCluster(p, w.Options, a.Fleet, w.LastOf[p.Cluster]),
			Cluster: p.Cluster, Silent: m.shareOf(p.Cluster).silent, First: p.Use.First, Last: p.Use.Last, Samples: p.Use.Samples, Held: p.Silent,
		}
		if w.Tell {
			a.Clusters[i].Told = p.Use.Tell()
		}
	}
	return a
}
