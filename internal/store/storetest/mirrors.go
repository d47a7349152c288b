package storetest

import (
	"fmt"
	"slices"

	"recrawl/internal/change"
	"recrawl/internal/store"
)

func mirrors(c *collection) {
	c.open()
	host := make([]int64, 4)
	for i := range host {
		host[i] = c.known(i, 1)[0].HostID
	}
	list := func(limit int) string {
		got, err := c.s.Mirrors(c.ctx, c.id, limit)
		c.check(err)
		return fmt.Sprint(got)
	}
	want(c, "mirrors", list(10), "[]")
	c.check(c.s.SetMirrors(c.ctx, c.id, []change.Mirror{
		{A: host[0], B: host[1], Shared: 20, OfA: 30, OfB: 20},
		{A: host[0], B: host[2], Shared: 40, OfA: 41, OfB: 42},
		{A: host[1], B: 1 << 40, Shared: 50, OfA: 50, OfB: 50},
	}))
	most := store.MirrorRecord{A: c.host(0), B: c.host(2), Shared: 40, OfA: 41, OfB: 42}
	fewer := store.MirrorRecord{A: c.host(0), B: c.host(1), Shared: 20, OfA: 30, OfB: 20}
	want(c, "mirrors", list(10), fmt.Sprint([]store.MirrorRecord{most, fewer}))
	want(c, "the first", list(1), fmt.Sprint([]store.MirrorRecord{most}))
	c.check(c.s.SetMirrors(c.ctx, c.id, []change.Mirror{{A: host[0], B: host[1], Shared: 20, OfA: 30, OfB: 20}}))
	want(c, "mirrors that are left", list(10), fmt.Sprint([]store.MirrorRecord{fewer}))
	c.check(c.s.SetMirrors(c.ctx, c.id, nil))
	want(c, "mirrors", list(10), "[]")
}

func mirrorsMany(c *collection) {
	const hosts = 50
	c.open()
	var ids []int64
	for i := range hosts {
		ids = append(ids, c.known(i, 1)[0].HostID)
	}
	slices.Sort(ids)
	var all []change.Mirror
	for i, b := range ids {
		for _, a := range ids[:i] {
			all = append(all, change.Mirror{A: a, B: b, Shared: 100, OfA: 100, OfB: 100})
		}
	}
	c.check(c.s.SetMirrors(c.ctx, c.id, slices.Concat(all[:7], all)))
	got, err := c.s.Mirrors(c.ctx, c.id, len(all))
	c.check(err)
	want(c, "mirrors that are kept", len(got), store.MaxMirrors-7)
}
