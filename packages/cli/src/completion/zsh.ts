import type { DescribedCommand, DescribedOption, Values } from "./describe.ts"

/** Generates a script for zsh. */
export function toZsh(commands: readonly DescribedCommand[]): string {
  const paths = commands.slice(1).map(({ path }) => `"${["", ...path].join(" ")}"`)
  return `#compdef hamlet
# Completion of hamlet for zsh: source <(hamlet completion zsh), or a file called _hamlet in a folder of $fpath.
_hamlet_values() {
  local -a values
  values=(\${(f)"$(hamlet __complete $1 "$PREFIX" 2>/dev/null)"})
  compadd -a values
}

_hamlet_verbs() {
  local kind=$1
  local -a verbs
  shift
  verbs=("$@")
  _describe command verbs
  [[ $kind == none ]] || _hamlet_values $kind
}

_hamlet() {
  local at="" word
  integer index=2
  while ((index < CURRENT)); do
    word=\${words[index]}
    case "$at $word" in
      ${paths.join(" | ")})
        at="$at $word"
        words[index]=()
        ((CURRENT--))
        ;;
      *) ((index++)) ;;
    esac
  done
  case "$at" in
${commands.map(toCase).join("\n")}
  esac
}

if [[ $funcstack[1] == _hamlet ]]; then _hamlet "$@"; else compdef _hamlet hamlet; fi
`
}

function toCase(command: DescribedCommand): string {
  const specs = ["_arguments -s", ...command.options.map(toOptionSpec), ...toArgumentSpecs(command)]
  return [
    `    "${["", ...command.path].join(" ")}")`,
    `      ${specs.join(" \\\n        ")}`,
    "      ;;",
  ].join("\n")
}

function toOptionSpec({ flags, description, values }: DescribedOption): string {
  const text = `[${toText(description)}]${values ? `:${(flags[0] ?? "").replace(/^-+/, "")}:${toAction(values)}` : ""}`
  return flags.length > 1
    ? `'(${flags.join(" ")})'{${flags.join(",")}}'${text}'`
    : `'${flags[0]}${text}'`
}

/** Where both a verb and a val are possible, both are offered. */
function toArgumentSpecs({ commands, arguments: values }: DescribedCommand): readonly string[] {
  const isGroup = commands.length > 0
  const verbs = commands.map(
    ({ name, summary }) => `"${name}:${toText(summary).replaceAll('"', "")}"`,
  )
  const rest = isGroup ? values.slice(1) : values
  return [
    ...(isGroup
      ? [`'1:command: _hamlet_verbs ${values[0]?.kind ?? "none"} ${verbs.join(" ")}'`]
      : []),
    ...rest.map(
      (one, index) =>
        `'${index === rest.length - 1 ? "*" : index + 1}:${one.kind}:${toAction(one)}'`,
    ),
  ]
}

function toAction({ choices, kind }: Values): string {
  if (choices.length > 0)
    return `(${choices.map((choice) => choice.replaceAll(":", "\\:")).join(" ")})`
  if (kind === "file") return "_files"
  if (kind === "folder") return "_files -/"
  // Without the space, zsh inserts its own options before our word.
  return kind === "none" ? " " : ` _hamlet_values ${kind}`
}

/** Escapes a description for zsh. */
function toText(text: string): string {
  return text.replaceAll("'", "’").replaceAll(/[:[\]]/g, "\\$&")
}
