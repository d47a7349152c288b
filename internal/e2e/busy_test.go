package e2e

import (
	"slices"
	"strings"
	"testing"
)

// silentTemporal is in the output of a program whose Temporal does not answer.
const silentTemporal = "temporal does not answer"

// busyWords are in the output of commands that give up because the servers and workers,
// which are there, are too busy for the commands' time limits.
var busyWords = []string{
	silentTemporal, "no answer within", "no worker has taken it up yet", "no worker answered within", "temporal has not deleted",
	"deadline exceeded", "DeadlineExceeded", "code = Unavailable",
}

// tooBusy reports whether a command says that it gave up because the machine is busy.
func tooBusy(said string) bool {
	return slices.ContainsFunc(busyWords, func(word string) bool { return strings.Contains(said, word) })
}

// insist runs a command, again if the machine was too busy for it.
func insist(t *testing.T, command string, do func() (stdout string, code int, stderr string)) (stdout string, code int, stderr string) {
	t.Helper()
	said := &syncBuffer{}
	(&dev{t: t, out: said}).await("the machine has time for "+command, func() bool {
		stdout, code, stderr = do()
		said.Write([]byte(stderr))
		return !tooBusy(stderr)
	})
	return stdout, code, stderr
}

// starterEnv runs a starter command in an environment.
func starterEnv(t *testing.T, env []string, args ...string) (stdout string, code int, stderr string) {
	t.Helper()
	return insist(t, "starter "+strings.Join(args, " "), func() (string, int, string) {
		return runEnv(t, env, programs.starter, args...)
	})
}

// temporalCLI runs the Temporal CLI, which must succeed. To terminate what a try before has
// terminated already is a success.
func temporalCLI(t *testing.T, address string, args ...string) string {
	t.Helper()
	command, tries := "temporal "+strings.Join(args, " "), 0
	out, code, errout := insist(t, command, func() (string, int, string) {
		tries++
		return run(t, programs.temporal, append(slices.Clone(args), "--address", address)...)
	})
	if code != 0 && (tries == 1 || !strings.Contains(errout, "already completed")) {
		t.Fatalf("%s: %d: %s%s", command, code, out, errout)
	}
	return out
}
