module hbprof/workload/goversions

go 1.20
