package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"recrawl/internal/config"
)

// DevOptions says how `starter dev` is run.
type DevOptions struct {
	// Starter is the program, CLI the Temporal server that it runs, Folder where its data
	// folder is made.
	Starter, CLI, Folder string
	// Env is added to the environment of a new user.
	Env []string
	// Wrap, unless nil, gives the command that runs the program with these arguments, in
	// the same process.
	Wrap func(program string, args []string) (string, []string)
}

// Dev is a running `starter dev`: a worker, and the Temporal server that it has started.
type Dev struct {
	*Process
	// Data is the data folder, Address the Temporal server's address, and ServerPID its
	// process.
	Data, Address string
	ServerPID     int

	starter string
	env     []string
}

// startEvery is the time between two looks at a starting program.
const startEvery = 50 * time.Millisecond

// StartDev runs it on a new data folder until it says that it is ready.
func StartDev(ctx context.Context, o DevOptions) (*Dev, error) {
	d := &Dev{Data: filepath.Join(o.Folder, "data"), starter: o.Starter, env: CleanEnv(o.Folder, "RECRAWL_TEMPORAL_CLI="+o.CLI)}
	command := Command{Path: o.Starter, Args: []string{"dev", "--data", d.Data}, Env: append(append([]string{}, d.env...), o.Env...)}
	if o.Wrap != nil {
		command.Path, command.Args = o.Wrap(command.Path, command.Args)
	}
	var err error
	if d.Process, err = Start(command, nil); err != nil {
		return nil, err
	}
	err = Await(ctx, "starter dev is ready", startEvery, Says(d.Process, "ready; "), d.Process)
	if err == nil {
		err = d.find()
	}
	if err != nil {
		return nil, errors.Join(err, d.Stop())
	}
	return d, nil
}

// find reads where the server is.
func (d *Dev) find() error {
	text, err := os.ReadFile(filepath.Join(d.Data, config.StateFile))
	if err != nil {
		return fmt.Errorf("find the Temporal server: %w", err)
	}
	var state config.DevState
	if err := json.Unmarshal(text, &state); err != nil {
		return fmt.Errorf("find the Temporal server: %w", err)
	}
	d.Address, d.ServerPID = state.TemporalAddress, state.TemporalPID
	return nil
}

// Run runs another command of the starter on the data folder; it must succeed.
func (d *Dev) Run(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	return Run(ctx, Command{Path: d.starter, Args: append([]string{"--data", d.Data}, args...), Env: d.env, Stdin: stdin})
}
