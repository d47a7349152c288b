# What the walks share. A walk is a person's way through the documentation: each command that
# it runs must stand there, word for word, so that a walk fails when the documentation and the
# program no longer say the same.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# said PAGE COMMAND [NAME=VALUE …]: checks that the page of documentation says to run the
# command, and prints it with values in place of what stands there for the reader's own.
said() {
  local page=$1 command=$2 name
  shift 2
  sed -E 's/^ *(\$ )?//; s/ *#.*$//' "$root/$page" | grep -xF -- "$command" >/dev/null ||
    { echo "$page does not say: $command" >&2; return 1; }
  for name in "$@"; do command=${command//${name%%=*}/${name#*=}}; done
  echo "\$ $command" >&2
  echo "$command"
}

# step is said, and runs the command, again if the machine was too busy for it.
step() {
  local command problems busy='temporal does not answer|no worker answered|no worker has taken it up yet'
  command=$(said "$@")
  # Its errors go into the variable, and its output goes where the step's goes.
  until { problems=$(bash -c "$command" 2>&1 >&3 3>&-); } 3>&1; do
    echo "$problems" >&2
    [[ $problems =~ $busy ]] || return 1
    sleep 1
  done
  [ -z "$problems" ] || echo "$problems" >&2
}

# begin is step for a command that goes on, for use with &: its process is the command's.
begin() {
  local command
  command=$(said "$@")
  eval "exec env $command"
}

# await WHAT COMMAND…: look until the command succeeds.
await() {
  local what=$1
  shift
  echo "… $what" >&2
  until "$@"; do sleep 1; done
}
