# What the scripts share; sourced, not run. Every script is started from anywhere and works in the repository's root.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# Debian 12's packages: to build the server, and to test it as well.
BUILD_PACKAGES="gcc libc6-dev cmake ninja-build pkg-config lemon re2c
  librocksdb-dev libmicrohttpd-dev libgnutls28-dev nettle-dev zlib1g-dev libxxhash-dev"
TEST_PACKAGES="libcmocka-dev valgrind clang libclang-rt-14-dev python3 python3-boto3 awscli curl ca-certificates"
NODE_MIN=18

say() { echo "${0##*/}: $*"; }
die() { echo "${0##*/}: $*" >&2; exit 1; }

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Any node of NODE_MIN or later will do, from wherever it came, if npm is there too.
node_suffices() {
  command -v node >/dev/null && command -v npm >/dev/null && [ "$(node -p 'process.versions.node.split(".")[0]')" -ge "$NODE_MIN" ]
}

jobs_count() { nproc 2>/dev/null || echo 2; }
