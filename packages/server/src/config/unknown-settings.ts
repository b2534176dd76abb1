import type { Environment } from "./config.ts"
import { options } from "./options.ts"

/** A variable that looks like a setting and is none. */
export interface UnknownSetting {
  readonly env: string
  /** The setting that was probably meant. */
  readonly nearest: string | undefined
}

/** Variables of the command line, of the files in deploy/, and of tests and benchmarks. */
const others =
  /^HAMLET_(?:URL|SESSION|CONFIG_DIR|DOMAIN|NODES|(?:TEST|BENCH|CHAOS|FUZZ|MODEL|FREEZE|NEXT|SERVICE|PORT)_\w+|CHAOS)$/

const limits = {
  /** Names that are compared: an environment may have any number of variables. */
  namesMax: 20,
  nameCharsMax: 100,
  /** Which part of a name may be wrong: two letters that change places are two of four. */
  wrongShareMax: 0.5,
}

/**
 * The variables that begin like settings and are none: a misspelt setting would otherwise have no
 * effect, and nothing would say so.
 */
export function findUnknownSettings(env: Environment): readonly UnknownSetting[] {
  const known = options.map((option) => option.env)
  return Object.keys(env)
    .filter((name) => name.startsWith("HAMLET_") && !known.includes(name) && !others.test(name))
    .slice(0, limits.namesMax)
    .map((name) => name.slice(0, limits.nameCharsMax))
    .map((name) => ({ env: name, nearest: findNearest(name, known) }))
}

/** The warning for the operator. */
export function toWarning({ env, nearest }: UnknownSetting): string {
  const advice = nearest === undefined ? "" : `; did you mean ${nearest}?`
  return `${env} is no setting, and has no effect${advice}`
}

function findNearest(name: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((other) => ({ other, edits: countEdits(toOwnPart(name), toOwnPart(other)) }))
    .sort((one, two) => one.edits - two.edits)
  const isNear = nearest && nearest.edits <= toOwnPart(name).length * limits.wrongShareMax
  return isNear ? nearest.other : undefined
}

function toOwnPart(env: string): string {
  return env.slice("HAMLET_".length)
}

/** How many characters must be inserted, removed or replaced to turn one text into the other. */
function countEdits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [index, char] of [...one].entries()) {
    const next = [index + 1]
    for (let at = 0; at < other.length; at++) {
      const replaced = (row[at] ?? 0) + (char === other[at] ? 0 : 1)
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
