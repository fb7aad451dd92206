// SPDX-License-Identifier: Apache-2.0

// Package admissiontest reads manifests and what admission says to each: those
// in pkg/admission/testdata. One table so serves the functions of
// pkg/admission and an API server that asks the webhook.
//
// A file is a stream of YAML documents, and a document is a case:
//
//	case: a weight above 1000          # a sentence, unique in its file
//	manifest: {...}                    # what a person applies, whole; or instead
//	from: weights are static           # the manifest of an earlier case of the file
//	before: weights are static         # an update; the manifest of an earlier case is stored
//	set:                               # changes to the manifest; null removes
//	  spec.metrics[0].resource.name: memory
//	beside: [{...}]                    # what else is in the namespace
//	served: [v1]                       # versions in which the hub serves the target's kind; []: it does not
//	rules: [Weight]                    # that refuse it, each once; none: accepted
//	errors: [...]                      # every fault, in any order
//	warnings: [...]                    # from mutation and validation, in their order
//
// Without from, an update begins with the manifest that is stored. An index as
// long as the list appends.
package admissiontest
