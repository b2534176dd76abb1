const spellings: Readonly<Record<string, string>> = { api: "API", id: "ID", url: "URL" }

/** An operation id as words: `listMyRuns` is "List my runs". */
export function toTitle(id: string): string {
  const words = id
    .replaceAll("_", " ")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(" ")
    .filter(Boolean)
  const spelled = words.map((word) => spellings[word.toLowerCase()] ?? word.toLowerCase()).join(" ")
  return spelled.charAt(0).toUpperCase() + spelled.slice(1)
}
