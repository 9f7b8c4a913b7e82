# Completion of rkb and rkb-run for bash.  It asks the programs for their commands and options, so it is never behind them.
_rkb() {
  local word=${COMP_WORDS[COMP_CWORD]} help
  COMPREPLY=()
  if [[ ${COMP_WORDS[0]##*/} == rkb && $COMP_CWORD -eq 1 ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')" -- "$word")
    return
  fi
  if [[ ${COMP_WORDS[0]##*/} == rkb ]]; then
    help=$("${COMP_WORDS[0]}" "${COMP_WORDS[1]}" --help 2>/dev/null)
  else
    help=$("${COMP_WORDS[0]}" --help 2>/dev/null)
  fi
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(sed -n 's/^  \(--[a-z-]*\).*/\1/p' <<<"$help")" -- "$word")
  elif [[ ${COMP_WORDS[0]##*/} == rkb-run || ${COMP_WORDS[1]} == validate ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(rkb pipelines 2>/dev/null | cut -d' ' -f1)" -- "$word"; compgen -f -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _rkb rkb rkb-run
