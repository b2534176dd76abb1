const colours = [
  "amber",
  "azure",
  "coral",
  "crimson",
  "emerald",
  "golden",
  "indigo",
  "ivory",
  "jade",
  "lilac",
  "maroon",
  "mint",
  "ochre",
  "olive",
  "pearl",
  "ruby",
  "sable",
  "scarlet",
  "silver",
  "teal",
  "umber",
  "violet",
]
const animals = [
  "Badger",
  "Beetle",
  "Bison",
  "Crane",
  "Dormouse",
  "Egret",
  "Falcon",
  "Gecko",
  "Heron",
  "Ibis",
  "Jackal",
  "Kestrel",
  "Lemur",
  "Marten",
  "Newt",
  "Otter",
  "Panther",
  "Quail",
  "Raven",
  "Salmon",
  "Toad",
  "Urchin",
  "Vole",
  "Walrus",
  "Yak",
  "Zebra",
]

/** A readable name for a val that was given none; the more attempts failed, the longer it gets. */
export function generateName(attempt: number, random: () => number = Math.random): string {
  const pick = (words: readonly string[]) => words[Math.floor(random() * words.length)] ?? ""
  const number = attempt === 0 ? "" : String(Math.floor(random() * 10 ** Math.min(attempt + 1, 9)))
  return `${pick(colours)}${pick(animals)}${number}`
}
