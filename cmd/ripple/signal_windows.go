package main

import "os"

// Windows has neither of the signals that only a crawl listens to.
func notifyCrawl(chan<- os.Signal) {}

func outliveReaders() {}

func isReload(os.Signal) bool { return false }

func endsWithTerminal() bool { return false }

func hasTerminal() bool { return true }

func terminate() error { return nil }
