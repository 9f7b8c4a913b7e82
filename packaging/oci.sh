#!/usr/bin/env bash
# An OCI image of Debian with rkb's package, from Debian's packages alone: BINARY_DIRECTORY/packages/rkb-oci, a layout with the tag rkb.
# Needs no root, no daemon and no registry; Debian's packages come over HTTP.  usage: oci.sh BINARY_DIRECTORY
set -euo pipefail
packages=$(realpath "$1")/packages suite=${RKB_OCI_SUITE:-bookworm}
for tool in mmdebstrap umoci; do
  command -v $tool >/dev/null || { echo "$tool is missing: apt-get install mmdebstrap umoci" >&2; exit 1; }
done
deb=$(ls "$packages"/rkb_*.deb | tail -n 1)
image=$packages/rkb-oci work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mmdebstrap --variant=apt --include=python3 --aptopt='APT::Install-Recommends "false"' --dpkgopt='path-exclude=/usr/share/doc/*' \
  --customize-hook="copy-in \"$deb\" /tmp" --customize-hook="chroot \"\$1\" apt-get install --yes --no-install-recommends /tmp/$(basename "$deb")" \
  --customize-hook='rm -f "$1"/tmp/*.deb; rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/*' "$suite" "$work/root.tar"
rm -rf "$image"
umoci init --layout "$image"
umoci new --image "$image:rkb"
umoci raw add-layer --image "$image:rkb" "$work/root.tar"
umoci config --image "$image:rkb" --config.entrypoint rkb --config.workingdir /work --config.env PATH=/usr/local/bin:/usr/bin:/bin
echo "$image:rkb, from $(basename "$deb") and Debian $suite: $(du -sh "$image" | cut -f1)"
