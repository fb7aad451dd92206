// SPDX-License-Identifier: Apache-2.0

package dashboard

import "context"

// turns has few at one time do what takes memory and time: as many as each channel has room for. Without a channel anybody does.
type turns []chan struct{}

// take waits for a turn, which leave ends. Whose context has ended has none, even if one is free.
func (t turns) take(ctx context.Context) (leave func(), err error) {
	taken := 0
	leave = func() {
		for _, of := range t[:taken] {
			<-of
		}
	}
	for _, of := range t {
		select {
		case of <- struct{}{}:
			taken++
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			leave()
			return nil, err
		}
	}
	return leave, nil
}
