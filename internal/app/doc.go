// Package app builds the running programs: the worker, and everything on one
// machine (`starter dev`). It is the only place that knows concrete drivers.
package app
