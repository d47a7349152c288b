package folder

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"recrawl/internal/export"
	"recrawl/internal/mirror"
)

// The index maps pages to files. A takedown names only the page, and nothing of it may
// stay. It is cut into small files of shardPages pages each, so that a change writes
// little, whatever the size of the folder:
//
//	.recrawl/pages/000000000012.jsonl
//
// A file's name is in the index before the file is made, and until it is removed.
const (
	indexFolder = ownFolder + "/pages"
	shardPages  = 256
)

// entry is a page in the index.
type entry struct {
	Page int64  `json:"page"`
	URL  string `json:"url"`
	Path string `json:"path"` // with slashes, from the folder
	// Digest is the signature of the file, which in most formats is the digest of its body;
	// "" while it is being written.
	Digest string `json:"digest,omitempty"`
	// Old are names that the page's file had, until they are removed.
	Old []string `json:"old,omitempty"`
}

func shardOf(page int64) int64     { return page / shardPages }
func shardName(shard int64) string { return fmt.Sprintf("%s/%012d.jsonl", indexFolder, shard) }
func shardEntry(name string) (n int64, ok bool) {
	number, ok := strings.CutSuffix(name, ".jsonl")
	if !ok {
		return 0, false
	}
	_, err := fmt.Sscanf(number, "%d", &n)
	return n, err == nil && shardName(n) == indexFolder+"/"+name
}

// settle brings the folder up to date for the pages after one and through another, in their order:
// it then holds the wanted ones and no others.
func (k *keeper) settle(ctx context.Context, after, through int64, wanted map[int64]export.Exchange) error {
	shards, err := k.shards(after, through)
	if err != nil {
		return err
	}
	for page := range wanted {
		shards[shardOf(page)] = true
	}
	k.settled = after
	for _, shard := range slices.Sorted(maps.Keys(shards)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := k.settleShard(ctx, shard, after, through, wanted); err != nil {
			return err
		}
		k.settled = max(k.settled, min((shard+1)*shardPages-1, through))
	}
	return nil
}

// shards returns the existing shards with pages after one and through another.
func (k *keeper) shards(after, through int64) (map[int64]bool, error) {
	found := map[int64]bool{}
	first, last := shardOf(after+1), shardOf(through)
	if first == last {
		found[first] = true
		return found, nil
	}
	entries, err := fs.ReadDir(k.root.FS(), indexFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if n, ok := shardEntry(e.Name()); ok && n >= first && n <= last {
			found[n] = true
		}
	}
	return found, nil
}

// settleShard is settle for the pages of one shard. Removals come first, since another page
// may have come under the same address, and so under the same name.
func (k *keeper) settleShard(ctx context.Context, shard, after, through int64, wanted map[int64]export.Exchange) error {
	pages, err := k.readShard(shard)
	if err != nil {
		return err
	}
	removed, err := k.removeOthers(pages, after, through, wanted)
	if err != nil {
		return err
	}
	var todo []export.Exchange
	planned := false
	for page, x := range wanted {
		if shardOf(page) != shard {
			continue
		}
		e, name := pages[page], k.nameOf(x)
		done, err := k.isDone(e, name, x)
		if err != nil {
			return err
		}
		if done {
			continue
		}
		todo = append(todo, x)
		if name != "" && name != e.Path {
			pages[page] = entry{Page: page, URL: x.URL, Path: name, Old: e.names()}
			planned = true
		}
	}
	if len(todo) == 0 && !removed {
		return nil
	}
	if planned {
		if err := k.saveShard(shard, pages); err != nil {
			return err
		}
	}
	slices.SortFunc(todo, func(a, b export.Exchange) int { return cmp.Compare(a.Page, b.Page) })
	for _, x := range todo {
		if err := k.carryOut(ctx, pages, x); err != nil {
			if ctx.Err() != nil { // what is done need not be done again
				err = errors.Join(err, k.saveShard(shard, pages))
			}
			return err
		}
		k.settled = max(k.settled, x.Page)
	}
	return k.saveShard(shard, pages)
}

// removeOthers removes the files of pages that are not wanted, and reports whether there
// were any.
func (k *keeper) removeOthers(pages map[int64]entry, after, through int64, wanted map[int64]export.Exchange) (removed bool, err error) {
	for page, e := range pages {
		if _, ok := wanted[page]; ok || page <= after || page > through {
			continue
		}
		for _, name := range e.names() {
			if err := k.remove(name); err != nil {
				return removed, err
			}
		}
		delete(pages, page)
		removed = true
	}
	return removed, nil
}

// nameOf returns the name of a document's file, "" if there is none.
func (k *keeper) nameOf(x export.Exchange) string {
	// Requisites may lie elsewhere.
	if !x.Requisite && !k.Selects(x.URL) {
		return ""
	}
	return export.FileName(k.marker.Format, x)
}

// names returns all names under which the page's content may be.
func (e entry) names() []string {
	if e.Path == "" {
		return e.Old
	}
	return append(slices.Clone(e.Old), e.Path)
}

// isDone: the file is there and made from this version.
func (k *keeper) isDone(e entry, name string, x export.Exchange) (bool, error) {
	if name == "" {
		return e.Page == 0, nil
	}
	if k.marker.Format == export.Mirror && !k.marker.Filled && mirror.Rewrites(x.Version.ContentType) {
		return false, nil // pages that it links to may have come or gone
	}
	if k.marker.Anew && !k.marker.Filled || e.Path != name || e.Digest != export.Signature(k.marker.Format, x) || len(e.Old) > 0 {
		return false, nil
	}
	return k.isThere(name)
}

// carryOut writes a page's file, removes its old ones, and notes that.
func (k *keeper) carryOut(ctx context.Context, pages map[int64]entry, x export.Exchange) error {
	e, name := pages[x.Page], k.nameOf(x)
	there := false
	if name != "" {
		var err error
		if there, err = k.place(ctx, name, x); err != nil {
			return err
		}
	}
	for _, old := range e.names() {
		if there && old == name {
			continue
		}
		if err := k.remove(old); err != nil {
			return err
		}
	}
	if !there {
		delete(pages, x.Page)
		return nil
	}
	pages[x.Page] = entry{Page: x.Page, URL: x.URL, Path: name, Digest: export.Signature(k.marker.Format, x)}
	return nil
}

func (k *keeper) readShard(shard int64) (map[int64]entry, error) {
	pages := map[int64]entry{}
	text, err := k.root.ReadFile(shardName(shard))
	if errors.Is(err, fs.ErrNotExist) {
		return pages, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil || shardOf(e.Page) != shard || e.Page <= 0 {
			return nil, k.stop(CodeDamaged, "has a damaged index (%s): empty it, and it is filled again", shardName(shard))
		}
		pages[e.Page] = e
	}
	return pages, nil
}

// saveShard writes a part of the index; an empty one has no file.
func (k *keeper) saveShard(shard int64, pages map[int64]entry) error {
	if len(pages) == 0 {
		return k.remove(shardName(shard))
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	for _, e := range slices.SortedFunc(maps.Values(pages), func(a, b entry) int { return cmp.Compare(a.Page, b.Page) }) {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	if err := k.makeFolders(indexFolder); err != nil {
		return err
	}
	return k.write(shardName(shard), &text)
}
