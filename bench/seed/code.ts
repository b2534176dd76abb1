import { scramble } from "./random.ts"
import { fillers, nouns, verbs } from "./words.ts"

/** A stream of choices that depends on its seed only. */
class Choices {
  readonly #kind: number
  #next: number

  constructor(kind: number, index: number) {
    this.#kind = kind
    this.#next = index * 64
  }

  number(below: number): number {
    this.#next += 1
    return scramble(this.#kind, this.#next) % below
  }

  of(words: readonly string[]): string {
    return words[this.number(words.length)] ?? ""
  }
}

/** Code of a few hundred characters, different for every index. */
export function makeCode(
  index: number,
  name: string,
  importLines: readonly string[],
  extra: string,
): string {
  const choices = new Choices(1, index)
  const lines = [...importLines, `// ${sentence(choices, 8)}`, ...(extra === "" ? [] : [extra])]
  const count = 1 + choices.number(2)
  for (let part = 0; part < count; part++)
    lines.push((parts[choices.number(parts.length)] ?? fetcher)(choices))
  lines.push(
    `export default async function ${name}() {`,
    `  return ${choices.of(verbs)}${capital(choices.of(nouns))}(${literal(choices)})`,
    "}",
  )
  return `${lines.join("\n")}\n`
}

/** The change of a later save: a line at the end. */
export function reviseCode(code: string, index: number, version: number): string {
  const choices = new Choices(2, index * 8 + version)
  return `${code}\nexport const ${choices.of(nouns)}Limit = ${literal(choices)} // ${sentence(choices, 4)}\n`
}

/** A readme, which every third val has. */
export function makeReadme(index: number): string | null {
  const choices = new Choices(3, index)
  return index % 3 === 0
    ? `# ${sentence(choices, 3)}\n\n${sentence(choices, 12)}. ${sentence(choices, 9)}.`
    : null
}

/** A name that is unique among the vals of one owner if the number is. */
export function makeName(index: number, number: number): string {
  const choices = new Choices(4, index)
  return `${choices.of(verbs)}${capital(choices.of(nouns))}${number}`
}

/** Words as people write them in comments. */
export function makeSentence(index: number, length: number): string {
  return sentence(new Choices(5, index), length)
}

function sentence(choices: Choices, length: number): string {
  const words: string[] = []
  for (let position = 0; position < length; position++) {
    const word = choices.of(position % 3 === 1 ? nouns : fillers)
    words.push(word === "report" && words.at(-1) === "weather" ? "forecast" : word)
  }
  return words.join(" ")
}

function fetcher(choices: Choices): string {
  const noun = choices.of(nouns)
  return `export async function ${choices.of(verbs)}${capital(noun)}(id: string): Promise<Response> {
  const response = await fetch(\`https://${choices.of(fillers)}.example.com/${noun}/\${id}?key=${token(choices)}\`)
  if (!response.ok) throw new Error("Cannot ${choices.of(verbs)} ${noun}: " + response.status)
  return response
}`
}

function mapper(choices: Choices): string {
  const noun = choices.of(nouns)
  return `const ${noun}s = new Map<string, number>([["${token(choices)}", ${choices.number(10_000)}], ["${choices.of(fillers)}", ${choices.number(100)}]])
export const ${choices.of(verbs)}${capital(noun)}s = () =>
  [...${noun}s].filter(([, value]) => value > ${choices.number(50)}).map(([key, value]) => ({ key, value }))`
}

function page(choices: Choices): string {
  return `export const page = (title: string) => \`<!doctype html><html><head><title>\${title}</title></head>
<body class="${choices.of(fillers)}"><h1>${sentence(choices, 3)}</h1><p>${sentence(choices, 6)}</p></body></html>\``
}

function table(choices: Choices): string {
  const noun = choices.of(nouns)
  return `await sqlite.execute(\`create table if not exists ${noun}_${choices.number(1_000)} (id integer primary key, ${choices.of(nouns)} text, at text)\`)
const { rows } = await sqlite.execute({ sql: "select * from ${noun} where id > ? limit ${choices.number(500)}", args: [${choices.number(9_999)}] })`
}

const parts = [fetcher, mapper, page, table]

function literal(choices: Choices): string {
  return choices.number(2) === 0 ? String(choices.number(1_000_000)) : `"${token(choices)}"`
}

function token(choices: Choices): string {
  return choices.number(0xffffffff).toString(36) + choices.number(0xffffffff).toString(36)
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
