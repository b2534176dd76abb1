/**
 * Texts in their order: the one that has the longest beginning in common with another text is next to
 * where that would be, so the search for that place compares the two.
 */
export class SortedTexts {
  readonly #texts: string[] = []

  add(text: string): void {
    let [from, to] = [0, this.#texts.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#texts[middle] as string) < text) from = middle + 1
      else to = middle
    }
    this.#texts.splice(from, 0, text)
  }

  /**
   * How many units of the text, from there on and before `end`, are the beginning of an added text. It
   * takes no part of the text out: a text may ask at each of its units.
   */
  countCommon(text: string, start: number, end: number): number {
    let most = 0
    let from = 0
    let to = this.#texts.length
    while (from < to) {
      const middle = (from + to) >> 1
      const own = this.#texts[middle] as string
      const common = countCommon(own, text, start, end)
      if (common > most) most = common
      const isBefore =
        start + common < end && !(own.charCodeAt(common) > text.charCodeAt(start + common))
      if (isBefore) from = middle + 1
      else to = middle
    }
    return most
  }
}

function countCommon(own: string, text: string, start: number, end: number): number {
  const max = Math.min(own.length, end - start)
  let common = 0
  while (common < max && own.charCodeAt(common) === text.charCodeAt(start + common)) common++
  return common
}
