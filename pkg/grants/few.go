// SPDX-License-Identifier: Apache-2.0

package grants

import "fmt"

const (
	// MostTexts are those of the rights that one credential lacks, where they are shown.
	MostTexts = 16
	// MostText bounds one of them, in characters.
	MostText = 128
)

// more is the last of a list that was cut.
const more = "and %d more"

// Few are a list of rights cut to that many texts, one at least: where there are more, the last says how many.
func Few(texts []string, most int) []string {
	if len(texts) <= most {
		return texts
	}
	kept := texts[: most-1 : most-1]
	return append(kept, fmt.Sprintf(more, Count(texts)-len(kept)))
}

// Count is how many rights a list is about, which may have been cut, even more than once.
func Count(texts []string) int {
	n := len(texts)
	if n == 0 {
		return 0
	}
	var left int
	if _, err := fmt.Sscanf(texts[n-1], more, &left); err == nil && left > 0 {
		return n - 1 + left
	}
	return n
}
