# Completion of `furiosa-opt-mlir compile` and `explain` for bash. Filters are
# completed with the names of the kernels in the inputs on the line.

_furiosa_opt_mlir_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_furiosa_opt_mlir_explain() {
  case $prev in
  --mode) _furiosa_opt_mlir_words "read write carve" ;;
  --axes | --count | --element-bits | --from | --stream-packet | --stream-time) ;;
  *)
    [[ $cur == -* ]] && _furiosa_opt_mlir_words "--axes --count --element-bits
      --from --mode --stream-packet --stream-time --color --help --help-list
      --version"
    ;;
  esac
}

_furiosa_opt_mlir_compile() {
  local word inputs=()
  case $prev in
  --message-format)
    _furiosa_opt_mlir_words "human json sarif"
    return
    ;;
  --release)
    _furiosa_opt_mlir_words "0.2 0.3 0.4 0.5 0.6"
    return
    ;;
  --cache-dir | --dump-summary)
    COMPREPLY=($(compgen -d -- "$cur"))
    return
    ;;
  -o | --MF | --dump-visa | --dump-dfg | --dump-ir | --dump-graph | --dump-schedule | --dump-trace)
    COMPREPLY=($(compgen -f -- "$cur"))
    return
    ;;
  -p | --package | -j | --cache-limit)
    return
    ;;
  esac
  if [[ $cur == -* ]]; then
    _furiosa_opt_mlir_words "-o -p -j --package --exact --list --strict --release
      --message-format --color --quiet --timing --MD --MF --no-cache --cache-dir
      --cache-limit --cache-stats --dump-visa --dump-dfg --dump-ir --dump-graph
      --dump-schedule --dump-trace --dump-summary --help --help-list --version"
    return
  fi
  for word in "${COMP_WORDS[@]:2}"; do
    [[ $word == *.mlir || $word == *.mlirbc ]] && [[ -f $word ]] && inputs+=("$word")
  done
  local IFS=$'\n'
  COMPREPLY=($(compgen -f -X '!*.@(mlir|mlirbc)' -- "$cur") $(compgen -d -- "$cur"))
  if ((${#inputs[@]})); then
    COMPREPLY+=($(compgen -W "$("${COMP_WORDS[0]}" compile --list --no-cache \
      "${inputs[@]}" 2> /dev/null)" -- "$cur"))
    declare -F __ltrim_colon_completions > /dev/null && __ltrim_colon_completions "$cur"
  fi
}

_furiosa_opt_mlir() {
  local cur prev
  # Full names hold colons, which break words.
  if declare -F _get_comp_words_by_ref > /dev/null; then
    _get_comp_words_by_ref -n : cur prev
  else
    cur=${COMP_WORDS[COMP_CWORD]}
    prev=${COMP_WORDS[COMP_CWORD - 1]}
  fi
  # `--flag=value` is three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "compile explain" -- "$cur") $(compgen -f -- "$cur"))
    return
  fi
  case ${COMP_WORDS[1]} in
  compile) _furiosa_opt_mlir_compile ;;
  explain) _furiosa_opt_mlir_explain ;;
  *) COMPREPLY=($(compgen -f -- "$cur")) ;;
  esac
}

shopt -s extglob
complete -o filenames -F _furiosa_opt_mlir furiosa-opt-mlir
