// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
)

// indexed reads FederatedHPAs from an index as the cache does; there is nothing else.
type indexed struct {
	client.Reader
	store cache.Indexer
}

func (i indexed) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	federated, ok := list.(*v1alpha1.FederatedHPAList)
	if !ok {
		return nil
	}
	value, _ := asked.FieldSelector.RequiresExactMatch(index.ByName)
	found, err := i.store.ByIndex(index.ByName, asked.Namespace+"/"+value)
	for _, f := range found {
		federated.Items = append(federated.Items, *f.(*v1alpha1.FederatedHPA).DeepCopy())
	}
	return err
}

// crowded is a hub with that many FederatedHPAs in one namespace.
func crowded(b *testing.B, n int) indexed {
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{index.ByName: func(o any) ([]string, error) {
		var keys []string
		for _, name := range index.Names(o.(client.Object)) {
			keys = append(keys, "shop/"+name)
		}
		return keys, nil
	}})
	for i := range n {
		name := fmt.Sprintf("web-%d", i)
		if err := store.Add(object[v1alpha1.FederatedHPA](b, fhpa(name, name))); err != nil {
			b.Fatal(err)
		}
	}
	return indexed{store: store}
}

// Admissions through TLS and HTTP, beside a thousand autoscalers: a request of
// each webhook in turn.
func BenchmarkAdmissions(b *testing.B) {
	handlers, _ := handlersOf(crowded(b, 1000))
	mux := http.NewServeMux()
	for path, handler := range handlers {
		mux.Handle(path, handler)
	}
	server := httptest.NewUnstartedServer(mux)
	server.EnableHTTP2 = true
	server.StartTLS()
	b.Cleanup(server.Close)
	body, err := json.Marshal(review(b, fhpa("new", "new"), ""))
	if err != nil {
		b.Fatal(err)
	}
	for _, clients := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			took := make([][]time.Duration, clients)
			var running sync.WaitGroup
			b.ResetTimer()
			for c := range clients {
				running.Go(func() {
					for i := c; i < b.N; i += clients {
						path := []string{"/mutate-federatedhpa", "/validate-federatedhpa"}[i/clients%2]
						begin := time.Now()
						admit(b, server, path, body)
						took[c] = append(took[c], time.Since(begin))
					}
				})
			}
			running.Wait()
			all := slices.Concat(took...)
			slices.Sort(all)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "admissions/s")
			b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
		})
	}
}

func admit(b *testing.B, server *httptest.Server, path string, body []byte) {
	response, err := server.Client().Post(server.URL+path, "application/json", bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || !bytes.Contains(answer, []byte(`"allowed":true`)) {
		b.Errorf("%v: %s", err, answer)
	}
}
