/** Characters of code, folded or not, from the most frequent to the least; what is not among them is rarer still. */
const byFrequency = " etrnoaislcdupmfh()\n.,;=\"'{}gybvwx:/>[]_-+&k|?!<*$01#`2@%345678j9q\\~^z"

/**
 * Some of a text's trigrams, the ones that are likely to be rare: an index walks the rarest and only looks the others up, so a few good ones
 * find the text faster than all of them. `toFolded` is how the index writes a character.
 */
export function rareTrigrams(folded: string, countMax: number, toFolded: (text: string) => string): readonly string[] {
  const rarity = new Map([...byFrequency].map((character, index) => [toFolded(character), index]))
  const rarityOf = (character: string) => rarity.get(character) ?? byFrequency.length
  const characters = [...folded]
  const trigrams = new Map<string, number>()
  for (let index = 0; index + 3 <= characters.length; index++) {
    const three = characters.slice(index, index + 3)
    trigrams.set(
      three.join(""),
      three.reduce((sum, character) => sum + rarityOf(character), 0),
    )
  }
  return [...trigrams]
    .sort(([, left], [, right]) => right - left)
    .slice(0, countMax)
    .map(([trigram]) => trigram)
}
