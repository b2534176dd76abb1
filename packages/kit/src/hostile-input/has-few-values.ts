const [quote, backslash, comma, colon, bracket, brace] = [0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x7b]

/**
 * Whether a JSON text has at most `valuesMax` values, names included. The cost of parsing depends
 * on their number more than on the bytes. The result for invalid JSON is arbitrary.
 */
export function hasFewValues(json: Uint8Array, valuesMax: number): boolean {
  let values = 1
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) at = findEnd(json, at + 1)
    else if (byte === comma || byte === colon || byte === bracket || byte === brace) {
      values += 1
      if (values > valuesMax) return false
    }
  }
  return true
}

/** The index of the quote that ends the string. */
function findEnd(json: Uint8Array, from: number): number {
  for (let at = from; ; ) {
    const end = json.indexOf(quote, at)
    if (end < 0) return json.length
    let escapes = 0
    while (escapes < end - from && json[end - 1 - escapes] === backslash) escapes++
    if (escapes % 2 === 0) return end
    at = end + 1
  }
}
