// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

const usage = "usage: dist build|manifests -root FOLDER -out FOLDER [-registry REGISTRY] [-here] | dist push -out FOLDER"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	fs := flag.NewFlagSet("dist "+args[0], flag.ContinueOnError)
	p := release
	fs.StringVar(&p.out, "out", "", "folder of the release")
	switch args[0] {
	case "build", "manifests":
		fs.StringVar(&p.root, "root", "", "folder of the checkout")
		fs.StringVar(&p.registry, "registry", p.registry, "where the images will be: REGISTRY/PROGRAM")
		here := fs.Bool("here", false, "for this machine's processor and system only, to try it")
		if err := fs.Parse(args[1:]); err != nil {
			return err
		}
		if p.root == "" || p.out == "" || fs.NArg() != 0 {
			return errors.New(usage)
		}
		if args[0] == "manifests" {
			return buildManifests(ctx, os.Stdout, p)
		}
		if *here {
			p = p.here()
		}
		return build(ctx, os.Stdout, p)
	case "push":
		if err := fs.Parse(args[1:]); err != nil {
			return err
		}
		if p.out == "" || fs.NArg() != 0 {
			return errors.New(usage)
		}
		return push(ctx, os.Stdout, p.out)
	}
	return errors.New(usage)
}
