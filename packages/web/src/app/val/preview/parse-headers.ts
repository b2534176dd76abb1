/** Parses headers, one `name: value` per line. */
export function parseHeaders(text: string): [string, string][] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const colon = line.indexOf(":")
      if (colon < 1)
        throw new Error(`Cannot read the header "${line}": it is not of the form "name: value"`)
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    })
}
