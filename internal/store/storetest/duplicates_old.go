package storetest

import (
	"encoding/binary"
	"testing"

	"recrawl/internal/change"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// RunOldSketches checks that pages whose sketches an earlier release stored are found by later
// contents, and lose their keys with their contents. The engine is empty, with all tables.
func RunOldSketches(t *testing.T, e sqlstore.Engine) {
	c := newCollection(t, sqlstore.New(e, sqlstore.Options{}))
	c.with(10, 0)
	page := c.oldest(1, 1)[0].PageID
	old := c.visitContent(page, content(1), nil)
	asBefore := func(tx sqlstore.Tx) error {
		_, err := tx.Exec(c.ctx, `UPDATE sketches SET sketch = $1, more = $2 WHERE version_id = $3`, encodeBefore(content(1).Sketch), []byte{}, old)
		return err
	}
	c.check(e.Write(c.ctx, asBefore))
	c.wantContent("an earlier release's", old, content(1))

	near := nearly(1).Sketch.Resemblance(content(1).Sketch)
	wantIDs(c, "those that resemble it", c.likeliest(store.LookalikeParams{Content: nearly(1), Limit: 10, Least: near}), page)
	c.visitContent(page, content(2), nil)
	wantIDs(c, "those with the keys that it had", c.lookalikes(content(1)))
	wantIDs(c, "those with the keys that it has", c.lookalikes(content(2)), page)
}

// encodeBefore encodes a sketch as releases up to 0.2 did.
func encodeBefore(sketch change.Sketch) []byte {
	b := []byte{1}
	for _, v := range sketch {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}
