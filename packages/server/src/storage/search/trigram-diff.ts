/** The parts in which two texts differ, for a trigram index. */
export interface ChangedPart {
  readonly before: string
  readonly after: string
}

const limits = {
  /**
   * When more characters than this are removed, finding the trigrams that remain elsewhere may take
   * longer than indexing the whole text.
   */
  goneCharsMax: 64,
}

/**
 * The smallest update of a trigram index: removing the trigrams of the one part and adding those of
 * the other turns the trigrams of `before` into those of `after`. A trigram that is removed at one
 * position and remains at another must stay in the index, so the parts extend to the nearest
 * position where it remains. The text around the parts is the same in both, so the number of
 * trigrams, which an index may count, is right too. Both texts must be well-formed.
 */
export function findChangedPart(before: string, after: string): ChangedPart {
  let { start, tail } = findEdges(before, after)
  const gone = before.slice(start, before.length - tail)
  if (gone.length > limits.goneCharsMax) return { before, after }
  for (const trigram of trigramsOf(gone)) {
    if (after.slice(start, after.length - tail).includes(trigram)) continue
    const position = findNearest(after, trigram, start, after.length - tail)
    if (position === undefined) continue
    start = Math.min(start, position)
    tail = Math.min(tail, after.length - position - trigram.length)
  }
  return {
    before: before.slice(start, before.length - tail),
    after: after.slice(start, after.length - tail),
  }
}

/**
 * The lengths of the common beginning and end of both texts, each without the two characters that
 * share a trigram with the change.
 */
function findEdges(
  before: string,
  after: string,
): { readonly start: number; readonly tail: number } {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before.charCodeAt(head) === after.charCodeAt(head)) head += 1
  let tail = 0
  while (
    tail < shorter - head &&
    before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  )
    tail += 1
  return { start: twoBack(before, head), tail: before.length - twoOn(before, before.length - tail) }
}

/** Two characters before a position, or three if it is inside a character. */
function twoBack(text: string, position: number): number {
  let at = position
  for (let count = isInside(text, at) ? 3 : 2; count > 0 && at > 0; count--)
    at -= isInside(text, at - 1) ? 2 : 1
  return at
}

function twoOn(text: string, position: number): number {
  let at = isInside(text, position) ? position + 1 : position
  for (let count = 2; count > 0 && at < text.length; count--) at += isInside(text, at + 1) ? 2 : 1
  return at
}

/** Whether a position is between the two surrogates of a character. */
function isInside(text: string, position: number): boolean {
  const unit = text.charCodeAt(position)
  return unit >= 0xdc00 && unit <= 0xdfff
}

function trigramsOf(text: string): ReadonlySet<string> {
  const characters = [...text]
  return new Set(
    characters
      .slice(2)
      .map((character, index) => `${characters[index]}${characters[index + 1]}${character}`),
  )
}

/**
 * The position of the trigram that is nearest to the part between `start` and `end`, which does not
 * contain it.
 */
function findNearest(
  text: string,
  trigram: string,
  start: number,
  end: number,
): number | undefined {
  const left = text.lastIndexOf(trigram, start)
  const right = text.indexOf(trigram, Math.max(start, end - trigram.length))
  if (left < 0 || right < 0) return left < 0 && right < 0 ? undefined : Math.max(left, right)
  return start - left <= right + trigram.length - end ? left : right
}
