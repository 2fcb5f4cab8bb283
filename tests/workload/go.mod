module hbprof/workload

go 1.22
