/**
 * Characters of code from the most to the least frequent. All others are rarer.
 */
const byFrequency = " etrnoaislcdupmfh()\n.,;=\"'{}gybvwx:/>[]_-+&k|?!<*$01#`2@%345678j9q\\~^z"

/** Three characters, and how rare they are together: 0 for three of the most frequent. */
export interface Trigram {
  readonly text: string
  readonly rarity: number
}

/** The least distance of two chosen trigrams: those that overlap narrow the result hardly more. */
const distance = 3

/**
 * Some trigrams of a text, spread over it, beginning with those that are likely to be rare. An index
 * scans the list of the rarest and looks the others up in it, so a few rare ones are faster than all
 * of them. `toFolded` converts a character to the form of the index.
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
