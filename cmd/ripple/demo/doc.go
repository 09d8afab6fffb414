// Package demo is the demonstration: it crawls a small built-in web into a folder of its own, alone
// or on several nodes, one of which is killed.
package demo
