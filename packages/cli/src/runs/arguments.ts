import { CliError } from "../cli-error.ts"

/** What stands on the command line in the place of standard input. */
const inputMark = "-"

/**
 * Arguments for a val from words: JSON where a word is JSON, `-` for what standard input has, else
 * the word itself. Words of the form `key=value` make one object together, in the place of the
 * first of them.
 */
export async function toArguments(
  words: readonly string[],
  readInput: () => Promise<string>,
): Promise<readonly unknown[]> {
  if (words.filter((word) => word === inputMark).length > 1)
    throw new CliError("usage", 'Cannot read standard input twice: there is more than one "-"')
  const args: unknown[] = []
  let fields: Record<string, unknown> | undefined
  for (const word of words) {
    const pair = /^([A-Za-z_$][\w$-]*)=(.*)$/s.exec(word)
    if (!pair) {
      args.push(word === inputMark ? toInputValue(await readInput()) : toValue(word))
      continue
    }
    if (!fields) {
      fields = {}
      args.push(fields)
    }
    // Not an assignment: `__proto__=1` is a field like others.
    Object.defineProperty(fields, pair[1] ?? "", {
      value: toValue(pair[2] ?? ""),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return args
}

/**
 * A word that begins like an object, a list or a text in JSON is meant to be one, so that a slip in
 * it is told and not passed on.
 */
function toValue(word: string): unknown {
  const value = parseJson(word)
  if (value !== undefined) return value
  if (/^[{["]/.test(word))
    throw new CliError("usage", `Cannot read the argument ${word.slice(0, 100)}: it is not JSON`)
  return word
}

function toInputValue(text: string): unknown {
  return parseJson(text) ?? text
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
