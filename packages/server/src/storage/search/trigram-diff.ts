/** The parts in which two texts differ, as an index of trigrams sees it. */
export interface ChangedPart {
  readonly before: string
  readonly after: string
}

const limits = {
  /**
   * When more than this goes, to look for where it stays may take longer than to index the whole
   * text.
   */
  goneCharsMax: 64,
}

/**
 * The least that an index of trigrams has to be told: taking out the trigrams of the one part and
 * putting in those of the other turns the trigrams of `before` into those of `after`. A trigram
 * that goes in one place and stays in another must not be taken out for good, so the parts reach as
 * far as the nearest place where it stays. What lies around the parts is the same in both texts, so
 * the number of trigrams, which an index may count, comes out right too. Both texts must be
 * well-formed.
 */
export function findChangedPart(before: string, after: string): ChangedPart {
  let { start, tail } = findEdges(before, after)
  const gone = before.slice(start, before.length - tail)
  if (gone.length > limits.goneCharsMax) return { before, after }
  for (const trigram of trigramsOf(gone)) {
    if (after.slice(start, after.length - tail).includes(trigram)) continue
    const place = findNearest(after, trigram, start, after.length - tail)
    if (place === undefined) continue
    start = Math.min(start, place)
    tail = Math.min(tail, after.length - place - trigram.length)
  }
  return {
    before: before.slice(start, before.length - tail),
    after: after.slice(start, after.length - tail),
  }
}

/**
 * How much both texts have in common before and after the change, less the two characters with
 * which a changed one makes trigrams.
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

/** Two characters before a place, or three if the place is inside of one. */
function twoBack(text: string, place: number): number {
  let at = place
  for (let count = isInside(text, at) ? 3 : 2; count > 0 && at > 0; count--)
    at -= isInside(text, at - 1) ? 2 : 1
  return at
}

function twoOn(text: string, place: number): number {
  let at = isInside(text, place) ? place + 1 : place
  for (let count = 2; count > 0 && at < text.length; count--) at += isInside(text, at + 1) ? 2 : 1
  return at
}

/** Whether a place is between the two halves of a character. */
function isInside(text: string, place: number): boolean {
  const unit = text.charCodeAt(place)
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
 * Where the trigram is that is nearest to the part of the text between `start` and `end`, in which
 * it is not.
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
