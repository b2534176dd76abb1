import { PrefixAutomaton } from "../../shared/prefix-automaton.ts"
import { RadixTree } from "../../shared/radix-tree.ts"
import { createTimeSlice } from "../../shared/time-slice.ts"

const limits = {
  /**
   * Shorter values are not hidden: they occur everywhere, and hiding them would garble texts
   * without keeping anything secret.
   */
  valueCharsMin: 6,
  /**
   * As soon as so much of the beginning of a value stands somewhere, it is hidden as far as it
   * goes. It bounds the memory that values take, and hides a long value also where it was cut.
   */
  headCharsMax: 128,
}

/** Hides values that must not be shown. */
export interface Mask {
  /** What it hides, by name, for a thread that makes the same mask again. */
  readonly values: ReadonlyMap<string, string>
  /**
   * The text with each occurrence of a value replaced by `[secret NAME]`. With `charsMax`, only so
   * much of the text is looked at and given: what stands across that border is hidden too, so that
   * a text that is cut there shows no part of a value.
   */
  hide(text: string, charsMax?: number): string
}

/** Hides nothing. */
export const noMask: Mask = {
  values: new Map(),
  hide: (text, charsMax = text.length) => text.slice(0, charsMax),
}

/**
 * Makes a mask for values given by name. They are hidden also where they are escaped in a usual
 * way. What overlaps is hidden as one, under the name of what begins first. It takes time in
 * proportion to the text, whatever the values are. It helps against mishaps, not against a val that
 * wants to tell its own secrets: that one can spell them backwards.
 *
 * In JSON, a value of digits is hidden in numbers too, and one with quotes may span strings; what
 * comes out need not be JSON any more.
 */
export async function createMask(values: ReadonlyMap<string, string>): Promise<Mask> {
  const pace = createTimeSlice()
  const heads = new PrefixAutomaton()
  const names: string[] = []
  const tails = new Map<number, RadixTree>()
  for (const [name, value] of values) {
    if (value.length < limits.valueCharsMin) continue
    for (const text of toEscapedForms(value)) {
      const pattern = heads.add(text.slice(0, limits.headCharsMax))
      names[pattern] ??= name
      if (text.length > limits.headCharsMax) addTail(tails, pattern, text)
      await pace()
    }
  }
  if (names.length === 0) return { ...noMask, values }
  await heads.link(pace)
  return {
    values,
    hide: (text, charsMax = text.length) => hide(heads, names, tails, text, charsMax),
  }
}

/**
 * The forms in which a value may appear: as it is, in JSON, in JSON within JSON, and as `console`
 * prints strings, with the quotes that need the least escaping.
 */
function toEscapedForms(value: string): readonly string[] {
  const json = toJsonText(value)
  // Most values have nothing to escape.
  if (json === value && !/['`]/.test(value)) return [value]
  const printed = json.split('\\"').join('"')
  const forms = [
    value,
    json,
    toJsonText(json),
    printed,
    printed.split("'").join("\\'"),
    printed.split("`").join("\\`"),
  ]
  return [...new Set(forms)]
}

function toJsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function addTail(tails: Map<number, RadixTree>, head: number, text: string): void {
  const tree = tails.get(head) ?? new RadixTree()
  tails.set(head, tree)
  tree.add(text, limits.headCharsMax)
}

function hide(
  heads: PrefixAutomaton,
  names: readonly string[],
  tails: ReadonlyMap<number, RadixTree>,
  text: string,
  charsMax: number,
): string {
  const spans = new Spans()
  // What begins before the border ends before this, or is long enough to be known by its head.
  const end = Math.min(text.length, charsMax + limits.headCharsMax)
  heads.scan(text, end, (start, headEnd, pattern) => {
    const more = tails.get(pattern)?.countCommon(text, headEnd, end) ?? 0
    spans.add(start, headEnd + more, pattern)
    return headEnd + more
  })
  const parts: string[] = []
  let at = 0
  for (const [index, start] of spans.starts.entries()) {
    if (start >= charsMax) break
    parts.push(text.slice(at, start), `[secret ${names[spans.patterns[index] as number]}]`)
    at = spans.ends[index] as number
  }
  return at === 0
    ? text.slice(0, charsMax)
    : parts.join("") + text.slice(at, Math.max(at, charsMax))
}

/**
 * Where something is to be hidden, in order and apart from each other. It is added in the order of
 * the ends.
 */
class Spans {
  readonly starts: number[] = []
  readonly ends: number[] = []
  readonly patterns: number[] = []

  /** What begins before others takes their place, and what overlaps another continues it. */
  add(start: number, end: number, pattern: number): void {
    const { starts, ends, patterns } = this
    while (starts.length > 0 && (starts.at(-1) as number) >= start) {
      starts.pop()
      ends.pop()
      patterns.pop()
    }
    if (starts.length > 0 && (ends.at(-1) as number) > start) ends[ends.length - 1] = end
    else {
      starts.push(start)
      ends.push(end)
      patterns.push(pattern)
    }
  }
}
