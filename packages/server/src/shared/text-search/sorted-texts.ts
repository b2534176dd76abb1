/**
 * Texts in their order: the one that has the longest beginning in common with another text is next to
 * where that would be, which takes a few comparisons.
 */
export class SortedTexts {
  readonly #texts: string[] = []

  add(text: string): void {
    this.#texts.splice(this.#placeOf(text), 0, text)
  }

  /** How many units at the beginning of a text are the beginning of an added one. */
  countCommon(text: string): number {
    const place = this.#placeOf(text)
    const neighbours = this.#texts.slice(Math.max(0, place - 1), place + 1)
    return Math.max(...neighbours.map((neighbour) => countCommon(neighbour, text)))
  }

  #placeOf(text: string): number {
    let [from, to] = [0, this.#texts.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#texts[middle] as string) < text) from = middle + 1
      else to = middle
    }
    return from
  }
}

function countCommon(one: string, other: string): number {
  const max = Math.min(one.length, other.length)
  let common = 0
  while (common < max && one.charCodeAt(common) === other.charCodeAt(common)) common++
  return common
}
