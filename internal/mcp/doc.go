// Package mcp lets agents read crawls: it serves report's answers as tools of the Model
// Context Protocol. Text from sites is marked as such, and every answer is short enough for
// a model's window.
package mcp
