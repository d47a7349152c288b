package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// List implements Store.
func (d *Dir) List(ctx context.Context, after string) iter.Seq2[Info, error] {
	return InOrder(after, func(yield func(Info, error) bool) {
		for folder, err := range d.folders(after) {
			var found []Info
			if err == nil {
				err = CheckContext(ctx)
			}
			if err == nil {
				found, err = d.contents(folder)
			}
			if err != nil {
				yield(Info{}, fmt.Errorf("archive: list: %w", err))
				return
			}
			for _, info := range found {
				if !yield(info, nil) {
					return
				}
			}
		}
	})
}

// folders yields the folders of contents, aa/bb, in order from that of a digest
// on.
func (d *Dir) folders(from string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		outer, err := hexFolders(d.root)
		for _, a := range outer {
			var inner []string
			if a < from[:min(2, len(from))] {
				continue
			}
			if inner, err = hexFolders(filepath.Join(d.root, a)); err != nil {
				break
			}
			for _, b := range inner {
				if a+b >= from[:min(4, len(from))] && !yield(a+"/"+b, nil) {
					return
				}
			}
		}
		if err != nil {
			yield("", err)
		}
	}
}

// hexFolders lists the folders of two hex digits in a folder in order.
func hexFolders(parent string) ([]string, error) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name := e.Name(); len(name) == 2 && strings.Trim(name, hexDigits) == "" && e.IsDir() {
			names = append(names, name)
		}
	}
	return names, nil
}

// contents lists the files of contents in a folder aa/bb by name.
func (d *Dir) contents(folder string) ([]Info, error) {
	entries, err := os.ReadDir(filepath.Join(d.root, filepath.FromSlash(folder)))
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, e := range entries {
		digest, _, ok := ParseName(folder + "/" + e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Info{Digest: digest, Size: info.Size(), At: info.ModTime()})
	}
	return all, nil
}

// InOrder makes the answer of Store.List from the contents that a driver finds, in
// the order of their names: a content in two codings counts as one, and those up to
// the digest after are left out.
func InOrder(after string, found iter.Seq2[Info, error]) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if after != "" {
			if err := CheckDigest(after); err != nil {
				yield(Info{}, err)
				return
			}
		}
		var last Info
		for next, err := range found {
			switch {
			case err == nil && next.Digest <= after:
			case err == nil && next.Digest == last.Digest:
				last.Size += next.Size
				if next.At.After(last.At) {
					last.At = next.At
				}
			default:
				if last.Digest != "" && !yield(last, nil) {
					return
				}
				if err != nil {
					yield(Info{}, err)
					return
				}
				last = next
			}
		}
		if last.Digest != "" {
			yield(last, nil)
		}
	}
}
