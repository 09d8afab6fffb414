// Package seeds handles the additional seeds of one run: they are read from a file, checked, added
// to the seeds of the configuration, and kept in the state file until the run is completed.
package seeds
