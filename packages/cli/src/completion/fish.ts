import type { DescribedCommand, Values } from "./describe.ts"

/** Generates a script for fish. */
export function toFish(commands: readonly DescribedCommand[]): string {
  return `# Completion of hamlet for fish: hamlet completion fish | source
function __hamlet_is
    set -l words (commandline -opc)[2..]
    set -l path
    for word in $words
        string match -q -- '-*' $word; and continue
        contains -- (string join ' ' $path $word) $__hamlet_paths; and set -a path $word
    end
    test "$path" = "$argv"
end

set -g __hamlet_paths ${commands
    .slice(1)
    .map(({ path }) => quote(path.join(" ")))
    .join(" ")}
complete -c hamlet -f
${commands.flatMap(toLines).join("\n")}
`
}

function toLines(command: DescribedCommand): readonly string[] {
  const when = `-n ${quote(`__hamlet_is ${quoteInner(command.path.join(" "))}`)}`
  const options = command.options.map(({ flags, description, values }) => {
    const names = flags.map((flag) =>
      flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
    )
    return `complete -c hamlet ${when} ${names.join(" ")} ${values ? toTaken(values) : ""} -d ${quote(description)}`
  })
  const subs = command.commands.map(
    ({ name, summary }) => `complete -c hamlet ${when} -a ${name} -d ${quote(summary)}`,
  )
  const args = command.arguments.map(toSource).filter((source) => source !== "")
  return [
    ...subs,
    ...options,
    ...[...new Set(args)].map((source) => `complete -c hamlet ${when} ${source}`),
  ]
}

/** fish offers files only after options that take one. */
function toTaken(values: Values): string {
  return values.kind === "file" ? "-r -F" : `-x ${toSource(values)}`
}

function toSource({ choices, kind }: Values): string {
  if (choices.length > 0) return `-a ${quote(choices.join(" "))}`
  if (kind === "file") return "-F"
  if (kind === "folder") return "-a '(__fish_complete_directories)'"
  return kind === "none"
    ? ""
    : `-a ${quote(`(hamlet __complete ${kind} (commandline -ct) 2>/dev/null)`)}`
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
}

function quoteInner(text: string): string {
  return text === "" ? '""' : `"${text}"`
}
