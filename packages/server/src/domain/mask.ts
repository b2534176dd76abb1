const limits = {
  /** Shorter values are not hidden: they occur everywhere, and hiding them would garble texts without keeping anything secret. */
  valueCharsMin: 6,
  /**
   * As soon as so much of the beginning of a value stands somewhere, it is hidden as far as it goes. It bounds the work at every place
   * of a text, whatever values somebody chooses, and hides a long value also where it was cut.
   */
  headCharsMax: 128,
}

/** One way in which a value may be written. */
interface Pattern {
  readonly text: string
  readonly name: string
}

interface Found {
  readonly name: string
  readonly chars: number
}

/**
 * Hides values that must not be shown, given by name: each occurrence becomes `[secret NAME]`, also where it is escaped in a usual way. Of
 * values that begin at the same place the longest is hidden. It takes time in proportion to the text, however many values there are. It
 * helps against mishaps, not against a val that wants to tell its own secrets: that one can spell them backwards.
 *
 * In JSON, a value of digits is hidden in numbers too, and one with quotes may span strings; what comes out need not be JSON any more.
 */
export function createMask(values: ReadonlyMap<string, string>): (text: string) => string {
  const patterns = toPatterns(values)
  if (patterns.length === 0) return (text) => text
  const beginnings = toBeginnings(patterns)
  return (text) => {
    let masked = ""
    let shown = 0
    for (let at = 0; at + limits.valueCharsMin <= text.length; ) {
      const found = mayBegin(beginnings, text, at) ? findPattern(patterns, text, at) : undefined
      if (!found) {
        at += 1
        continue
      }
      masked += `${text.slice(shown, at)}[secret ${found.name}]`
      at += found.chars
      shown = at
    }
    return shown === 0 ? text : masked + text.slice(shown)
  }
}

/** In the order of their code units, each text once, so that those with a common beginning stand together and the shortest comes first. */
function toPatterns(values: ReadonlyMap<string, string>): readonly Pattern[] {
  const names = new Map<string, string>()
  for (const [name, value] of values) {
    if (value.length < limits.valueCharsMin) continue
    for (const text of toWritings(value)) if (!names.has(text)) names.set(text, name)
  }
  const patterns = Array.from(names, ([text, name]) => ({ text, name }))
  return patterns.sort((left, right) => (left.text < right.text ? -1 : 1))
}

/** As it is, as in JSON, as in JSON within JSON, and as `console` shows strings, which takes the quotes that need the least escaping. */
function toWritings(value: string): readonly string[] {
  const json = toJsonText(value)
  const shown = json.replaceAll('\\"', '"')
  return [value, json, toJsonText(json), shown, shown.replaceAll("'", "\\'"), shown.replaceAll("`", "\\`")]
}

function toJsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** For each low byte of a character, as bits, whether it is the first, second or third of some pattern. */
function toBeginnings(patterns: readonly Pattern[]): Uint8Array {
  const beginnings = new Uint8Array(256)
  for (const { text } of patterns) {
    for (const [index, bit] of [1, 2, 4].entries()) {
      const byte = text.charCodeAt(index) & 0xff
      beginnings[byte] = (beginnings[byte] ?? 0) | bit
    }
  }
  return beginnings
}

/** Tells at a glance that nothing begins there, which is so nearly everywhere. */
function mayBegin(beginnings: Uint8Array, text: string, at: number): boolean {
  const has = (index: number, bit: number) => ((beginnings[text.charCodeAt(at + index) & 0xff] ?? 0) & bit) !== 0
  return has(0, 1) && has(1, 2) && has(2, 4)
}

/** The longest pattern that stands there. The patterns that agree so far are always neighbours: from `low` up to, but not with, `high`. */
function findPattern(patterns: readonly Pattern[], text: string, at: number): Found | undefined {
  let low = 0
  let high = patterns.length
  let found: Found | undefined
  for (let depth = 0; ; depth++) {
    const { text: shortest, name } = patterns[low] as Pattern
    if (shortest.length === depth) {
      found = { name, chars: depth }
      low += 1
      if (low === high) return found
    } else if (depth >= limits.headCharsMax) found = { name, chars: depth }
    if (at + depth >= text.length) return found
    const unit = text.charCodeAt(at + depth)
    // When the first and the last of them agree here, so do all between.
    if (unitOf(patterns, low, depth) === unit && unitOf(patterns, high - 1, depth) === unit) continue
    low = firstFrom(patterns, low, high, depth, unit)
    high = firstFrom(patterns, low, high, depth, unit + 1)
    if (low === high) return found
  }
}

function unitOf(patterns: readonly Pattern[], index: number, depth: number): number {
  return (patterns[index] as Pattern).text.charCodeAt(depth)
}

/** The first pattern, from `low` on, whose unit at the depth is at least that one. */
function firstFrom(patterns: readonly Pattern[], low: number, high: number, depth: number, unit: number): number {
  let [first, end] = [low, high]
  while (first < end) {
    const middle = (first + end) >>> 1
    if (unitOf(patterns, middle, depth) < unit) first = middle + 1
    else end = middle
  }
  return first
}
