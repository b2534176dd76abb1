/** Parses the arguments of a run: an array is all of them, another value is the first. */
export function parseArgs(text: string): unknown[] {
  if (text.trim() === "") return []
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Error(
      `Cannot read the arguments: they are not JSON (${cause instanceof Error ? cause.message : cause})`,
      { cause },
    )
  }
  return Array.isArray(value) ? value : [value]
}
