/** Sorts commands: names that start with the query, then words that do, then subsequences. */
export function rankCommands<Command extends { readonly label: string }>(
  commands: readonly Command[],
  text: string,
): readonly Command[] {
  const query = text.trim().toLowerCase()
  if (query === "") return commands
  return commands
    .map((command) => ({ command, rank: rank(command.label.toLowerCase(), query) }))
    .filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank)
    .map(({ command }) => command)
}

function rank(label: string, query: string): number {
  if (label.startsWith(query)) return 3
  if (label.includes(` ${query}`) || label.includes(`/${query}`)) return 2
  let at = -1
  for (const char of query) {
    at = label.indexOf(char, at + 1)
    if (at < 0) return 0
  }
  return 1
}
