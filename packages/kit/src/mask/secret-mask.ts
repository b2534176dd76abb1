import { toOwnJson } from "../hostile-input/bounded.ts"
import { createTimeSlice } from "../turns/time-slice.ts"
import { PrefixAutomaton } from "./prefix-automaton.ts"
import { SortedTexts } from "./sorted-texts.ts"

const limits = {
  /** Shorter values are not masked: they occur everywhere, and masking them would garble texts. */
  valueCharsMin: 6,
  /**
   * Where this many characters of the start of a value occur, the match is masked as far as it
   * goes. This bounds memory, and masks long values that were truncated.
   */
  headCharsMax: 128,
}

/** Masks secret values in texts. */
export interface Mask {
  /** The masked values by name, for a thread that creates the same mask. */
  readonly values: ReadonlyMap<string, string>
  /**
   * Replaces each occurrence of a value by `[secret NAME]`. With `charsMax`, the text is truncated
   * there; a value that crosses that border is masked too.
   */
  hide(text: string, charsMax?: number): string
}

/** Masks nothing. */
export const noMask: Mask = {
  values: new Map(),
  hide: (text, charsMax = text.length) => text.slice(0, charsMax),
}

/**
 * Creates a mask for values given by name. Values are masked also in their usual escaped forms.
 * Overlapping matches are masked as one, under the name of the first. The time is linear in the
 * length of the text for any values. It prevents accidents, not a val that leaks its own secrets:
 * it can spell them backwards.
 *
 * In JSON, a value of digits is masked in numbers too, and one with quotes may span strings, so the
 * result is not always valid JSON.
 */
export async function createMask(values: ReadonlyMap<string, string>): Promise<Mask> {
  const pace = createTimeSlice()
  const heads = new PrefixAutomaton()
  const names: string[] = []
  const tails = new Map<number, SortedTexts>()
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
  // Most values need no escaping.
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
  return toOwnJson(text).slice(1, -1)
}

function addTail(tails: Map<number, SortedTexts>, head: number, text: string): void {
  const texts = tails.get(head) ?? new SortedTexts()
  tails.set(head, texts)
  texts.add(text.slice(limits.headCharsMax))
}

function hide(
  heads: PrefixAutomaton,
  names: readonly string[],
  tails: ReadonlyMap<number, SortedTexts>,
  text: string,
  charsMax: number,
): string {
  const spans = new Spans()
  // A value that starts before the border ends before this, or is long enough to match its head.
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

/** The disjoint ranges to mask, in order. They are added in the order of their ends. */
class Spans {
  readonly starts: number[] = []
  readonly ends: number[] = []
  readonly patterns: number[] = []

  /** A range replaces those that start after it, and extends one that it overlaps. */
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
