// Package temporalkit is the edge to the Temporal SDK outside workflows and
// activities: dialling, logging, search attributes, and starting and
// signalling recrawl's workflows.
package temporalkit
