import type { DescribedCommand, Values } from "./describe.ts"

/** Generates a script for bash. It does not need the package bash-completion. */
export function toBash(commands: readonly DescribedCommand[]): string {
  const paths = commands.slice(1).map(({ path }) => `"${["", ...path].join(" ")}"`)
  return `# Completion of hamlet for bash: source <(hamlet completion bash)
_hamlet_values() {
  case $1 in
    file) COMPREPLY=($(compgen -f -- "$cur")) ;;
    folder) COMPREPLY=($(compgen -d -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$(hamlet __complete "$1" "$cur" 2>/dev/null)" -- "$cur")) ;;
  esac
}

_hamlet() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path="" words="" options="" count=0 index word
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case \${COMP_WORDS[index-1]} in ${listTaking(commands).join(" | ")}) continue ;; esac
    case "$path $word" in
      ${paths.join(" | ")}) path="$path $word" count=0 ;;
      *" "-*) ;;
      *) count=$((count + 1)) ;;
    esac
  done
  case "$path" in
${commands.map(toCase).join("\n")}
  esac
  if [[ $cur == -* ]]; then words=$options; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}

complete -F _hamlet hamlet
`
}

/**
 * Options that take a value in every command that has them: the word after them is not an argument.
 */
function listTaking(commands: readonly DescribedCommand[]): readonly string[] {
  const options = commands.flatMap((command) => command.options)
  const taking = new Set(options.filter(({ values }) => values).flatMap(({ flags }) => flags))
  for (const { flags, values } of options)
    if (!values) for (const flag of flags) taking.delete(flag)
  return [...taking]
}

function toCase(command: DescribedCommand): string {
  const flags = command.options.flatMap(({ flags }) => flags)
  const taking = command.options.filter(({ values }) => values !== undefined)
  return [
    `    "${["", ...command.path].join(" ")}")`,
    `      options="${flags.join(" ")}" words="${command.commands.map(({ name }) => name).join(" ")}"`,
    ...(taking.length === 0
      ? []
      : [
          "      case $prev in",
          ...taking.map(({ flags, values }) => toOptionCase(flags, values)),
          "      esac",
        ]),
    ...command.arguments.map((values, index) =>
      toArgument(values, index, index === command.arguments.length - 1),
    ),
    "      ;;",
  ]
    .filter((line) => line !== "")
    .join("\n")
}

function toOptionCase(flags: readonly string[], values: Values | undefined): string {
  return `        ${flags.join(" | ")}) ${values ? toReply(values) : ""} return ;;`
}

function toReply({ choices, kind }: Values): string {
  if (choices.length > 0) return `COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$cur"));`
  return kind === "none" ? "" : `_hamlet_values ${kind};`
}

/** Where both a verb and a val are possible, both are offered. */
function toArgument(values: Values, index: number, isLast: boolean): string {
  const reply = toReply(values)
  if (reply === "") return ""
  const isHere = `[[ $cur != -* ]] && ((count ${isLast ? ">=" : "=="} ${index}))`
  return `      if ${isHere}; then ${reply} ${index === 0 ? 'COMPREPLY+=($(compgen -W "$words" -- "$cur"));' : ""} return; fi`
}
