/** A text as one would like to read it: JSON with line breaks, anything else as it is. */
export function prettify(text: string, contentType: string): string {
  if (!/\bjson\b/i.test(contentType)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
