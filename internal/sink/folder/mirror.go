package folder

import (
	"bytes"
	"io"
	"path"
)

// writeIfOther writes a file of a mirror unless it is already right: all files are made
// again at each look at all pages, and unchanged ones are not touched.
func (k *keeper) writeIfOther(name string, content io.Reader) error {
	text, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	there, err := k.isThere(name)
	if err != nil {
		return err
	}
	if there {
		have, err := k.root.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.Equal(have, text) {
			return nil
		}
	}
	if err := k.makeFolders(path.Dir(name)); err != nil {
		return err
	}
	return k.write(name, bytes.NewReader(text))
}
