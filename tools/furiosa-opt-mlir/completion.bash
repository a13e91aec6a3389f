# Completion of `furiosa-opt-mlir compile` for bash. Filters are completed with
# the names of the kernels in the inputs on the line.

_furiosa_opt_mlir() {
  local cur prev word inputs=()
  # Full names hold colons, which break words.
  if declare -F _get_comp_words_by_ref > /dev/null; then
    _get_comp_words_by_ref -n : cur prev
  else
    cur=${COMP_WORDS[COMP_CWORD]}
    prev=${COMP_WORDS[COMP_CWORD - 1]}
  fi
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W compile -- "$cur") $(compgen -f -- "$cur"))
    return
  fi
  [[ ${COMP_WORDS[1]} == compile ]] || {
    COMPREPLY=($(compgen -f -- "$cur"))
    return
  }
  case $prev in
  --message-format)
    COMPREPLY=($(compgen -W "human json sarif" -- "$cur"))
    return
    ;;
  --release)
    COMPREPLY=($(compgen -W "0.2 0.3 0.4 0.5 0.6" -- "$cur"))
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
    COMPREPLY=($(compgen -W "-o -p -j --package --exact --list --release
      --message-format --color --quiet --timing --MD --MF --no-cache --cache-dir
      --cache-limit --cache-stats --dump-visa --dump-dfg --dump-ir --dump-graph
      --dump-schedule --dump-trace --dump-summary --help" -- "$cur"))
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

shopt -s extglob
complete -o filenames -F _furiosa_opt_mlir furiosa-opt-mlir
