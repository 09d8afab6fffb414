// Package seeds is about the seeds that one run has besides those of its configuration: how they are read from a file,
// checked, added to the configuration, and kept in the state file until the run is completed.
package seeds
