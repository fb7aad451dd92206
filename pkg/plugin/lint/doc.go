// SPDX-License-Identifier: Apache-2.0

// Package lint tells what the webhook would say of manifests, without a cluster.
//
//	Read      manifests from files and folders: all I/O is there       read.go
//	Parse     one file into autoscalers, strictly, with their lines     parse.go, lines.go
//	Judge     all of them: each by itself, and those of one namespace
//	          beside each other, by package admission                   judge.go
//	Report    findings, for people and for programs                     report.go, sarif.go
//
// What only the hub knows is not judged: what else is stored there, which kinds it
// serves, what the author may do, and the schemas of the CustomResourceDefinitions.
package lint
