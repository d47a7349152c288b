// Command release-config reads a GoReleaser configuration with GoReleaser's own types, which
// refuse what they do not know, and prints it as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release-config:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments: name one file", len(args))
	}
	file, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer file.Close()
	project, err := config.LoadReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return json.NewEncoder(os.Stdout).Encode(project)
}
