package config

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
)

// NewLog returns a log to w in the format of the settings, from the least level on.
func (c Config) NewLog(w io.Writer, least slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: least}
	if c.LogJSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

func parseLogFormat(v string) (isJSON bool, err error) {
	switch strings.ToLower(v) {
	case "text":
		return false, nil
	case "json":
		return true, nil
	}
	return false, fmt.Errorf("%q is not a format of the log: write text or json", v)
}

// checkListen reports what is wrong with an address to listen on.
func checkListen(v string) error {
	_, port, err := net.SplitHostPort(v)
	n, errPort := strconv.Atoi(port)
	if err != nil || errPort != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q is not an address to listen on: write HOST:PORT, or :PORT for all addresses of this machine, such as :9090", v)
	}
	return nil
}
