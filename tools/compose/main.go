// Command compose-config checks a Compose file with Compose's own parser and
// prints it as JSON, all profiles included and the environment's variables filled
// in: what `docker compose config --format json` prints, without Docker.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compose-config:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, files []string) error {
	options, err := cli.NewProjectOptions(files, cli.WithOsEnv, cli.WithProfiles([]string{"*"}))
	if err != nil {
		return err
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		return err
	}
	text, err := project.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(text, '\n'))
	return err
}
