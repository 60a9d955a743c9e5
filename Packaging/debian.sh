# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The steps that the Debian packages of all programs have in common. Sourced in the root of the repository, with
# SOURCE_DATE_EPOCH set.

# reference PROGRAM SHARE [ZSH]: the man pages and the completions of a program, under a folder "share". ZSH is the folder of
# zsh's completions: Debian's, if none is given.
reference() {
  local program=$1 share=$2 zsh=${3:-zsh/vendor-completions} name
  name=$(basename "$program")
  scripts/command-reference "$program" --man "$share/man/man1" --date "$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)"
  gzip -9 -n "$share"/man/man1/*.1
  mkdir -p "$share/bash-completion/completions" "$share/$zsh" "$share/fish/vendor_completions.d"
  "$program" --generate-completion-script bash >"$share/bash-completion/completions/$name"
  "$program" --generate-completion-script zsh >"$share/$zsh/_$name"
  "$program" --generate-completion-script fish >"$share/fish/vendor_completions.d/$name.fish"
}

# debian_package ROOT NAME DIST DEPENDS [VERSION FILE]: builds the package of the files in ROOT. It depends on the libraries
# that FILE is linked with, by default the program usr/bin/NAME, which also says its version, and on DEPENDS, which may be empty.
# Without libraries FILE is empty. Standard input has the fields that follow in its description.
debian_package() {
  local root=$1 name=$2 dist=$3 depends=$4 documentation=$1/usr/share/doc/$2 program sources libraries=
  program=${6-$(realpath "$root/usr/bin/$name")}
  # The licence's text is in every Debian.
  install -m 644 -D -t "$documentation" Packaging/copyright
  gzip -9 -n -c CHANGELOG.md >"$documentation/changelog.gz"
  # dpkg-shlibdeps looks for the fields of a source package.
  if [ -n "$program" ]; then
    sources=$(mktemp -d)
    mkdir "$sources/debian"
    printf 'Source: %s\n\nPackage: %s\nArchitecture: any\n' "$name" "$name" >"$sources/debian/control"
    libraries=$(cd "$sources" && dpkg-shlibdeps -O "$program" | sed 's/^shlibs:Depends=//')
    rm -r "$sources"
  fi
  mkdir -p "$root/DEBIAN"
  {
    echo "Package: $name"
    echo "Version: ${5:-$("$program" --version)}"
    echo "Architecture: $(dpkg --print-architecture)"
    echo "Maintainer: ReceiptKit <maintainers@receiptkit.invalid>"
    echo "Installed-Size: $(du -k -s --apparent-size --exclude=DEBIAN "$root" | cut -f 1)"
    echo "Depends: $libraries${libraries:+${depends:+, }}$depends"
    echo "Priority: optional"
    cat
  } >"$root/DEBIAN/control"
  (cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  dpkg-deb --root-owner-group --build "$root" "$dist" >&2
}
