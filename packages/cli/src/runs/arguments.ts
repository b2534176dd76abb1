import { CliError } from "../cli-error.ts"

/** The argument that stands for standard input. */
const inputMark = "-"

/**
 * Converts words to arguments of a val: JSON where a word is JSON, `-` for standard input, else the
 * word itself. Words of the form `key=value` form one object together, at the position of the
 * first.
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
    // Not an assignment: `__proto__=1` must become an ordinary field.
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
 * A word that starts like a JSON object, list or string must be valid JSON, so that typos are
 * reported.
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
