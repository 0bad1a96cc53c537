// Command etcd is the store behind the local API server. The published module offers the server as a
// library only; its own main package lives in a module whose replace lines point into a checkout.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
