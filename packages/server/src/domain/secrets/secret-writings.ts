/**
 * The ways in which a value may be written: as it is, as in JSON, as in JSON within JSON, and as
 * `console` shows strings, which takes the quotes that need the least escaping.
 */
export function toWritings(value: string): readonly string[] {
  const json = toJsonText(value)
  // Most values have nothing to escape.
  if (json === value && !/['`]/.test(value)) return [value]
  const shown = json.split('\\"').join('"')
  const writings = [
    value,
    json,
    toJsonText(json),
    shown,
    shown.split("'").join("\\'"),
    shown.split("`").join("\\`"),
  ]
  return [...new Set(writings)]
}

function toJsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
