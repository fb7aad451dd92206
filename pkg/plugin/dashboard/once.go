// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/pkg/plugin/pages"
)

const (
	// mostStored is how many autoscalers have their page in a file: those that are worst off.
	mostStored = 200
	// storedAtOnce is how many of them are asked for Events at one time.
	storedAtOnce = 8
	// firstLists is how long is waited until all was listed.
	firstLists = time.Minute
)

// stored is what a file has.
type stored struct {
	Fleet   snapshot          `json:"fleet"`
	Details map[string]detail `json:"details"`
}

// writeOnce writes all that can be read into one file that needs nothing else.
func writeOnce(ctx context.Context, s *seen, hub dynamic.Interface, from *archive, file string) error {
	all, err := s.whole(ctx)
	if err != nil {
		return err
	}
	data := stored{Fleet: all, Details: map[string]detail{}}
	shown := all.Autoscalers[:min(len(all.Autoscalers), mostStored)] // the worst come first
	ids := make([]string, len(shown))
	for i := range shown {
		ids[i] = shown[i].ID
	}
	pasts, err := from.read(ctx, ids)
	if err != nil {
		return fmt.Errorf("reading the record: %w", err)
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(storedAtOnce)
	for _, id := range ids {
		group.Go(func() error {
			if d, found := about(ctx, s, hub, id, pasts[id]); found {
				mu.Lock()
				data.Details[id] = d
				mu.Unlock()
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	text, err := pages.Page{Of: "index", Data: data}.OneFile()
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600) // it is for those to whom its writer gives it
}

// whole waits until all kinds were listed, or cannot be.
func (s *seen) whole(ctx context.Context) (snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, firstLists)
	defer cancel()
	for {
		all, changed := s.look()
		if len(all.Loading) == 0 {
			return all, nil
		}
		select {
		case <-ctx.Done():
			return all, fmt.Errorf("waiting for %s: %w", strings.Join(all.Loading, ", "), ctx.Err())
		case <-changed:
		}
	}
}
