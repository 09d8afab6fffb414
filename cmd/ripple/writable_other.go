//go:build !linux && !darwin

package main

// writable is found out by writing here.
func writable(string) error { return nil }
