package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// archiveName is the archive in a folder of pages whose files are packed.
const archiveName = "pages.tar.zst"

// mostWindow is the largest window of a compressed archive, that of zstd --long=27.
const mostWindow = 1 << 27

// unpacked returns the folder that holds the files of a folder of pages: itself, or a temporary
// one with what its archive has. done removes that.
func unpacked(dir string) (files string, done func(), err error) {
	archive := filepath.Join(dir, archiveName)
	if _, err := os.Stat(archive); errors.Is(err, fs.ErrNotExist) {
		return dir, func() {}, nil
	}
	if files, err = os.MkdirTemp("", "pages-"); err != nil {
		return "", nil, fmt.Errorf("make a folder for the pages: %w", err)
	}
	done = func() { os.RemoveAll(files) }
	if err := unpack(archive, files); err != nil {
		done()
		return "", nil, fmt.Errorf("unpack %s: %w", archive, err)
	}
	return files, done, nil
}

// unpack writes the files of an archive into a folder, and nothing outside of it.
func unpack(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	plain, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(mostWindow))
	if err != nil {
		return err
	}
	defer plain.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for files := tar.NewReader(plain); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeFile(root, filepath.Clean(header.Name), files); err != nil {
			return err
		}
	}
}

func writeFile(root *os.Root, name string, from io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, from); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
