/**
 * Things whose name begins with the text, then those in which a word does, then those that have its
 * letters in this order.
 */
export function rankCommands<Command extends { readonly label: string }>(
  commands: readonly Command[],
  text: string,
): readonly Command[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === "") return commands
  return commands
    .map((command) => ({ command, rank: rank(command.label.toLowerCase(), wanted) }))
    .filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank)
    .map(({ command }) => command)
}

function rank(label: string, wanted: string): number {
  if (label.startsWith(wanted)) return 3
  if (label.includes(` ${wanted}`)) return 2
  let at = -1
  for (const char of wanted) {
    at = label.indexOf(char, at + 1)
    if (at < 0) return 0
  }
  return 1
}
