// Package demo is the demonstration: it crawls a small built-in web, alone or on several nodes of which one is killed,
// into a folder of its own.
package demo
