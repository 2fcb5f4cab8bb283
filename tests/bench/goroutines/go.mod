module hbprof/bench/goroutines

go 1.20
