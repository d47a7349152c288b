package report

import "testing"

// Hosts that somebody has blocked need nobody, including those beyond the ones that are
// looked at.
func TestBlockedHostsNeedNobody(t *testing.T) {
	t.Parallel()
	hosts := func(state HostState, n int) []HostTrouble {
		all := make([]HostTrouble, n)
		for i := range all {
			all[i].State = state
		}
		return all
	}
	for name, c := range map[string]struct {
		hosts                   []HostTrouble
		troubled, blocked, want int
	}{
		"all blocked":               {hosts(HostBlocked, 20), 30, 30, 0},
		"some of the rest":          {hosts(HostBlocked, 20), 30, 24, 6},
		"some of those looked at":   {append(hosts(HostForbidden, 15), hosts(HostBlocked, 5)...), 30, 10, 20},
		"none":                      {hosts(HostUnreachable, 20), 30, 0, 30},
		"blocked since":             {hosts(HostThrottled, 20), 22, 9, 0},
		"unblocked since the count": {hosts(HostBlocked, 3), 3, 1, 0},
	} {
		if got := (statusMore{hosts: c.hosts, troubled: c.troubled}).needYou(c.blocked); got != c.want {
			t.Errorf("%s: %d hosts need somebody, want %d", name, got, c.want)
		}
	}
}
