module example.com/gobin

go 1.22
