# SPDX-License-Identifier: Apache-2.0
# Helpers for the tests of queues, loaded after helpers.
#
# shellcheck shell=bash

# Prints the items of queue $1 in order, one a line, by znode: not for many.
items_of() {
  local segment item
  for segment in $(znode ls "$1/items"); do
    for item in $(znode ls "$1/items/$segment" | sort -t- -k2); do znode get "$1/items/$segment/$item"; done
  done
}

# Prints the first bytes of all items of queue $1 in order, one a line. It is for many.
listed() { zklock queue list --json "$1" | jq -r .begins; }

# first_item QUEUE: prints the path of its first item.
first_item() {
  local segment
  segment=$(znode ls "$1/items" | head -1)
  echo "$1/items/$segment/$(znode ls "$1/items/$segment" | sort -t- -k2 | head -1)"
}

# dead QUEUE SEGMENT ID TEXT WHY: makes a dead item.
dead() {
  znode create "$1/dead/$2/$3" "$4"
  znode create "$1/dead/$2/$3/why" "$5"
}
