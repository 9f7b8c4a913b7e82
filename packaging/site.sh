#!/usr/bin/env bash
# The documentation as a site that needs no network to build or to read: BINARY_DIRECTORY/site.  usage: site.sh SOURCE_DIRECTORY BINARY_DIRECTORY
set -euo pipefail
source=$(realpath "$1") binary=$(realpath "$2")
command -v mkdocs >/dev/null || { echo "mkdocs is missing: apt-get install mkdocs" >&2; exit 1; }
work=$binary/site-source
rm -rf "$work"
mkdir -p "$work/docs"
# The pages outside docs/ that pages of docs/ lead to stand beside them; the links are turned to match.
cp -r "$source/docs/." "$work/docs/"
rm -rf "$work/docs/results"
mkdir -p "$work/docs/results"
(cd "$source/docs/results" && find . -name '*.md' -exec cp --parents {} "$work/docs/results/" \;)
for page in README CONTRIBUTING CHANGELOG; do
  sed -e 's#(docs/#(#g' -e 's#(README.md#(project.md#g' "$source/$page.md" >"$work/docs/$([ $page = README ] && echo project || echo "${page,,}").md"
done
mv "$work/docs/README.md" "$work/docs/index.md"
find "$work/docs" -name '*.md' -exec sed -i -e 's#(\.\./README\.md#(project.md#g' -e 's#(\.\./CONTRIBUTING\.md#(contributing.md#g' \
  -e 's#(\.\./CHANGELOG\.md#(changelog.md#g' -e 's#(CONTRIBUTING\.md#(contributing.md#g' -e 's#(CHANGELOG\.md#(changelog.md#g' {} +
sed -i 's#(README\.md)#(index.md)#g' "$work"/docs/*.md
cat >"$work/mkdocs.yml" <<'END'
site_name: rkb
docs_dir: docs
use_directory_urls: false
theme:
  name: readthedocs
  highlightjs: false
plugins: [search]
markdown_extensions: [tables, fenced_code, toc]
END
mkdocs build --quiet --config-file "$work/mkdocs.yml" --site-dir "$binary/site" 2>"$work/warnings" || { cat "$work/warnings" >&2; exit 1; }
echo "$binary/site/index.html: $(find "$binary/site" -name '*.html' | wc -l) pages"
if grep -rlE '(src|href)="(https?:)?//[^"]*\.(js|css|woff2?)"' "$binary/site" --include='*.html'; then
  echo "these pages would load something from the network" >&2
  exit 1
fi
