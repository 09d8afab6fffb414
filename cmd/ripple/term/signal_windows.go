package term

import "os"

// NotifyCrawl does nothing: Windows has neither of the signals that only a crawl listens to.
func NotifyCrawl(chan<- os.Signal) {}

func OutliveReaders() {}

func IsReload(os.Signal) bool { return false }

func EndsWithTerminal() bool { return false }

func HasTerminal() bool { return true }

func Terminate() error { return nil }
