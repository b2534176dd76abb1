/**
 * Characters of code from the most frequent to the least; what is not among them is rarer still.
 */
const byFrequency = " etrnoaislcdupmfh()\n.,;=\"'{}gybvwx:/>[]_-+&k|?!<*$01#`2@%345678j9q\\~^z"

/** Three characters, and how rare they are together: 0 for three of the most frequent. */
export interface Trigram {
  readonly text: string
  readonly rarity: number
}

/** Trigrams that share a character say nearly the same. */
const distance = 3

/**
 * Some of a text's trigrams, spread over it, the ones first that are likely to be rare: an index
 * walks the rarest and only looks the others up, so a few good ones find the text faster than all
 * of them. `toFolded` is how the index writes a character.
 */
export function rareTrigrams(
  folded: string,
  countMax: number,
  toFolded: (text: string) => string,
): readonly Trigram[] {
  const rarity = new Map([...byFrequency].map((character, index) => [toFolded(character), index]))
  const characters = [...folded]
  const trigrams = characters.slice(2).map((_, at) => {
    const three = characters.slice(at, at + 3)
    return {
      at,
      text: three.join(""),
      rarity: three.reduce(
        (sum, character) => sum + (rarity.get(character) ?? byFrequency.length),
        0,
      ),
    }
  })
  const chosen: typeof trigrams = []
  for (const trigram of trigrams.sort((left, right) => right.rarity - left.rarity)) {
    const isApart = chosen.every(
      ({ at, text }) => Math.abs(at - trigram.at) >= distance && text !== trigram.text,
    )
    if (isApart && chosen.length < countMax) chosen.push(trigram)
  }
  return chosen
}
