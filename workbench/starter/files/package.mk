# The release of igz-clusters that this repository uses. `make upgrade TAG=v1.2.3` moves it.
# The commit is what runs; `make` refuses it if the tag at the source is another commit.
PACKAGE_SOURCE := @source@
PACKAGE_TAG := @tag@
PACKAGE_COMMIT := @commit@
